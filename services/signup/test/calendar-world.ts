import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { outgoing, stamp } from '@bubbles/bus/outgoing.ts';
import { AccountChangedV1 } from '@bubbles/contracts/events/service-events.ts';
import { AccessRequest, type UserAccess } from '@bubbles/contracts/internal/identity.ts';
import type { Call, InternalClient } from '@bubbles/http/client/internal-client.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import type { Database } from '@bubbles/store/collection.ts';
import { type FakeClock, fakeClock } from '@bubbles/testing/fake-clock.ts';
import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { memoryLog } from '@bubbles/testing/memory-log.ts';
import { startTestService, testSecret } from '@bubbles/testing/service-under-test.ts';
import { createCalendarLinks } from '../src/adapters/calendar/links.ts';
import { signup } from '../src/service.ts';

export const PUBLIC = 'https://api.test';
export const CLIENT = { id: 'client-1', secret: 'the-secret-of-the-client' };
export const GOOGLE_SCOPE = 'openid https://www.googleapis.com/auth/calendar.readonly';
const KEY = testSecret('seal', 32);
const NOON = new Date('2026-03-02T12:00:00Z');
const HOUR_MS = 3_600_000;

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
    const form = new URLSearchParams(await text(req));
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

type Account = Pick<UserAccess, 'state' | 'life'>;

export interface FakeAccounts {
  readonly client: InternalClient;
  readonly accounts: Map<string, Account>;
  isAway: boolean;
}

/** Identity, as far as it says who is there. Ada and Ben are. */
export const fakeAccounts = (): FakeAccounts => {
  const away = () => Promise.reject(new DomainError('unavailable', 'Nobody is there.'));
  const active: Account = { state: 'active', life: 1 };
  const fake = {
    accounts: new Map([
      ['ada', active],
      ['ben', active],
    ]),
    isAway: false,
  };
  const client: InternalClient = {
    get: away,
    send: away,
    async post<T>(path: string, { body, schema }: Call<T> & { readonly body: unknown }) {
      if (fake.isAway || path !== '/internal/v1/access') return away();
      await Promise.resolve();
      const nobody = { state: 'unknown', paid_features: false, memberships: [] };
      return schema.parse({
        users: AccessRequest.parse(body).user_ids.map((id) => ({ id, ...nobody, ...fake.accounts.get(id) })),
        teams: [],
      });
    },
    close: () => Promise.resolve(),
  };
  return Object.assign(fake, { client });
};

interface Page {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
  /** Where the browser is sent. */
  readonly location: string;
  /** What it keeps: `name=value`, empty without a cookie. */
  readonly cookie: string;
}

interface WorldOptions {
  readonly database?: Database;
  readonly clock?: FakeClock;
  readonly accounts?: FakeAccounts;
  readonly environment?: Readonly<Record<string, string>>;
}

const environmentOf = ({ url }: FakeProvider): Readonly<Record<string, string>> => ({
  SEAL_KEYS: `k1=${KEY.toString('base64')}`,
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

/** Signup over a real socket, before a provider that both names lead to. */
export const startCalendarWorld = async (
  provider: FakeProvider,
  { database = memoryDatabase(), clock = fakeClock(NOON), accounts = fakeAccounts(), environment = {} }: WorldOptions = {},
) => {
  const log = memoryLog();
  const peers = { 'identity-and-oauth': accounts.client };
  const started = await startTestService(signup, {
    database,
    clock,
    log,
    peers,
    environment: { ...environmentOf(provider), ...environment },
  });
  const { service, infra } = started;
  const links = createCalendarLinks({ sealKeys: [{ id: 'k1', key: KEY }], publicBaseUrl: PUBLIC, clock });
  const get = async (url: string | URL, cookie = '', method = 'GET'): Promise<Page> => {
    const { pathname, search } = new URL(url, PUBLIC);
    const response = await started.fetch(`${pathname}${search}`, { method, redirect: 'manual', headers: cookie === '' ? {} : { cookie } });
    const [kept = ''] = response.headers.getSetCookie();
    const location = response.headers.get('location') ?? '';
    return { status: response.status, text: await response.text(), headers: response.headers, location, cookie: kept.split(';')[0] ?? '' };
  };
  const tellOf = async (userId: string): Promise<void> => {
    const facts = { user_id: userId, state: 'active' as const, name: null, email: null, picture_url: null, revision: 2 };
    const message = stamp(outgoing(AccountChangedV1, facts), { ...infra, source: AccountChangedV1.publisher });
    for (const { event, handle } of service.eventHandlers) if (event.type === AccountChangedV1.type) await handle(facts, message);
  };
  return {
    clock,
    database,
    accounts,
    log,
    get,
    linksOf: (userId = 'ada', flowId = `flow of ${userId}`, begunAt = NOON) =>
      links.linksFor({ flowId, userId, until: new Date(begunAt.getTime() + HOUR_MS) }),
    /** The user opens the link, and where it leads to a consent, consents and comes back. */
    async connect(link: string, subject?: string): Promise<Page> {
      const opened = await get(link);
      return opened.status === 303 ? get(provider.consent(opened.location, subject), opened.cookie) : opened;
    },
    grants: () => database.collection('calendar_grants').find({}),
    /** Says that something of the account has changed, not what. */
    tellOf,
    async accountChanges(userId: string, account: Account): Promise<void> {
      accounts.accounts.set(userId, account);
      await tellOf(userId);
      await service.settle();
    },
    async pass(seconds: number): Promise<void> {
      await clock.advance(seconds * 1000);
      await service.settle();
    },
    settle: () => service.settle(),
    stop: () => started.stop(),
  };
};
export type CalendarWorld = Awaited<ReturnType<typeof startCalendarWorld>>;
