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
import { calendarEnvironment, type FakeProvider } from './fake-calendar-provider.ts';

export const PUBLIC = 'https://api.test';
const KEY = testSecret('seal', 32);
const NOON = new Date('2026-03-02T12:00:00Z');
const HOUR_MS = 3_600_000;

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

/** Of the one link that a page has. */
const hrefIn = (html: string): string => (/href="([^"]*)"/.exec(html)?.[1] ?? '').replaceAll('&amp;', '&');

interface Page {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
  /** Where its link leads, or the answer itself. */
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
    environment: { SEAL_KEYS: `k1=${KEY.toString('base64')}`, ...calendarEnvironment(provider), ...environment },
  });
  const { service, infra } = started;
  const links = createCalendarLinks({ sealKeys: [{ id: 'k1', key: KEY }], publicBaseUrl: PUBLIC, clock });
  const get = async (url: string | URL, cookie = '', method = 'GET'): Promise<Page> => {
    const { pathname, search } = new URL(url, PUBLIC);
    const response = await started.fetch(`${pathname}${search}`, { method, redirect: 'manual', headers: cookie === '' ? {} : { cookie } });
    const [kept = ''] = response.headers.getSetCookie();
    const text = await response.text();
    const location = response.headers.get('location') ?? hrefIn(text);
    return { status: response.status, text, headers: response.headers, location, cookie: kept.split(';')[0] ?? '' };
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
      links.linksFor({ flowId, userId, address: `${userId}@acme.example`, until: new Date(begunAt.getTime() + HOUR_MS) }),
    /** The user opens the link, and where it leads to a consent, consents and comes back. */
    async connect(link: string, subject?: string): Promise<Page> {
      const opened = await get(link);
      return opened.location !== '' ? get(provider.consent(opened.location, subject), opened.cookie) : opened;
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
