import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { createAmqpBus } from '@bubbles/bus/amqp/amqp.ts';
import { type Bus, BusUnavailable } from '@bubbles/bus/bus.ts';
import { createMemoryBus } from '@bubbles/bus/memory/memory.ts';
import { BubbleReadyV1 } from '@bubbles/contracts/events/service-events.ts';
import { systemClock } from '@bubbles/kernel/clock.ts';
import { isDomainError } from '@bubbles/kernel/errors.ts';
import { systemIds } from '@bubbles/kernel/ids.ts';
import { createLog } from '@bubbles/kernel/log.ts';
import { logOutput } from '@bubbles/kernel/log-output.ts';
import { createSeal } from '@bubbles/kernel/seal.ts';
import type { Database } from '@bubbles/store/collection.ts';
import { openMongo } from '@bubbles/store/mongo.ts';
import { openEmbedded } from '@bubbles/store-embedded/open-embedded.ts';
import { openTestService } from '@bubbles/testing/service-under-test.ts';
import { openStores } from '@bubbles/webhooks-dispatcher/adapters/store/stores.ts';
import { type Config, DEFAULT_QUOTA, PRODUCTION_LIMITS, PRODUCTION_TIMING } from '@bubbles/webhooks-dispatcher/config.ts';
import type { Delivery } from '@bubbles/webhooks-dispatcher/domain/delivery.ts';
import { webhooksDispatcherWith } from '@bubbles/webhooks-dispatcher/service.ts';
import { aSubscription } from '../../../services/webhooks-dispatcher/test/builders.ts';
import type { Answers, DispatcherSettings, Order, Report, Standing, Task } from './dispatcher-orders.ts';
import { dispatcherWorld } from './dispatcher-world.ts';
import { OWNER, readyOf } from './ready-bubbles.ts';

// A dispatcher as a process of its own that is there to be killed. Its broker is a RabbitMQ, or the test, which tells of a bubble until that was taken.

const SEAL_KEYS = [{ id: 'k1', key: Buffer.alloc(32, 1) }];
const START_AGAIN_MS = 100;
const DELIVERIES_PER_READ = 500;
const ALL = { position: null, limit: null };
/** Unfinished deliveries that are told one by one. */
const TOLD = 5;
const END_OF_TIME = new Date('2999-01-01T00:00:00.000Z');

const configOf = ({ name, leaseMs }: DispatcherSettings): Config => ({
  headerName: 'Service',
  userAgent: name,
  appBaseUrl: 'https://app.test',
  sealKeys: SEAL_KEYS,
  cursorKeys: { current: Buffer.alloc(32, 2), previous: null },
  receivers: { allow: [], deny: [], http: false, loopback: true, offline: false, extraCa: [] },
  timing: { ...PRODUCTION_TIMING, deadlineMs: leaseMs / 2, connectMs: leaseMs / 2, pollMs: 200 },
  limits: { ...PRODUCTION_LIMITS, leaseMs },
  quota: DEFAULT_QUOTA,
});

process.on('disconnect', () => process.exit(0));
const say = (report: Report) => process.send?.(report);

const [settings]: DispatcherSettings[] = await once(process, 'message');
if (settings === undefined) throw new Error('a dispatcher was not told what it is');
const { store, amqpUrl } = settings;
const log = createLog({ name: settings.name, level: 'error', destination: logOutput(process.stdout) });
const ids = systemIds();
const machine = { clock: systemClock(), log };
const world = dispatcherWorld(settings.world);
const database: Database =
  'file' in store ? openEmbedded({ path: store.file, log }).database('bubbles_webhooks') : openMongo({ ...store, ...machine });
const kept = openStores(database);
const memory = createMemoryBus(machine);
const bus: Bus = amqpUrl === null ? memory : createAmqpBus({ ...machine, url: amqpUrl, service: 'webhooks-dispatcher' });
const { service, metrics } = openTestService(
  webhooksDispatcherWith(() => configOf(settings)),
  {
    clock: world.clock,
    log,
    database,
    bus,
    peers: { 'identity-and-oauth': world.peers.identity, 'bubbles-query': world.peers.bubblesQuery },
  },
);

