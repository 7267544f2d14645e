import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export const CLIENT = { id: 'client-1', secret: 'the-secret-of-the-client' };
export const GOOGLE_SCOPE = 'openid https://www.googleapis.com/auth/calendar.readonly';

interface Consent {
  readonly challenge: string;
  readonly redirectUri: string;
  readonly subject: string;
}

type Answer = (res: ServerResponse) => void;

/** A provider of calendars on loopback, as Google is: it checks client, code, PKCE and redirect URI, and takes tokens back. */
export interface FakeProvider {
  readonly url: string;
  readonly revoked: string[];
  readonly tokenCalls: URLSearchParams[];
  readonly revocationCalls: URLSearchParams[];
  /** Of the token it gives out next. */
  scope: string;
  givesRefreshToken: boolean;
  /** In place of the answer of the token endpoint, or of the revocation endpoint. */
  answerToken: Answer | null;
  answerRevocation: Answer | null;
  /** The user consents there; answers where the browser is sent back to. */
  consent(location: string, subject?: string): URL;
  stop(): Promise<void>;
}

const answer = (res: ServerResponse, status: number, body: unknown): void =>
  void res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
export const idToken = (claims: object): string => `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.c2ln`;

export const startFakeProvider = async (): Promise<FakeProvider> => {
  const consents = new Map<string, Consent>();
  const giveToken = (form: URLSearchParams, res: ServerResponse): void => {
    const consent = consents.get(form.get('code') ?? '');
    consents.delete(form.get('code') ?? '');
    const isClient = form.get('client_id') === CLIENT.id && form.get('client_secret') === CLIENT.secret;
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (!isClient || consent?.challenge !== challenge || consent.redirectUri !== form.get('redirect_uri')) {
      answer(res, isClient ? 400 : 401, { error: isClient ? 'invalid_grant' : 'invalid_client' });
      return;
    }
    const refresh = fake.givesRefreshToken ? { refresh_token: `refresh-${consent.subject}-${randomUUID()}` } : {};
    const id_token = idToken({ iss: 'https://fake', sub: consent.subject, aud: CLIENT.id });
    answer(res, 200, { access_token: 'access', expires_in: 3600, token_type: 'Bearer', scope: fake.scope, id_token, ...refresh });
  };
  const revoke = (form: URLSearchParams, res: ServerResponse): void => {
    const token = form.get('token') ?? '';
    const isKnown = !fake.revoked.includes(token);
    if (isKnown) fake.revoked.push(token);
    answer(res, isKnown ? 200 : 400, isKnown ? {} : { error: 'invalid_token' });
  };
  const serve = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const sent = await text(req).catch(() => null);
    // Whoever asked has left in the midst of it.
    if (sent === null) return;
    const form = new URLSearchParams(sent);
    const isToken = req.url === '/token';
    (isToken ? fake.tokenCalls : fake.revocationCalls).push(form);
    const told = isToken ? fake.answerToken : fake.answerRevocation;
    if (told !== null) told(res);
    else if (isToken) giveToken(form, res);
    else revoke(form, res);
  };
  const server = createServer((req, res) => void serve(req, res));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // The server listens on a port.
  const { port } = server.address() as AddressInfo;
  const fake: FakeProvider = {
    url: `http://127.0.0.1:${port}`,
    revoked: [],
    tokenCalls: [],
    revocationCalls: [],
    scope: GOOGLE_SCOPE,
    givesRefreshToken: true,
    answerToken: null,
    answerRevocation: null,
    consent(location, subject = 'subject') {
      const { searchParams } = new URL(location);
      const code = randomUUID();
      const redirectUri = searchParams.get('redirect_uri') ?? '';
      consents.set(code, { challenge: searchParams.get('code_challenge') ?? '', redirectUri, subject });
      const back = new URL(redirectUri);
      for (const [name, value] of Object.entries({ state: searchParams.get('state') ?? '', code, iss: 'https://fake' }))
        back.searchParams.set(name, value);
      return back;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return fake;
};

/** What leads a process of signup to the provider, under both names. */
export const calendarEnvironment = ({ url }: Pick<FakeProvider, 'url'>): Readonly<Record<string, string>> => ({
  GOOGLE_CALENDAR_REVOCATION_URL: `${url}/revoke`,
  ...Object.fromEntries(
    ['GOOGLE', 'MICROSOFT'].flatMap((name) => [
      [`${name}_CALENDAR_CLIENT_ID`, CLIENT.id],
      [`${name}_CALENDAR_CLIENT_SECRET`, CLIENT.secret],
      [`${name}_CALENDAR_CONSENT_URL`, `${url}/authorize`],
      [`${name}_CALENDAR_TOKEN_URL`, `${url}/token`],
    ]),
  ),
});
