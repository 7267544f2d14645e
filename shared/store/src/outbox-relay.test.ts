import type { Bus, CloudEvent, EventDefinition } from '@bubbles/bus/bus.ts';
import { outgoing } from '@bubbles/bus/outgoing.ts';
import type { Loop } from '@bubbles/kernel/loop.ts';
import { openEmbedded } from '@bubbles/store-embedded/open-embedded.ts';
import { crashPoints } from '@bubbles/testing/crash-points.ts';
import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { fakeIds } from '@bubbles/testing/fake-ids.ts';
import { memoryLog } from '@bubbles/testing/memory-log.ts';
import { recordingBus } from '@bubbles/testing/recording-bus.ts';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { createAggregateStore, OUTBOX_INDEX, type Stored } from './aggregates.ts';
import type { Collection } from './collection.ts';
import { createOutboxRelay, releaseOutboxes, waitingEvents } from './outbox-relay.ts';

interface Order {
  readonly id: string;
  readonly steps: number;
}

const Stepped: EventDefinition<{ order: string; step: number }> = {
  type: 'test.order.stepped.v1',
  publisher: 'test',
  consumers: [],
  schema: z.object({ order: z.string(), step: z.number() }),
};

const step = (order: Order) => ({
  state: { ...order, steps: order.steps + 1 },
  events: [outgoing(Stepped, { order: order.id, step: order.steps + 1 }, { id: `${order.id}-${order.steps + 1}` })],
});

const world = async () => {
  const clock = fakeClock();
  const scans: string[] = [];
  const engine = openEmbedded({ path: ':memory:', log: memoryLog(), onScan: (space) => scans.push(space) });
  const collection = engine.database('test').collection<Stored<Order>>('orders');
  await collection.ensureIndexes([OUTBOX_INDEX]);
  const ids = fakeIds();
  const bus = recordingBus();
  const log = memoryLog();
  const relay = (parts: { collection?: Collection<Stored<Order>>; bus?: Bus } = {}) =>
    createOutboxRelay({
      collections: [parts.collection ?? collection],
      definitions: [Stepped],
      bus: parts.bus ?? bus,
      clock,
      ids,
      log,
    });
  const orders = (onCommit?: () => void, on = collection) =>
    createAggregateStore<Order>(on, { clock, ids, source: 'test', ...(onCommit && { onCommit }) });
  return { clock, scans, collection, bus, log, relay, orders };
};

const idsOf = (events: readonly CloudEvent[]) => events.map((event) => event.id);

describe('what waits in outboxes', () => {
  it('is counted by event and aged by the oldest, through the index', async () => {
    const { clock, scans, collection, relay, orders } = await world();
    const store = orders();
    expect(await waitingEvents(collection)).toEqual({ count: 0, oldest: null });
    await store.insert({ id: 'quiet', steps: 0 });
    const oldest = clock.now();
    await store.insert({ id: 'a', steps: 0 });
    await store.update('a', step);
    await clock.advance(60_000);
    for (const id of ['a', 'quiet']) await store.update(id, step);
    expect(await waitingEvents(collection)).toEqual({ count: 3, oldest });
    const loop = relay();
    await loop.idle();
    expect(await waitingEvents(collection)).toEqual({ count: 0, oldest: null });
    expect(scans).toEqual([]);
    await loop.stop();
  });

  it('of many documents is one event each beyond the first thousand, and ten thousand at most', async () => {
    const { clock, collection, orders } = await world();
    const events = [1, 2].map((n) => outgoing(Stepped, { order: 'a', step: n }));
    for (let n = 0; n < 1200; n += 1) await orders().insert({ id: `o${n}`, steps: 0 }, events);
    expect(await waitingEvents(collection)).toEqual({ count: 2 * 1000 + 200, oldest: clock.now() });
    expect(await waitingEvents({ ...collection, count: (_, { limit = 0 } = {}) => Promise.resolve(limit) })).toMatchObject({
      count: 11_000,
    });
  });
});

