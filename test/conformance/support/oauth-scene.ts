import { createFormBrowser, type Filled, type FormBrowser, type Page } from '../../support/form-browser.ts';
import { drawPkce, followAuthorization } from '../../support/oauth-user.ts';
import { type Answer, send } from './client.ts';
import type { Person, World } from './world.ts';

type Fields = Readonly<Record<string, string>>;
/** Where the product answers. */
type Site = Pick<World, 'baseUrl'>;

export const SCOPES = ['bubbles:read', 'webhooks:manage', 'meetings:join'] as const;
export const CALLBACK = 'http://127.0.0.1:9/callback';

/** An app as its registration was answered. */
export interface RegisteredApp {
  readonly client_id: string;
  readonly client_secret?: string;
  readonly redirect_uris: readonly string[];
}

export interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly scope: string;
}

/** A code that has come back to the app, with all it takes to exchange it. */
export interface ComeBack {
  readonly app: RegisteredApp;
  readonly code: string;
  readonly verifier: string;
}

/** The browser of somebody who is signed in already. */
export const browserOf = ({ baseUrl }: Site, { session_token: token }: Pick<Person, 'session_token'>): FormBrowser =>
  createFormBrowser({ cookies: { [baseUrl.startsWith('https:') ? '__Host-session' : 'session']: token } });

/** A form-encoded POST to an OAuth endpoint. */
export const post = (world: Site, path: string, fields: Fields | URLSearchParams, headers: Fields = {}): Promise<Answer> =>
  send(world.baseUrl, path, {
    method: 'POST',
    body: new URLSearchParams(fields).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
  });

export const register = async (world: Site, fields: object = {}): Promise<RegisteredApp> => {
  const body = { client_name: 'An app', redirect_uris: [CALLBACK], token_endpoint_auth_method: 'none', ...fields };
  const answer = await send(world.baseUrl, '/oauth/register', { method: 'POST', body });
  if (answer.status !== 201) throw new Error(`not registered: ${answer.status} ${answer.text}`);
  return answer.json;
};

/** Where an app sends the browser. A parameter that is empty is left out. */
export const authorizationUrl = ({ baseUrl }: Site, app: RegisteredApp, fields: Fields = {}): URL => {
  const url = new URL('/oauth/authorize', baseUrl);
  const all = {
    response_type: 'code',
    client_id: app.client_id,
    redirect_uri: app.redirect_uris[0] ?? '',
    scope: SCOPES.join(' '),
    state: 'state of the app',
    code_challenge_method: 'S256',
    ...fields,
  };
  for (const [name, value] of Object.entries(all)) if (value !== '') url.searchParams.set(name, value);
  return url;
};

export const ALLOW: Filled = { press: 'allow' };
export const DENY: Filled = { press: 'deny' };

const isConsent = ({ forms }: Page): boolean => forms.some(({ fields }) => fields.some(({ value }) => value === ALLOW.press));

/** The address that the app gets the browser back at. */
export const consent = (browser: FormBrowser, url: URL, answer: Filled = ALLOW): Promise<URL> =>
  followAuthorization(browser, url, (page) => (isConsent(page) ? answer : null));

/** A code for this app, by a user who is signed in. */
export const comeBack = async (
  world: Site,
  person: Pick<Person, 'session_token'>,
  app: RegisteredApp,
  answer: Filled = ALLOW,
): Promise<ComeBack> => {
  const { verifier, challenge } = drawPkce();
  const back = await consent(browserOf(world, person), authorizationUrl(world, app, { code_challenge: challenge }), answer);
  const code = back.searchParams.get('code');
  if (code === null) throw new Error(`no code: ${back}`);
  return { app, code, verifier };
};

export const exchange = (world: Site, { app, code, verifier }: ComeBack, fields: Fields = {}): Promise<Answer> =>
  post(world, '/oauth/token', {
    grant_type: 'authorization_code',
    code,
    redirect_uri: app.redirect_uris[0] ?? '',
    client_id: app.client_id,
    code_verifier: verifier,
    ...fields,
  });

export const refresh = (world: Site, app: RegisteredApp, token: string, fields: Fields = {}): Promise<Answer> =>
  post(world, '/oauth/token', { grant_type: 'refresh_token', refresh_token: token, client_id: app.client_id, ...fields });

export const revoke = (world: Site, app: RegisteredApp, token: string, fields: Fields = {}): Promise<Answer> =>
  post(world, '/oauth/revoke', { token, client_id: app.client_id, ...fields });

/** The whole way of a user who is signed in and an app. */
export const authorize = async (
  world: Site,
  person: Pick<Person, 'session_token'>,
  app: RegisteredApp,
  answer: Filled = ALLOW,
): Promise<Tokens> => {
  const answered = await exchange(world, await comeBack(world, person, app, answer));
  if (answered.status !== 200) throw new Error(`no tokens: ${answered.status} ${answered.text}`);
  return answered.json;
};

/** What the access token is worth. */
export const statusOf = async (world: Site, token: string, path = '/v1/me'): Promise<number> =>
  (await send(world.baseUrl, path, { as: token })).status;
