import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EventDefinition, eventHandler } from '@bubbles/bus/bus.ts';
import { createMemoryBus, type MemoryBus } from '@bubbles/bus/memory/memory.ts';
import { outgoing, stamp } from '@bubbles/bus/outgoing.ts';
import { RecordingCapturedV1 } from '@bubbles/contracts/events/meeting-events.ts';
import { BubbleRemovedV1 } from '@bubbles/contracts/events/recording-events.ts';
import { AccountChangedV1 } from '@bubbles/contracts/events/service-events.ts';
import { AccessRequest, type TeamAccess, type UserAccess } from '@bubbles/contracts/internal/identity.ts';
import type { Call, InternalClient } from '@bubbles/http/client/internal-client.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import type { Database } from '@bubbles/store/collection.ts';
import { type FakeClock, fakeClock } from '@bubbles/testing/fake-clock.ts';
import { aCaller, asService } from '@bubbles/testing/http.ts';
import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { type MemoryLog, memoryLog } from '@bubbles/testing/memory-log.ts';
import { startTestService } from '@bubbles/testing/service-under-test.ts';
import type { z } from 'zod';
import type { MediaStore } from '../src/ports.ts';
import { meetingsWith } from '../src/service.ts';
import { NOON, TEAM } from './builders.ts';
import type { FakeProvider } from './fake-provider.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads the fields that it asserts; the routes prove the rest with their schemas.
  readonly body: any;
}

interface CallOptions {
  readonly userId?: string;
  readonly life?: number;
  readonly idempotencyKey?: string;
}

type Captured = z.infer<typeof RecordingCapturedV1.schema>;

export interface FakeIdentity {
  readonly client: InternalClient;
  readonly users: Map<string, UserAccess>;
  readonly teams: Map<string, TeamAccess>;
  readonly emails: Map<string, string>;
  isAway: boolean;
  /** Of the release before, which finds nobody by an address. */
  isOlder: boolean;
}

const stranger = (id: string): UserAccess => ({ id, state: 'unknown', paid_features: false, memberships: [] });
const noTeam = (id: string): TeamAccess => ({ id, known: false, plan: 'free', archived: true, channel_ids: [] });
export const memberOf = (team: string, role: 'admin' | 'member' | 'guest' = 'member', hidden = false) => ({
  team_id: team,
  role,
  hidden,
  visible_channel_ids: [],
});
export const aUser = (id: string, memberships: UserAccess['memberships'] = [memberOf(TEAM)]): UserAccess => ({
  id,
  state: 'active',
  paid_features: true,
  memberships,
});

/** Ada and Ben are members of a team on plan pro, Gus is its guest. */
export const fakeIdentity = (): FakeIdentity => {
  const fake = {
    users: new Map([aUser('ada'), aUser('ben'), aUser('gus', [memberOf(TEAM, 'guest')])].map((user) => [user.id, user])),
    teams: new Map<string, TeamAccess>([[TEAM, { id: TEAM, known: true, plan: 'pro', archived: false, channel_ids: [] }]]),
    emails: new Map([['ben@acme.example', 'ben']]),
    isAway: false,
    isOlder: false,
  };
  const away = () => Promise.reject(new DomainError('unavailable', 'Nobody is there.'));
  const answer = (body: unknown) => {
    const { user_ids, team_ids, emails } = AccessRequest.parse(body);
    const byEmail = emails.flatMap((email) => {
      const user = fake.users.get(fake.emails.get(email) ?? '');
      return user ? [{ email, user }] : [];
    });
    return {
      users: user_ids.map((id) => fake.users.get(id) ?? stranger(id)),
      teams: team_ids.map((id) => fake.teams.get(id) ?? noTeam(id)),
      ...(!fake.isOlder && { by_email: byEmail }),
    };
  };
  const client: InternalClient = {
    get: away,
    send: away,
    async post<T>(path: string, { body, schema }: Call<T> & { readonly body: unknown }) {
      if (fake.isAway || path !== '/internal/v1/access') return away();
      await Promise.resolve();
      return schema.parse(answer(body));
    },
    close: () => Promise.resolve(),
  };
  return Object.assign(fake, { client });
};

export interface TestGateway {
  readonly clock: FakeClock;
  readonly identity: FakeIdentity;
  readonly database: Database;
  readonly log: MemoryLog;
  /** The lines of `/metrics` that tell of meetings. */
  figures(): Promise<readonly string[]>;
  /** What left about recordings. */
  readonly captured: readonly Captured[];
  call(method: string, path: string, body?: unknown, options?: CallOptions): Promise<Answer>;
  /** Asks for a notetaker and waits until it was sent. */
  join(fields?: object, options?: CallOptions): Promise<Answer>;
  status(id: string, userId?: string): Promise<Answer>;
  /** The simulated provider reports, and what follows is done. */
  report(id: string, fields: object): Promise<Answer>;
  /** What a provider sends. */
  hook(webhook: { readonly headers: Readonly<Record<string, string>>; readonly body: string }, provider?: string): Promise<Response>;
  runs(): Promise<readonly { readonly join_id: string; readonly meeting_url: string | null; readonly left_at: string | null }[]>;
  closeAccount(userId: string): Promise<void>;
  /** The recording pipeline tells so. */
  removeBubble(bubbleId: string): Promise<void>;
  /** The message alone, which may be late. */
  hearOfClosed(userId: string): Promise<void>;
  pass(seconds: number): Promise<void>;
  /** The same where calls go over real sockets: none loses its lease because the clock is faster than they are. */
  passInSteps(seconds: number): Promise<void>;
  settle(): Promise<void>;
  runJob(name: string): Promise<void>;
  metric(name: string): Promise<string>;
  stop(): Promise<void>;
}

