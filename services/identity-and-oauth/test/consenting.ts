import { createHash } from 'node:crypto';
import type { Person, TestIdentity } from './identity.ts';
import { VERIFIER } from './oauth.ts';

export const REDIRECT_URI = 'https://app.test/cb';
const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url');

/** Parameters of `/oauth/authorize`. */
export type Fields = Readonly<Record<string, string | undefined>>;

/** What a client sends to `/oauth/authorize`; undefined leaves a parameter out. */
export const authorizeUrl = (fields: Fields): string => {
  const all = {
    response_type: 'code',
    redirect_uri: REDIRECT_URI,
    state: STATE,
    code_challenge: CHALLENGE,
    code_challenge_method: 'S256',
    ...fields,
  };
  const sent = Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
  return `/oauth/authorize?${new URLSearchParams(sent)}`;
};

export const STATE = 'a b+c/ä=&?';

/** Registers a public client; answers its id. */
export const register = async (identity: TestIdentity, fields: object = {}): Promise<string> => {
  const metadata = { client_name: 'Notes', redirect_uris: [REDIRECT_URI], token_endpoint_auth_method: 'none', ...fields };
  return (await identity.as(null)('POST', '/oauth/register', metadata)).body.client_id;
};

/** How many there are. */
export const granted = async ({ database }: TestIdentity) => ({
  grants: await database.collection('oauth_grants').count({}),
  codes: await database.collection('oauth_codes').count({}),
});

/** A browser in which somebody is signed in; null for nobody. It keeps the cookies of requests, each for its path. */
export const aBrowser = (identity: TestIdentity, person: Pick<Person, 'session'> | null) => {
  const cookies = new Map<string, string>();
  const headersOf = (path: string, headers: Readonly<Record<string, string>> = {}) => {
    const session = person === null ? [] : [`__Host-session=${person.session}`];
    return { cookie: [...session, ...(cookies.has(path) ? [cookies.get(path) ?? ''] : [])].join('; '), ...headers };
  };
  const get = async (path: string) => {
    const response = await identity.fetch(path, { headers: headersOf(path) });
    for (const line of response.headers.getSetCookie()) cookies.set(/Path=([^;]+)/.exec(line)?.[1] ?? '', line.split(';', 1)[0] ?? '');
    return response;
  };
  const post = (path: string, fields: readonly (readonly [string, string])[], headers?: Readonly<Record<string, string>>) =>
    identity.fetch(path, {
      method: 'POST',
      headers: headersOf(path, { 'content-type': 'application/x-www-form-urlencoded', ...headers }),
      body: new URLSearchParams(fields.map(([name, value]) => [name, value])).toString(),
    });
  return {
    get,
    post,
    cookies,
    /** From the client's question to the page of its request. */
    ask: async (clientId: string, fields: Fields = {}) => {
      const response = await get(authorizeUrl({ client_id: clientId, ...fields }));
      const path = response.headers.get('location') ?? '';
      const page = await (await get(path)).text();
      const token = /name="token" value="([^"]*)"/.exec(page)?.[1] ?? '';
      const ticked = [...page.matchAll(/name="scope" value="([^"]*)" checked/g)].map(([, scope = '']) => scope);
      return { path, page, token, ticked };
    },
    answer: (
      { path, token, ticked }: { readonly path: string; readonly token: string; readonly ticked: readonly string[] },
      decision: 'allow' | 'deny' = 'allow',
      headers?: Readonly<Record<string, string>>,
    ) => post(path, [['token', token], ['decision', decision], ...ticked.map((scope) => ['scope', scope] as const)], headers),
  };
};

/** What the app is told at its redirect URI. */
export const told = (response: Response): Readonly<Record<string, string>> => {
  const [to = '', query = ''] = response.headers.get('location')?.split(/\?(.*)/s) ?? [];
  return { to, ...Object.fromEntries(new URLSearchParams(query)) };
};