const isRefusal = (error: unknown): boolean => error instanceof BusUnavailable || (isDomainError(error) && error.kind === 'unavailable');

const subscribe = async (): Promise<void> => {
  const seal = createSeal(SEAL_KEYS, ids.bytes);
  const there = new Set((await kept.subscriptions.listOf(OWNER, ALL)).map(({ id }) => id));
  for (let n = 0; n < settings.subscriptions; n += 1) {
    const id = `wh_${n}`;
    const secretSealed = seal.seal(Buffer.from(settings.secret), id);
    const url = `${settings.receiverUrl}/${id}`;
    if (!there.has(id)) await kept.subscriptions.insert(aSubscription({ id, ownerId: OWNER, url, secretSealed }), DEFAULT_QUOTA);
  }
};

/** As its host does: again while the store cannot be reached, and then on the bus. */
const start = async (): Promise<void> => {
  for (;;) {
    try {
      await service.start();
      await subscribe();
      break;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      await pause(START_AGAIN_MS);
    }
  }
  for (const handler of service.eventHandlers) await bus.consume(service.name, handler);
};

const take = async (bubble: string): Promise<true> => {
  await memory.publish(BubbleReadyV1, readyOf(bubble));
  const [dead] = memory.deadLetters();
  if (dead) throw new Error(`a message was dead-lettered: ${dead.reason}`);
  return true;
};

const deliveriesOf = async (subscriptionId: string): Promise<Delivery[]> => {
  const found: Delivery[] = [];
  for (let position: { readonly createdAt: Date; readonly id: string } | null = null; ; ) {
    const page = await kept.deliveries.page({ subscriptionId, status: null, position, limit: DELIVERIES_PER_READ });
    for (const one of page) found.push(one);
    position = page.at(-1) ?? null;
    if (position === null) return found;
  }
};
const allDeliveries = async (): Promise<Delivery[]> => {
  const found: Delivery[] = [];
  for (const { id } of await kept.subscriptions.listOf(OWNER, ALL)) for (const one of await deliveriesOf(id)) found.push(one);
  return found;
};
const look = async (): Promise<Standing> => {
  const subscriptions = await kept.subscriptions.listOf(OWNER, ALL);
  const deliveries = await allDeliveries();
  return {
    deliveries: deliveries.map(({ id, status, log: lines }) => ({ id, status, outcomes: lines.map(({ outcome }) => outcome) })),
    subscriptions: subscriptions.map(({ id, status, consecutiveFailures }) => ({ id, status, fails: consecutiveFailures })),
  };
};
const tellOpen = async (): Promise<string> => {
  const pending = (await allDeliveries()).filter(({ status }) => status === 'pending');
  const lines = pending.slice(0, TOLD).map(({ id, subscriptionId, attemptCount, claimCount, leaseToken, claimableAt }) => {
    const inMs = claimableAt.getTime() - world.clock.now().getTime();
    return `${id} of ${subscriptionId}: ${attemptCount} attempts, ${claimCount} claims, ${leaseToken === null ? 'due' : 'leased until'} in ${inMs} ms`;
  });
  return `${pending.length} deliveries are not finished (${lines.join('; ')})`;
};

const slotsTaken = async (): Promise<number> => {
  const gauge = await metrics.registry.getSingleMetric('webhook_in_flight')?.get();
  return gauge?.values[0]?.value ?? Number.NaN;
};

const perform = async (task: Task): Promise<Answers[Task['task']]> => {
  if (task.task === 'take') return take(task.bubble);
  if (task.task === 'count-open') return (await kept.deliveries.countDue(END_OF_TIME)).due;
  if (task.task === 'look') return look();
  if (task.task === 'count-asking') return world.asking();
  if (task.task === 'count-slots') return slotsTaken();
  if (task.task === 'tell-open') return tellOpen();
  if (task.task === 'settle') await service.settle();
  else world.become(task.world);
  return true;
};

process.on('message', async ({ number, task }: Order) => {
  try {
    say({ number, refused: null, answer: await perform(task) });
  } catch (error) {
    if (!isRefusal(error)) throw error;
    say({ number, refused: String(error) });
  }
});
await start();
say({ ready: true });