interface GatewayOptions {
  /** Of another process, to share its data. */
  readonly database?: Database;
  readonly clock?: FakeClock;
  readonly bus?: MemoryBus;
  readonly identity?: FakeIdentity;
  readonly environment?: Readonly<Record<string, string>>;
  /** In place of the simulator. */
  readonly provider?: FakeProvider;
  /** Of another process, to share its files. */
  readonly folder?: string;
  /** What stands before the store of files. */
  readonly through?: (store: MediaStore) => MediaStore;
}

/** Shorter than a lease is held without its renewal. */
const STEP_SECONDS = 15;

export const MEETING = { meeting_url: 'https://meet.google.com/abc-defg-hij?authuser=1', team_id: TEAM };

/** The service over a real socket, on a store in memory, with a clock that stands still. */
export const startGateway = async (options: GatewayOptions = {}): Promise<TestGateway> => {
  const { clock = fakeClock(NOON), identity = fakeIdentity(), database = memoryDatabase(), environment = {} } = options;
  const log = memoryLog();
  const bus = options.bus ?? createMemoryBus({ clock, log });
  const end = bus.connect();
  const captured: Captured[] = [];
  const consumer = bus.connect();
  await consumer.consume(
    'bubbles-query',
    eventHandler(RecordingCapturedV1, (data) => Promise.resolve(void captured.push(data))),
  );
  const peers = { 'identity-and-oauth': identity.client };
  const { provider, through } = options;
  const folder = options.folder ?? (await mkdtemp(join(tmpdir(), 'meetings-')));
  const definition = meetingsWith({
    mayBePlain: false,
    ...(provider && { openProviders: () => provider.notetakers }),
    ...(through && { through }),
  });
  const told = { MEDIA_FOLDER: folder, ...environment };
  const started = await startTestService(definition, { database, clock, log, bus: end, peers, environment: told });
  const { service, infra, metrics } = started;

  const call: TestGateway['call'] = async (method, path, body, { userId = 'ada', life = 1, idempotencyKey } = {}) => {
    started.actAs(aCaller({ userId, life, scopes: ['meetings:join'] }));
    const response = await started.fetch(path, {
      method,
      headers: {
        ...(path.startsWith('/internal/') && asService('operator')),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: text === '' ? null : JSON.parse(text) };
  };
  const settle = () => service.settle();
  const pass = async (seconds: number) => {
    await clock.advance(seconds * 1000);
    await settle();
  };
  const hear = async <T>(definition: EventDefinition<T>, facts: T) => {
    const message = stamp(outgoing(definition, facts), { ...infra, source: definition.publisher });
    for (const { event, handle } of service.eventHandlers) if (event.type === definition.type) await handle(facts, message);
    await settle();
  };
  const hearOfClosed = (userId: string) =>
    hear(AccountChangedV1, { user_id: userId, state: 'deleted' as const, name: null, email: null, picture_url: null, revision: 2 });
  return {
    clock,
    identity,
    database,
    log,
    figures: async () =>
      (await metrics.registry.metrics()).split('\n').filter((line) => /^(meeting|notetaker)_\w+(\{[^}]*\})? /.test(line)),
    captured,
    call,
    async join(fields = {}, callOptions = {}) {
      const answer = await call('POST', '/v1/meetings/join', { ...MEETING, ...fields }, callOptions);
      await settle();
      return answer;
    },
    status: (id, userId = 'ada') => call('GET', `/v1/meetings/join/${id}`, undefined, { userId }),
    async report(id, fields) {
      const answer = await call('POST', `/internal/v1/admin/notetakers/${id}`, fields);
      await settle();
      return answer;
    },
    hook: (webhook, name = 'simulator') => started.fetch(`/hooks/notetakers/${name}`, { method: 'POST', ...webhook }),
    runs: async () => (await call('GET', '/internal/v1/admin/notetakers')).body.runs,
    async closeAccount(userId) {
      identity.users.set(userId, { ...aUser(userId, []), state: 'deleted' });
      await hearOfClosed(userId);
    },
    hearOfClosed,
    removeBubble: (bubbleId) => hear(BubbleRemovedV1, { bubble_id: bubbleId, revision: 2 }),
    pass,
    async passInSteps(seconds) {
      for (let left = seconds; left > 0; left -= STEP_SECONDS) await pass(Math.min(left, STEP_SECONDS));
    },
    settle,
    runJob: started.runJob,
    metric: (name) => started.metrics.registry.getSingleMetricAsString(name),
    async stop() {
      await started.stop();
      await end.close();
      await consumer.close();
      if (options.folder === undefined) await rm(folder, { recursive: true, force: true });
    },
  };
};
