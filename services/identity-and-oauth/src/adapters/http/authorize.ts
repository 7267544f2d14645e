import { anyone } from '@bubbles/auth/guards.ts';
import { everyParameter, form, html, redirect, withDetails } from '@bubbles/http/routes/content.ts';
import { cookie, reply, seeOther } from '@bubbles/http/routes/reply.ts';
import { route } from '@bubbles/http/routes/route.ts';
import { networkOf, siteOf } from '@bubbles/http/wire/connections.ts';
import { z } from 'zod';
import type { App } from '../../app.ts';
import { REQUEST_SECONDS } from '../../domain/authorization.ts';
import { ownForm } from './own-form.ts';
import { consentPage } from './pages/consent.ts';
import { signedInGuard, signedInOrClosedGuard } from './signed-in.ts';

/** The cookie of one request: its path is that of the request's page. A browser keeps `__Secure-` cookies from plain http. */
const COOKIES = { '__Secure-authorization': 'Ties the request to the browser', authorization: 'The same on plain http' };
type CookieName = keyof typeof COOKIES;

const pathOf = (requestId: string): string => `/oauth/interaction/${requestId}`;

/** RFC 6749, 4.1.1, with RFC 7636 and RFC 8707. */
const AuthorizationRequest = z.object({
  response_type: z.literal('code'),
  client_id: z.string(),
  redirect_uri: z.string().meta({ description: 'One that the client has registered, character by character; on loopback any port' }),
  code_challenge: z.string().meta({ description: 'Base64url of the SHA-256 of the code verifier (RFC 7636)' }),
  code_challenge_method: z.literal('S256'),
  scope: z.string().optional().meta({ description: 'With blanks between the scopes; without it all that the client may ask for' }),
  state: z.string().optional().meta({ description: 'Comes back to the app as it was sent' }),
  resource: z.string().optional().meta({ description: 'The base URL of this API (RFC 8707), also with `/v1` or `/mcp`' }),
});

const authorize = (app: App, { secure, cookieName }: { readonly secure: boolean; readonly cookieName: CookieName }) =>
  route(
    {
      method: 'GET',
      path: '/oauth/authorize',
      operationId: 'authorizeOAuthClient',
      summary: 'Ask the user for consent (RFC 6749, 4.1)',
      description:
        'For browsers. The user signs in or up and allows or denies; the browser then goes to the redirect URI with `code` or `error`, and with `state` and `iss`. When client or redirect URI is not known the answer is a page.',
      tag: 'OAuth',
      guard: anyone,
      query: everyParameter(AuthorizationRequest),
      answers: {
        303: withDetails(redirect, { description: 'On to the consent page, or back to the app with an error.', cookies: COOKIES }),
      },
      errors: ['invalid', 'rate_limited'],
      errorFormat: 'page',
    },
    async ({ query, clientAddress }) => {
      const address = clientAddress();
      const started = await app.startAuthorization({ parameters: query, from: networkOf(address), site: siteOf(address) });
      if (started.outcome === 'refused') return seeOther(started.location);
      const path = pathOf(started.requestId);
      return seeOther(path, { cookies: [cookie(cookieName, started.secret, { maxAgeSeconds: REQUEST_SECONDS, path, secure })] });
    },
  );

const ByRequest = z.object({ uid: z.string() });
const Answer = z.object({
  token: z.string().default(''),
  decision: z.enum(['allow', 'deny']),
  scope: z.array(z.string()).default([]),
});

const consent = (app: App, cookieName: CookieName) => [
  route(
    {
      method: 'GET',
      path: '/oauth/interaction/{uid}',
      operationId: 'showConsent',
      summary: 'Show what an app asks for',
      tag: 'OAuth',
      guard: signedInGuard(app),
      params: ByRequest,
      answers: { 200: html },
      errorFormat: 'page',
      documented: false,
    },
    async ({ account, params, cookie: sent }) =>
      consentPage(await app.showConsent({ requestId: params.uid, secret: sent(cookieName), account })),
  ),
  route(
    {
      method: 'POST',
      path: '/oauth/interaction/{uid}',
      operationId: 'answerConsent',
      summary: 'Answer what an app asks for',
      tag: 'OAuth',
      guard: ownForm(signedInOrClosedGuard(app)),
      params: ByRequest,
      body: form(Answer),
      bodyLimitBytes: 32 * 1024,
      answers: { 303: redirect, 400: html },
      errorFormat: 'page',
      documented: false,
    },
    async ({ account, params, body, cookie: sent }) => {
      const visit = { requestId: params.uid, secret: sent(cookieName), account };
      const answered = await app.answerConsent({ ...visit, token: body.token, allowed: body.decision === 'allow', ticked: body.scope });
      if (answered.outcome === 'answered') return seeOther(answered.location);
      return reply(400, consentPage(answered.question, 'Nothing is ticked. Tick what the app may do, or deny.'));
    },
  ),
];

export const authorizationRoutes = (app: App, publicBaseUrl: string) => {
  const secure = publicBaseUrl.startsWith('https:');
  const cookieName = secure ? '__Secure-authorization' : 'authorization';
  return [authorize(app, { secure, cookieName }), ...consent(app, cookieName)];
};