describe('createOutboxRelay', () => {
  it('hands over what was written, at once when poked, and then the outbox is empty', async () => {
    const { bus, collection, relay, orders } = await world();
    const loop = relay();
    const store = orders(() => loop.poke());
    await store.insert({ id: 'a', steps: 0 });
    await store.update('a', step);
    await loop.idle();
    expect(idsOf(bus.published)).toEqual(['a-1']);
    const left = await collection.findOne({ _id: 'a' });
    expect(left).toMatchObject({ outbox: [], relayBy: null });
    expect(left).not.toHaveProperty('outboxAt');
    await loop.stop();
  });

  it('finds without a poke, by a sweep, what another process left', async () => {
    const { bus, clock, relay, orders } = await world();
    const loop = relay();
    await loop.idle();
    await orders().insert({ id: 'a', steps: 0 }, step({ id: 'a', steps: 0 }).events);
    expect(bus.published).toEqual([]);
    await clock.advance(500);
    await loop.idle();
    expect(idsOf(bus.published)).toEqual(['a-1']);
    await loop.stop();
  });

  it('keeps the order of each aggregate and stops at the first that cannot be handed over', async () => {
    const { bus, collection, relay, orders } = await world();
    const store = orders();
    for (const id of ['a', 'b']) {
      await store.insert({ id, steps: 0 });
      for (let at = 0; at < 3; at += 1) await store.update(id, step);
    }
    bus.admit((event) => event.id !== 'a-2');
    const loop = relay();
    await loop.idle();
    expect(idsOf(bus.published).filter((id) => id.startsWith('a'))).toEqual(['a-1']);
    expect(idsOf(bus.published).filter((id) => id.startsWith('b'))).toEqual(['b-1', 'b-2', 'b-3']);
    expect(idsOf((await collection.findOne({ _id: 'a' }))?.outbox ?? [])).toEqual(['a-2', 'a-3']);
    bus.admit(() => true);
    await loop.idle();
    expect(idsOf(bus.published).filter((id) => id.startsWith('a'))).toEqual(['a-1', 'a-2', 'a-3']);
    await loop.stop();
  });

  it('an event that is not known stays, and the log says so', async () => {
    const { collection, clock, log, bus } = await world();
    const loop = createOutboxRelay({ collections: [collection], definitions: [], bus, clock, ids: fakeIds('other'), log });
    await createAggregateStore<Order>(collection, { clock, ids: fakeIds(), source: 'test' }).insert(
      { id: 'a', steps: 0 },
      step({ id: 'a', steps: 0 }).events,
    );
    loop.poke();
    await loop.idle();
    expect((await collection.findOne({ _id: 'a' }))?.outbox).toHaveLength(1);
    expect(log.lines.at(-1)).toMatchObject({ level: 'warn' });
    await loop.stop();
  });

  it('two relays share the work: nothing twice, each aggregate in order', async () => {
    const { bus, relay, orders } = await world();
    const store = orders();
    for (let at = 0; at < 40; at += 1) {
      const order = { id: `o${at}`, steps: 0 };
      await store.insert(order, [...step(order).events, ...step({ ...order, steps: 1 }).events]);
    }
    const loops = [relay(), relay()];
    await Promise.all(loops.map((loop) => loop.idle()));
    expect(new Set(idsOf(bus.published)).size).toBe(80);
    expect(bus.published).toHaveLength(80);
    for (let at = 0; at < 40; at += 1)
      expect(idsOf(bus.published).filter((id) => id.startsWith(`o${at}-`))).toEqual([`o${at}-1`, `o${at}-2`]);
    await Promise.all(loops.map((loop) => loop.stop()));
  });

  it('an event that is written while the relay is at work is not lost', async () => {
    const { bus, collection, relay, orders } = await world();
    const store = orders();
    await store.insert({ id: 'a', steps: 0 });
    await store.update('a', step);
    let written = false;
    const slow: Bus = {
      ...bus,
      async publish(definition, event) {
        await bus.publish(definition, event);
        if (!written) {
          written = true;
          await store.update('a', step);
        }
      },
    };
    const loop = relay({ bus: slow });
    await loop.idle();
    expect(idsOf(bus.published)).toEqual(['a-1', 'a-2']);
    expect(await collection.findOne({ _id: 'a' })).toMatchObject({ outbox: [] });
    await loop.stop();
  });

  it('what a dead relay had claimed is free when its lease ends, or at start where no other relay can be', async () => {
    const { bus, clock, collection, relay, orders } = await world();
    await orders().insert({ id: 'a', steps: 0 }, step({ id: 'a', steps: 0 }).events);
    await collection.updateOne({ _id: 'a' }, { $set: { relayBy: 'dead', relayUntil: new Date(clock.now().getTime() + 10_000) } });
    const patient = relay();
    await patient.idle();
    expect(bus.published).toEqual([]);
    await patient.stop();
    await releaseOutboxes([collection], clock.now());
    const sole = relay();
    await sole.idle();
    expect(idsOf(bus.published)).toEqual(['a-1']);
    await sole.stop();
  });

  it('a relay whose lease ended while it published goes no further and takes nothing from its heir', async () => {
    const { bus, clock, collection, relay, orders } = await world();
    const order = { id: 'a', steps: 0 };
    await orders().insert(order, [...step(order).events, ...step({ ...order, steps: 1 }).events]);
    const heirAtWork = Promise.withResolvers<void>();
    const heirMayGoOn = Promise.withResolvers<void>();
    const heirBus: Bus = {
      ...bus,
      async publish(definition, event) {
        heirAtWork.resolve();
        await heirMayGoOn.promise;
        await bus.publish(definition, event);
      },
    };
    const heirs: Loop[] = [];
    const slowBus: Bus = {
      ...bus,
      async publish(definition, event) {
        await bus.publish(definition, event);
        if (heirs.length > 0) return;
        await clock.set(new Date(clock.now().getTime() + 10_001));
        heirs.push(relay({ bus: heirBus }));
        await heirAtWork.promise;
      },
    };
    const slow = relay({ bus: slowBus });
    await slow.idle();
    await slow.stop();
    const heir = await collection.findOne({ _id: 'a' });
    expect(idsOf(heir?.outbox ?? [])).toEqual(['a-1', 'a-2']);
    expect(heir?.relayBy).not.toBeNull();
    expect(idsOf(bus.published)).toEqual(['a-1']);
    heirMayGoOn.resolve();
    await Promise.all(heirs.map((loop) => loop.idle()));
    expect(idsOf(bus.published)).toEqual(['a-1', 'a-1', 'a-2']);
    expect(await collection.findOne({ _id: 'a' })).toMatchObject({ outbox: [], relayBy: null });
    await Promise.all(heirs.map((loop) => loop.stop()));
  });

  it('every query of the relay and of its aggregates is served by an index', async () => {
    const { scans, clock, collection, relay, orders } = await world();
    await releaseOutboxes([collection], clock.now());
    const loop = relay();
    const store = orders(() => loop.poke());
    await store.insert({ id: 'a', steps: 0 });
    await store.update('a', step);
    await loop.idle();
    await loop.stop();
    expect(scans).toEqual([]);
  });
});

