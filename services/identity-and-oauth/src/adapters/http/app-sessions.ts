import { form, html, redirect, withDetails } from '@bubbles/http/routes/content.ts';
import type { Guard } from '@bubbles/http/routes/guard.ts';
import { cookie, seeOther } from '@bubbles/http/routes/reply.ts';
import { route } from '@bubbles/http/routes/route.ts';
import { z } from 'zod';
import type { App } from '../../app.ts';
import { formToken } from '../../domain/form-token.ts';
import { checkFormToken, ownForm } from './own-form.ts';
import { homePage } from './pages/home.ts';
import { sessionsPage } from './pages/sessions.ts';
import { APP_PAGE, type SignedIn, sessionCookieName } from './signed-in.ts';

const PATH = '/app/sessions';
/** In place of the id of one session. */
const ALL = 'all';
const SignOut = z.object({ session: z.string().default(''), token: z.string().default('') });
const NOTICES: ReadonlyMap<string, string> = new Map([['ended', 'The session was signed out.']]);

const aboutSigningOut = (session: string): readonly string[] => ['sign out', session];

const showHome = (signedIn: Guard<SignedIn>) =>
  route(
    {
      ...APP_PAGE,
      method: 'GET',
      path: '/app/',
      operationId: 'showHome',
      summary: 'The first page of the app',
      guard: signedIn,
      answers: { 200: html },
    },
    ({ account, sessionId, sessionToken }) =>
      Promise.resolve(homePage(account, { session: sessionId, token: formToken(sessionToken, aboutSigningOut(sessionId)) })),
  );

const showSessions = (app: App, signedIn: Guard<SignedIn>) =>
  route(
    {
      ...APP_PAGE,
      method: 'GET',
      path: PATH,
      operationId: 'showSessions',
      summary: 'The page of the sessions',
      guard: signedIn,
      query: z.object({ done: z.string().optional() }),
      answers: { 200: html },
    },
    async ({ account, sessionId, sessionToken, query }) => {
      const tokenFor = (session: string) => formToken(sessionToken, aboutSigningOut(session));
      const forms = { currentId: sessionId, tokenFor, tokenForAll: tokenFor(ALL) };
      return sessionsPage(await app.listSessions(account), forms, NOTICES.get(query.done ?? '') ?? null);
    },
  );

const signOut = (app: App, signedIn: Guard<SignedIn>, publicBaseUrl: string) => {
  const name = sessionCookieName(publicBaseUrl);
  const forgotten = cookie(name, '', { maxAgeSeconds: 0, secure: publicBaseUrl.startsWith('https:') });
  return route(
    {
      ...APP_PAGE,
      method: 'POST',
      path: PATH,
      operationId: 'sendSignOutForm',
      summary: 'Sign out one session or all of them',
      guard: ownForm(signedIn),
      body: form(SignOut),
      answers: { 303: withDetails(redirect, { cookies: { [name]: 'Nobody is signed in' } }) },
      errors: ['not_found'],
    },
    async ({ account, sessionId, sessionToken, body }) => {
      checkFormToken(body.token, sessionToken, aboutSigningOut(body.session));
      if (body.session === ALL) await app.endAllSessions(account);
      else await app.endOwnSession({ owner: account, sessionId: body.session });
      const isThisOne = body.session === ALL || body.session === sessionId;
      return isThisOne ? seeOther('/app/sign-in', { cookies: [forgotten] }) : seeOther(`${PATH}?done=ended`);
    },
  );
};

export const sessionPages = (app: App, signedIn: Guard<SignedIn>, publicBaseUrl: string) => [
  showHome(signedIn),
  showSessions(app, signedIn),
  signOut(app, signedIn, publicBaseUrl),
];
