import type { EventDefinition } from '@bubbles/bus/bus.ts';
import { outgoing } from '@bubbles/bus/outgoing.ts';
import { type EmbeddedStore, openEmbedded } from '@bubbles/store-embedded/open-embedded.ts';
import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { fakeIds } from '@bubbles/testing/fake-ids.ts';
import { memoryLog } from '@bubbles/testing/memory-log.ts';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { type AggregateStore, createAggregateStore, type Stored } from './aggregates.ts';
import type { Collection } from './collection.ts';

interface Counter {
  readonly id: string;
  readonly count: number;
  readonly note?: string;
}

const Counted: EventDefinition<{ count: number }> = {
  type: 'test.counter.counted.v1',
  publisher: 'test',
  consumers: [],
  schema: z.object({ count: z.number() }),
};

const counted = (count: number) => outgoing(Counted, { count });

describe('createAggregateStore', () => {
  const clock = fakeClock();
  let engine: EmbeddedStore;
  let collection: Collection<Stored<Counter>>;
  let store: AggregateStore<Counter>;
  let commits = 0;

  beforeEach(() => {
    engine = openEmbedded({ path: ':memory:', log: memoryLog() });
    collection = engine.database('test').collection('counters');
    commits = 0;
    store = createAggregateStore(collection, {
      clock,
      ids: fakeIds(),
      source: 'test',
      onCommit: () => {
        commits += 1;
      },
    });
  });
  afterEach(() => engine.close());

  const increase = (state: Counter) => ({ state: { ...state, count: state.count + 1 }, events: [counted(state.count + 1)] });

  it('reads what was inserted, and only once for one id', async () => {
    expect(await store.insert({ id: 'a', count: 0 })).toBe(true);
    expect(await store.insert({ id: 'a', count: 9 })).toBe(false);
    expect(await store.get('a')).toEqual({ id: 'a', count: 0 });
    expect(await store.get('b')).toBeNull();
  });

  it("refuses another service's event, which no relay of this one would send, and writes nothing", async () => {
    const foreign = outgoing({ ...Counted, publisher: 'another' }, { count: 0 });
    await expect(store.insert({ id: 'a', count: 0 }, [foreign])).rejects.toThrow(
      'test does not publish test.counter.counted.v1: another does',
    );
    expect(await store.get('a')).toBeNull();
  });

  it('writes state and events together, stamped with id, source and time', async () => {
    await store.insert({ id: 'a', count: 0 });
    expect(await store.update('a', increase)).toEqual({ id: 'a', count: 1 });
    expect(await collection.findOne({ _id: 'a' })).toMatchObject({
      version: 2,
      count: 1,
      outboxAt: clock.now(),
      outbox: [
        {
          specversion: '1.0',
          id: expect.stringMatching(/^[0-9a-f-]{36}$/),
          source: 'test',
          type: 'test.counter.counted.v1',
          time: clock.now().toISOString(),
          datacontenttype: 'application/json',
          data: { count: 1 },
        },
      ],
    });
  });

  it('has no outboxAt while no event waits, and keeps the time of the oldest', async () => {
    await store.insert({ id: 'a', count: 0 });
    expect(await collection.findOne({ _id: 'a' })).not.toHaveProperty('outboxAt');
    const first = clock.now();
    await store.update('a', increase);
    await clock.advance(1_000);
    await store.update('a', increase);
    expect(await collection.findOne({ _id: 'a' })).toMatchObject({ outboxAt: first });
  });

  it('tells of a commit exactly when there are events', async () => {
    await store.insert({ id: 'a', count: 0 });
    await store.update('a', (state) => ({ state, events: [] }));
    expect(commits).toBe(0);
    await store.update('a', increase);
    await store.insert({ id: 'b', count: 0 }, [counted(0)]);
    expect(commits).toBe(2);
    await store.insert({ id: 'b', count: 0 }, [counted(0)]);
    expect(commits).toBe(2);
  });

  it('loses no update among 50 that run at once', async () => {
    await store.insert({ id: 'a', count: 0 });
    await Promise.all(Array.from({ length: 50 }, () => store.update('a', increase)));
    const doc = await collection.findOne({ _id: 'a' });
    expect(doc?.count).toBe(50);
    expect(doc?.outbox.map((event) => event.data)).toEqual(Array.from({ length: 50 }, (_, at) => ({ count: at + 1 })));
  });

  it('null from the change leaves the state and answers it; an absent id answers null', async () => {
    await store.insert({ id: 'a', count: 3 });
    expect(await store.update('a', () => null)).toEqual({ id: 'a', count: 3 });
    expect(await collection.findOne({ _id: 'a' })).toMatchObject({ version: 1 });
    expect(await store.update('b', increase)).toBeNull();
  });

  it('a field that the state has no longer is gone from the document', async () => {
    await store.insert({ id: 'a', count: 3, note: 'x' });
    await store.update('a', ({ id, count }) => ({ state: { id, count }, events: [] }));
    expect(await store.get('a')).toEqual({ id: 'a', count: 3 });
  });

  it('refuses the 101st waiting event as unavailable and changes nothing', async () => {
    const hundred = Array.from({ length: 100 }, (_, at) => counted(at));
    await store.insert({ id: 'a', count: 0 }, hundred);
    await expect(store.update('a', increase)).rejects.toMatchObject({ kind: 'unavailable', retryAfterSeconds: 1 });
    expect(await store.get('a')).toEqual({ id: 'a', count: 0 });
    await expect(store.insert({ id: 'b', count: 0 }, [...hundred, counted(100)])).rejects.toMatchObject({ kind: 'unavailable' });
    expect(await store.update('a', (state) => ({ state: { ...state, count: 7 }, events: [] }))).toEqual({ id: 'a', count: 7 });
  });

  it('refuses an event whose data its definition does not admit', async () => {
    const wrong = { definition: Counted, data: { count: 'many' } };
    await expect(store.insert({ id: 'a', count: 0 }, [wrong])).rejects.toThrow();
    expect(await store.get('a')).toBeNull();
  });

  it('an id given for the fact is the id of the event', async () => {
    await store.insert({ id: 'a', count: 0 }, [outgoing(Counted, { count: 0 }, { id: 'evt_a', subject: 'a' })]);
    expect((await collection.findOne({ _id: 'a' }))?.outbox).toMatchObject([{ id: 'evt_a', subject: 'a' }]);
  });
});