const WATCHED = ['insert', 'updateOne', 'findOneAndUpdate'] as const;

/** Three writes of two orders with the relay at work; dies at step `dieAt`, then a new process takes over. */
const dieAndRecover = async (dieAt: number) => {
  const { bus, clock, collection, relay, orders } = await world();
  const points = crashPoints(dieAt);
  const dying = points.watch(collection, WATCHED);
  const loop = relay({ collection: dying, bus: points.watch<Bus>(bus, ['publish']) });
  const store = orders(() => loop.poke(), dying);
  const work = async () => {
    await store.insert({ id: 'a', steps: 0 });
    await store.insert({ id: 'b', steps: 0 }, step({ id: 'b', steps: 0 }).events);
    await store.update('a', step);
    await loop.idle();
    await store.update('a', step);
    await loop.idle();
  };
  const died = await work().then(
    () => false,
    () => true,
  );
  await loop.stop();
  const heir = relay();
  await clock.advance(11_000);
  await heir.idle();
  await heir.stop();
  const stored = await collection.find({});
  return { died, steps: points.steps(), published: idsOf(bus.published), stored };
};

describe('a process that dies between any two steps of write and relay', () => {
  it('[DLV-05] loses no event and repeats it only with the same id', async () => {
    const { steps } = await dieAndRecover(Number.POSITIVE_INFINITY);
    expect(steps).toBeGreaterThan(20);
    for (let dieAt = 1; dieAt <= steps; dieAt += 1) {
      const { published, stored } = await dieAndRecover(dieAt);
      const told = (id: string) => published.filter((event) => event.startsWith(`${id}-`));
      for (const order of stored) {
        const expected = Array.from({ length: order._id === 'b' ? 1 : order.steps }, (_, at) => `${order._id}-${at + 1}`);
        expect({ dieAt, told: [...new Set(told(order._id))] }).toEqual({ dieAt, told: expected });
        expect(order.outbox).toEqual([]);
        expect(order).not.toHaveProperty('outboxAt');
      }
      expect(published.length - new Set(published).size).toBeLessThanOrEqual(1);
    }
  });
});
