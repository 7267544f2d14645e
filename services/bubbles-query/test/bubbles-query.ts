import type { EventHandler } from '@bubbles/bus/bus.ts';
import type { Caller } from '@bubbles/contracts/access.ts';
import { BubbleReadyV1 } from '@bubbles/contracts/events/service-events.ts';
import { AccessRequest } from '@bubbles/contracts/internal/identity.ts';
import type { Service } from '@bubbles/host/service.ts';
import type { InternalClient } from '@bubbles/http/client/internal-client.ts';
import type { Environment } from '@bubbles/kernel/config.ts';
import type { Database } from '@bubbles/store/collection.ts';
import { type FakeClock, fakeClock } from '@bubbles/testing/fake-clock.ts';
import { aCaller, asService } from '@bubbles/testing/http.ts';
import { type RecordingBus, recordingBus } from '@bubbles/testing/recording-bus.ts';
import { ABSENT_PEER, startTestService } from '@bubbles/testing/service-under-test.ts';
import type { z } from 'zod';
import { bubblesQuery } from '../src/service.ts';
import { AT, type Told } from './builders.ts';

export type MembershipsOf = () =>
  | readonly { readonly team_id: string; readonly role: 'guest' | 'member'; readonly hidden: boolean }[]
  | null;

/** Identity as far as it is asked who belongs where: the same of everybody; null when it is away. */
export const identityKnowing = (membershipsOf: MembershipsOf): InternalClient => ({
  ...ABSENT_PEER,
  post: (path, call) => {
    const memberships = membershipsOf()?.map((membership) => ({ ...membership, visible_channel_ids: [] }));
    if (memberships === undefined) return ABSENT_PEER.post(path, call);
    const { user_ids } = AccessRequest.parse(call.body);
    return Promise.resolve(
      call.schema.parse({ users: user_ids.map((id) => ({ id, state: 'active', paid_features: false, memberships })), teams: [] }),
    );
  },
});

/** Hands over what was told as the bus does, one after the other. */
export const tellTo = async (
  { eventHandlers }: { readonly eventHandlers: readonly EventHandler[] },
  told: readonly Told[],
): Promise<void> => {
  for (const { event, data } of told) {
    const handler = eventHandlers.find((one) => one.event.type === event.type);
    if (handler === undefined) throw new Error(`nobody hears ${event.type}`);
    await handler.handle(handler.event.schema.parse(data), {
      specversion: '1.0',
      id: 'event-1',
      source: event.publisher,
      type: event.type,
      time: AT.toISOString(),
      datacontenttype: 'application/json',
      data,
    });
  }
};

export type Ready = z.infer<typeof BubbleReadyV1.schema>;

/** The ready events that were handed to the bus, repetitions included. */
export const readyOn = ({ published }: RecordingBus): readonly { readonly id: string; readonly data: Ready }[] =>
  published.filter(({ type }) => type === BubbleReadyV1.type).map(({ id, data }) => ({ id, data: BubbleReadyV1.schema.parse(data) }));

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads the fields that it asserts; the routes prove the rest with their schemas.
  readonly body: any;
}

export interface TestBubbles {
  readonly service: Service;
  readonly clock: FakeClock;
  readonly bus: RecordingBus;
  readonly database: Database;
  tell(...told: readonly Told[]): Promise<void>;
  /** A read by `userId`, with their key if nothing else is said. */
  read(userId: string, path: string, caller?: Partial<Caller>): Promise<Answer>;
  /** A call of another service. */
  ask(service: string, path: string, body: unknown): Promise<Answer>;
  /** The ready events that reached the broker. */
  ready(): Promise<ReturnType<typeof readyOn>>;
  stop(): Promise<void>;
}

export interface TestBubblesOptions {
  readonly database?: Database;
  readonly clock?: FakeClock;
  readonly bus?: RecordingBus;
  readonly identity?: InternalClient;
  readonly environment?: Environment;
}

const isJson = ({ headers }: Response): boolean => headers.get('content-type')?.startsWith('application/json') === true;

/** The service over a real socket, on a store in memory, with a clock that stands still. */
export const startBubbles = async (options: TestBubblesOptions = {}): Promise<TestBubbles> => {
  const { clock = fakeClock(AT), bus = recordingBus(), identity = ABSENT_PEER, environment, ...shared } = options;
  const started = await startTestService(bubblesQuery, {
    ...shared,
    clock,
    bus,
    peers: { 'identity-and-oauth': identity },
    environment: { APP_BASE_URL: 'https://app.test', ...environment },
  });
  const { service, database } = started;
  const send = async (path: string, init?: RequestInit): Promise<Answer> => {
    const response = await started.fetch(path, init);
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: isJson(response) ? JSON.parse(text) : null };
  };
  return {
    service,
    clock,
    bus,
    database,
    tell: (...told) => tellTo(service, told),
    read(userId, path, caller) {
      started.actAs(aCaller({ userId, ...caller }));
      return send(path);
    },
    ask: (name, path, body) =>
      send(path, {
        method: 'POST',
        headers: { ...asService(name), 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    async ready() {
      await service.settle();
      return readyOn(bus);
    },
    stop: started.stop,
  };
};
