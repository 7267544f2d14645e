import { createAmqpBus } from '@bubbles/bus/amqp/amqp.ts';
import { outgoing, stamp } from '@bubbles/bus/outgoing.ts';
import { BubbleReadyV1 } from '@bubbles/contracts/events/service-events.ts';
import { createMetrics } from '@bubbles/http/ops/metrics.ts';
import { systemIds } from '@bubbles/kernel/ids.ts';
import { createSeal } from '@bubbles/kernel/seal.ts';
import type { Database } from '@bubbles/store/collection.ts';
import { openMongo } from '@bubbles/store/mongo.ts';
import { openEmbedded } from '@bubbles/store-embedded/open-embedded.ts';
import { SILENT_LOG } from '@bubbles/testing/http.ts';
import { recordingBus } from '@bubbles/testing/recording-bus.ts';
import { openTestService } from '@bubbles/testing/service-under-test.ts';
import { openStores } from '@bubbles/webhooks-dispatcher/adapters/store/stores.ts';
import { DEFAULT_QUOTA, PRODUCTION_LIMITS, PRODUCTION_TIMING } from '@bubbles/webhooks-dispatcher/config.ts';
import { queued } from '@bubbles/webhooks-dispatcher/domain/delivery.ts';
import { webhooksDispatcherWith } from '@bubbles/webhooks-dispatcher/service.ts';
import { Agent, request } from 'undici';
import { aBubble, anEvent, aReadyBubble, aSubscription, readyEvent } from '../../../services/webhooks-dispatcher/test/builders.ts';
import { fakePeers } from '../../../services/webhooks-dispatcher/test/fake-peers.ts';
import { movedClock } from '../../support/moved-clock.ts';
import { serveParent, settings, tellParent } from '../harness/in-child.ts';
import { switchedInfra } from '../harness/switched-infra.ts';

export interface BenchDispatcherSettings {
  readonly store: { readonly path: string } | { readonly url: string; readonly name: string };
  /** Of every subscription. */
  readonly secret: string;
  /** Whose messages are consumed when it is asked for; null without a broker. */
  readonly amqpUrl: string | null;
  /** Store and broker are measured, as in production, until that is switched off. */
  readonly switched: boolean;
}

/** Bubbles of this owner get ready at this pace. */
export interface Teller {
  readonly owner: string;
  readonly perSecond: number;
}

/** What the parent may ask; answered when it is done. */
export type Task =
  | { readonly task: 'subscribe'; readonly owner: string; readonly url: string; readonly count: number }
  | { readonly task: 'queue'; readonly owner: string; readonly url: string; readonly count: number; readonly dueInMs: number }
  | { readonly task: 'put-forward'; readonly ms: number }
  | { readonly task: 'work-off' }
  | { readonly task: 'consume' }
  | { readonly task: 'tell'; readonly tellers: readonly Teller[]; readonly seconds: number }
  | { readonly task: 'bare'; readonly url: string; readonly count: number; readonly atOnce: number };
export interface Done {
  readonly ms: number;
  readonly cpuMs: number;
}

const SEAL_KEYS = [{ id: 'k1', key: Buffer.alloc(32, 1) }];
/** Makes a body of 2 KiB. */
const SUMMARY = 'x'.repeat(1024);
const QUEUED_AT_ONCE = 200;
const SLICE_MS = 5;
/** Of one owner, more than a user may have. */
const MOST_SUBSCRIPTIONS = 10_000;

const nowMs = () => performance.timeOrigin + performance.now();
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const { store, secret, amqpUrl, switched } = settings<BenchDispatcherSettings>();
/** How far the time of this process is put forward. */
let aheadMs = 0;
const clock = movedClock(() => aheadMs);
const opened: Database =
  'path' in store
    ? openEmbedded({ ...store, log: SILENT_LOG }).database('bubbles_webhooks')
    : openMongo({ ...store, log: SILENT_LOG, clock });
const broker = amqpUrl === null ? recordingBus() : createAmqpBus({ url: amqpUrl, service: 'bench-dispatcher', clock, log: SILENT_LOG });
const plain = { database: opened, bus: broker, clock };
const { database, bus } = switched ? switchedInfra(plain, createMetrics()) : plain;
const kept = openStores(database);
await kept.ensureIndexes();
const seal = createSeal(SEAL_KEYS, systemIds().bytes);
const peers = fakePeers();
peers.team('team');
const definition = webhooksDispatcherWith(() => ({
  headerName: 'Service',
  userAgent: 'bench/1',
  appBaseUrl: 'https://app.test',
  sealKeys: SEAL_KEYS,
  cursorKeys: { current: Buffer.alloc(32, 2), previous: null },
  receivers: { allow: [], deny: [], http: false, loopback: true, offline: false, extraCa: [] },
  timing: PRODUCTION_TIMING,
  limits: PRODUCTION_LIMITS,
  quota: DEFAULT_QUOTA,
}));
const { infra, service } = openTestService(definition, {
  clock,
  database,
  bus,
  peers: { 'identity-and-oauth': peers.identity, 'bubbles-query': peers.bubblesQuery },
});

