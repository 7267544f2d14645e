import { form, html, redirect } from '@bubbles/http/routes/content.ts';
import type { Guard } from '@bubbles/http/routes/guard.ts';
import { seeOther } from '@bubbles/http/routes/reply.ts';
import { route } from '@bubbles/http/routes/route.ts';
import { z } from 'zod';
import type { App } from '../../app.ts';
import { formToken } from '../../domain/form-token.ts';
import { checkFormToken, ownForm } from './own-form.ts';
import { connectedAppsPage, disconnectPage } from './pages/connected-apps.ts';
import { APP_PAGE, type SignedIn } from './signed-in.ts';

const PATH = '/app/connected-apps';
const OfClient = z.object({ client: z.string() });
const Confirmed = z.object({ token: z.string().default('') });
const NOTICES: ReadonlyMap<string, string> = new Map([['disconnected', 'The app was disconnected.']]);

const aboutDisconnecting = (clientId: string): readonly string[] => ['disconnect app', clientId];

const showApps = (app: App, signedIn: Guard<SignedIn>) =>
  route(
    {
      ...APP_PAGE,
      method: 'GET',
      path: PATH,
      operationId: 'showConnectedApps',
      summary: 'The page of the connected apps',
      guard: signedIn,
      query: z.object({ done: z.string().optional(), after: z.string().optional() }),
      answers: { 200: html },
    },
    async ({ account, query }) =>
      connectedAppsPage(await app.listConnectedApps({ owner: account, after: query.after ?? null }), NOTICES.get(query.done ?? '') ?? null),
  );

const askToDisconnect = (app: App, signedIn: Guard<SignedIn>) =>
  route(
    {
      ...APP_PAGE,
      method: 'GET',
      path: `${PATH}/disconnect`,
      operationId: 'askToDisconnectApp',
      summary: 'Ask whether to disconnect an app',
      guard: signedIn,
      query: OfClient,
      answers: { 200: html },
      errors: ['not_found'],
    },
    async ({ account, sessionToken, query }) => {
      const connected = await app.getConnectedApp({ owner: account, clientId: query.client });
      return disconnectPage(connected, formToken(sessionToken, aboutDisconnecting(query.client)));
    },
  );

const disconnect = (app: App, signedIn: Guard<SignedIn>) =>
  route(
    {
      ...APP_PAGE,
      method: 'POST',
      path: `${PATH}/disconnect`,
      operationId: 'sendDisconnectForm',
      summary: 'Disconnect an app',
      guard: ownForm(signedIn),
      query: OfClient,
      body: form(Confirmed),
      answers: { 303: redirect },
    },
    async ({ account, sessionToken, query, body }) => {
      checkFormToken(body.token, sessionToken, aboutDisconnecting(query.client));
      await app.disconnectApp({ owner: account, clientId: query.client });
      return seeOther(`${PATH}?done=disconnected`);
    },
  );

export const connectedAppPages = (app: App, signedIn: Guard<SignedIn>) => [
  showApps(app, signedIn),
  askToDisconnect(app, signedIn),
  disconnect(app, signedIn),
];
