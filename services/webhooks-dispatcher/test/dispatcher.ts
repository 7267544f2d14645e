import { createMemoryBus, type MemoryBus } from '@bubbles/bus/memory/memory.ts';
import { outgoing, stamp } from '@bubbles/bus/outgoing.ts';
import type { Caller } from '@bubbles/contracts/access.ts';
import { BubbleRemovedV1 } from '@bubbles/contracts/events/recording-events.ts';
import { BubbleReadyV1 } from '@bubbles/contracts/events/service-events.ts';
import type { Service } from '@bubbles/host/service.ts';
import type { Database } from '@bubbles/store/collection.ts';
import { type FakeClock, fakeClock } from '@bubbles/testing/fake-clock.ts';
import { aCaller } from '@bubbles/testing/http.ts';
import { type MemoryLog, memoryLog } from '@bubbles/testing/memory-log.ts';
import { startTestService } from '@bubbles/testing/service-under-test.ts';
import type { Registry } from 'prom-client';
import { type Config, DEFAULT_QUOTA, PRODUCTION_LIMITS, PRODUCTION_TIMING } from '../src/config.ts';
import { webhooksDispatcherWith } from '../src/service.ts';
import { NOON, type Ready, readyEvent } from './builders.ts';
import { type FakePeers, fakePeers } from './fake-peers.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads the fields that it asserts; the routes prove the rest with their schemas.
  readonly body: any;
}

export interface TestDispatcher {
  readonly service: Service;
  readonly url: string;
  readonly clock: FakeClock;
  readonly bus: MemoryBus;
  readonly database: Database;
  readonly peers: FakePeers;
  readonly log: MemoryLog;
  readonly registry: Registry;
  /** A request of `ada`, or of whoever is said; below `/v1/webhooks`. */
  call(method: string, path?: string, body?: unknown, caller?: Partial<Caller> & { readonly idempotencyKey?: string }): Promise<Answer>;
  /** A subscription of hers; answers it as it was shown, secret included. */
  subscribe(fields: object): Promise<{ readonly id: string; readonly secret: string }>;
  /** Tells of a bubble that is ready and waits until it is fanned out. */
  ready(fields?: Partial<Ready>): Promise<void>;
  /** Tells that a recording was removed. */
  removed(bubbleId: string): Promise<void>;
  /** Moves the clock and lets all that is due end. */
  pass(seconds: number): Promise<void>;
  settle(): Promise<void>;
  /** The delivery log, newest first. */
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  deliveries(subscriptionId: string): Promise<any[]>;
  stop(): Promise<void>;
}

export interface TestDispatcherOptions {
  /** Of another process, to share its data. */
  readonly database?: Database;
  readonly clock?: FakeClock;
  readonly bus?: MemoryBus;
  readonly peers?: FakePeers;
  readonly config?: Partial<Config>;
}

export const CONFIG: Config = {
  headerName: 'Service',
  userAgent: 'recordings-webhooks/1',
  appBaseUrl: 'https://app.test',
  sealKeys: [{ id: 'k1', key: Buffer.alloc(32, 1) }],
  cursorKeys: { current: Buffer.alloc(32, 2), previous: null },
  receivers: { allow: [], deny: [], http: false, loopback: true, offline: false, extraCa: [] },
  timing: PRODUCTION_TIMING,
  // The clock of tests stands still.
  limits: { ...PRODUCTION_LIMITS, claimWindowMs: 0 },
  quota: DEFAULT_QUOTA,
};

export const TEAM = { id: 'team', role: 'member', hidden: false } as const;

/** Ada pays, and sees the channels of her team. */
export const knownPeers = (): FakePeers => {
  const peers = fakePeers();
  const membership = { team_id: TEAM.id, role: TEAM.role, hidden: false, visible_channel_ids: ['channel'] };
  peers.user('ada', { memberships: [membership] });
  peers.team(TEAM.id, { channel_ids: ['channel', 'closed'] });
  return peers;
};

export const ada = (): Caller => aCaller({ userId: 'ada' });

/** The service over a real socket, on a store in memory, with a clock that stands still; receivers on this machine are admitted. */
export const startDispatcher = async (options: TestDispatcherOptions = {}): Promise<TestDispatcher> => {
  const { clock = fakeClock(NOON), peers = knownPeers(), config = {} } = options;
  const log = memoryLog();
  const bus = options.bus ?? createMemoryBus({ clock, log });
  const end = bus.connect();
  const started = await startTestService(
    webhooksDispatcherWith(() => ({ ...CONFIG, ...config })),
    {
      ...options,
      clock,
      log,
      bus: end,
      peers: { 'identity-and-oauth': peers.identity, 'bubbles-query': peers.bubblesQuery },
    },
  );
  const { service, database, infra } = started;
  const { registry } = started.metrics;

  const call: TestDispatcher['call'] = async (method, path = '', body = undefined, { idempotencyKey, ...caller } = {}) => {
    started.actAs({ ...ada(), ...caller });
    const response = await started.fetch(`/v1/webhooks${path}`, {
      method,
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: text === '' ? null : JSON.parse(text) };
  };
  return {
    service,
    url: started.url,
    clock,
    bus,
    database,
    peers,
    log,
    registry,
    call,
    async subscribe(fields) {
      const answer = await call('POST', '', { events: ['bubble.ready'], ...fields });
      if (answer.status !== 201) throw new Error(answer.text);
      return answer.body;
    },
    ready(fields) {
      peers.ready(fields);
      return bus.publish(BubbleReadyV1, stamp(outgoing(BubbleReadyV1, readyEvent(fields)), { ...infra, source: BubbleReadyV1.publisher }));
    },
    async removed(bubbleId) {
      const removed = { bubble_id: bubbleId, revision: 2 };
      const message = stamp(outgoing(BubbleRemovedV1, removed), { ...infra, source: BubbleRemovedV1.publisher });
      // Others consume it too, who are not there: it is handed over without the bus.
      for (const { event, handle } of service.eventHandlers) if (event.type === BubbleRemovedV1.type) await handle(removed, message);
    },
    async pass(seconds) {
      await clock.advance(seconds * 1000);
      await service.settle();
    },
    settle: () => service.settle(),
    deliveries: async (id) => (await call('GET', `/${id}/deliveries?limit=100`)).body.data,
    async stop() {
      await started.stop();
      await end.close();
    },
  };
};