let count = 0;
const next = (): number => {
  count += 1;
  return count;
};
const subscriptionFor = (owner: string, url: string) => {
  peers.user(owner);
  const id = `wh_${next()}`;
  return aSubscription({ id, ownerId: owner, url, secretSealed: seal.seal(Buffer.from(secret), id) });
};
const bodyOf = (id: string) =>
  Buffer.from(JSON.stringify({ id, type: 'bubble.ready', created_at: clock.now(), data: { bubble: aBubble({ id, summary: SUMMARY }) } }));

const subscribe = async (owner: string, url: string, many: number) => {
  const subscriptions = Array.from({ length: many }, () => subscriptionFor(owner, url));
  for (const subscription of subscriptions)
    await kept.subscriptions.insert(subscription, { ...DEFAULT_QUOTA, perUser: MOST_SUBSCRIPTIONS });
  return subscriptions;
};

/** Deliveries of one bubble to every subscription, again and again. */
const queue = async ({ owner, url, count: many, dueInMs }: Extract<Task, { task: 'queue' }>) => {
  const subscriptions = await subscribe(owner, url, Math.min(many, PRODUCTION_LIMITS.perOrigin));
  for (let made = 0; made < many; ) {
    const id = `evt_${next()}`;
    const event = anEvent({ id, bubble: aReadyBubble({ id }), body: bodyOf(id) });
    await kept.events.insert(event);
    const batch = subscriptions.slice(0, Math.min(many - made, QUEUED_AT_ONCE));
    const at = new Date(clock.now().getTime() + dueInMs);
    await Promise.all(batch.map((subscription) => kept.deliveries.insert(queued(event, subscription, at))));
    made += batch.length;
  }
};

let started = false;
const start = async () => {
  if (!started) await service.start();
  started = true;
};
const workOff = async () => {
  await start();
  do await service.settle();
  while ((await kept.deliveries.countDue(clock.now())).due > 0);
};

const consume = async () => {
  await start();
  for (const handler of service.eventHandlers) await bus.consume(service.name, handler);
};

const ready = (owner: string): Promise<void> => {
  const bubble = aBubble({ id: `bubble-${next()}`, title: String(nowMs()), summary: SUMMARY });
  const data = readyEvent({ bubble, participant_user_ids: [owner] });
  const [fanOut] = service.eventHandlers;
  const message = stamp(outgoing(BubbleReadyV1, data), { ...infra, source: BubbleReadyV1.publisher });
  return fanOut?.handle(data, message) ?? Promise.resolve();
};

/** At their pace whatever becomes of them; done when all are fanned out. */
const tell = async ({ tellers, seconds }: Extract<Task, { task: 'tell' }>) => {
  await start();
  const began = performance.now();
  const handled: Promise<void>[] = [];
  const told = new Map(tellers.map(({ owner }) => [owner, 0]));
  const tellDue = ({ owner, perSecond }: Teller) => {
    const due = Math.min(seconds * 1000, performance.now() - began) * (perSecond / 1000);
    let count = told.get(owner) ?? 0;
    for (; count < Math.floor(due); count += 1) handled.push(ready(owner));
    told.set(owner, count);
  };
  for (let passed = 0; passed < seconds * 1000; passed = performance.now() - began) {
    await pause(SLICE_MS);
    tellers.forEach(tellDue);
  }
  await Promise.all(handled);
};

const bare = async ({ url, count: many, atOnce }: Extract<Task, { task: 'bare' }>) => {
  const dispatcher = new Agent({ connections: atOnce });
  const body = bodyOf('evt_bare');
  const headers = { 'content-type': 'application/json' };
  let left = many;
  const sender = async () => {
    while (left > 0) {
      left -= 1;
      const response = await request(url, { method: 'POST', headers, body, dispatcher });
      await response.body.dump();
    }
  };
  await Promise.all(Array.from({ length: atOnce }, sender));
  await dispatcher.close();
};

const perform = async (task: Task): Promise<void> => {
  if (task.task === 'subscribe') await subscribe(task.owner, task.url, task.count);
  else if (task.task === 'queue') await queue(task);
  else if (task.task === 'put-forward') aheadMs += task.ms;
  else if (task.task === 'work-off') await workOff();
  else if (task.task === 'consume') await consume();
  else if (task.task === 'tell') await tell(task);
  else await bare(task);
};

tellParent({ ready: true });
serveParent(async (task: Task): Promise<Done> => {
  const [began, cpu] = [performance.now(), process.cpuUsage()];
  await perform(task);
  const { user, system } = process.cpuUsage(cpu);
  return { ms: performance.now() - began, cpuMs: (user + system) / 1000 };
});
