import { outgoing, stamp } from '@bubbles/bus/outgoing.ts';
import { BubbleReadyV1 } from '@bubbles/contracts/events/service-events.ts';
import { systemIds } from '@bubbles/kernel/ids.ts';
import { type Collection, type Database, type Doc, storeRefusal, storeUnavailable } from '@bubbles/store/collection.ts';
import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { afterEach, describe, expect, it } from '@jest/globals';
import { aBubble, readyEvent } from './builders.ts';
import { CONFIG } from './dispatcher.ts';
import { openScene, type Scene } from './scene.ts';

let scene: Scene;
afterEach(() => scene.stop());

type Call = (...args: readonly unknown[]) => Promise<unknown>;
/** What happens to a call of the store, `collection.method`. */
type Between = (name: string, args: readonly unknown[], call: () => Promise<unknown>) => Promise<unknown>;

/** The database, with somebody between. */
const watched = (between: Between): Database => {
  const database = memoryDatabase();
  return {
    ...database,
    collection: <T extends Doc>(name: string): Collection<T> =>
      new Proxy(database.collection<T>(name), {
        get(target, method) {
          const member: unknown = Reflect.get(target, method);
          if (typeof member !== 'function') return member;
          const call: Call = (...args) => between(`${name}.${String(method)}`, args, () => member.apply(target, args));
          return call;
        },
      }),
  };
};

/** A dispatcher that has looked for what is due, and the calls to its store from then on. */
const counted = async (limits: Partial<typeof CONFIG.limits> = {}) => {
  const calls: string[] = [];
  const database = watched((name, _, call) => {
    calls.push(name);
    return call();
  });
  scene = await openScene({ database, config: { limits: { ...CONFIG.limits, ...limits } } });
  await scene.dispatcher.settle();
  return { calls, of: (name: string) => calls.filter((call) => call === name).length };
};

const tell = (id: string) => scene.dispatcher.ready({ bubble: aBubble({ id }) });
/** Hands the message to the consumer itself, as the bus would. */
const handle = async (id: string): Promise<void> => {
  const { service, clock, peers } = scene.dispatcher;
  const data = readyEvent({ bubble: aBubble({ id }) });
  peers.ready(data);
  const message = stamp(outgoing(BubbleReadyV1, data), { ids: systemIds(), clock, source: BubbleReadyV1.publisher });
  for (const { event, handle: take } of service.eventHandlers) if (event.type === BubbleReadyV1.type) await take(data, message);
};
const bubbleOf = ({ body }: { readonly body: Buffer }): string => JSON.parse(body.toString()).data.bubble.id;

describe('a delivery for which there is room', () => {
  it('[DLV-06] is leased by its insert: nothing is asked of the store before its POST but what must be', async () => {
    const { calls } = await counted();
    let asked: readonly string[] = [];
    const { receiver, log } = await scene.subscriber({}, (response) => {
      asked = [...calls];
      response.writeHead(204).end();
    });
    calls.length = 0;
    await tell('b1');
    await receiver.reached(1);
    expect(asked).toEqual(['subscriptions.find', 'events.insertEach', 'deliveries.insertEach', 'subscriptions.find']);
    await scene.dispatcher.settle();
    expect(await log()).toMatchObject([{ status: 'succeeded', attempts: [{ outcome: '2xx' }] }]);
  });

  it('[DLV-06] goes behind those that wait for room already', async () => {
    await counted({ perSubscription: 1 });
    let answer = () => {};
    const { receiver } = await scene.subscriber({}, (response) => {
      answer = () => void response.writeHead(204).end();
    });
    await tell('b1');
    await receiver.reached(1);
    await tell('b2');
    receiver.answer(204);
    answer();
    await tell('b3');
    await scene.dispatcher.settle();
    expect(receiver.received.map(bubbleOf)).toEqual(['b1', 'b2', 'b3']);
  });

  it('[DLV-05] is taken on at once when the answer to its insert was lost, and once', async () => {
    let lost = 0;
    const database = watched(async (name, _, call) => {
      const answer = await call();
      if (name !== 'deliveries.insertEach' || lost > 0) return answer;
      lost += 1;
      throw storeUnavailable(new Error('The answer is lost.'));
    });
    scene = await openScene({ database });
    await scene.dispatcher.settle();
    const { receiver } = await scene.subscriber();
    await expect(handle('b1')).rejects.toMatchObject({ kind: 'unavailable' });
    await receiver.reached(1);
    await handle('b1');
    await scene.dispatcher.settle();
    expect(receiver.received).toHaveLength(1);
    expect(await scene.dispatcher.registry.getSingleMetricAsString('webhook_in_flight')).toContain('webhook_in_flight 0');
  });
});

describe('messages that are in hand together', () => {
  it('[EVT-03] are fanned out with the commands of one, and what waits for room is read many at a time', async () => {
    const { calls, of } = await counted();
    const { receiver } = await scene.subscriber();
    calls.length = 0;
    const ids = Array.from({ length: 25 }, (_, n) => `b${n}`);
    await Promise.all(ids.map(handle));
    await scene.dispatcher.settle();
    expect(receiver.received.map(bubbleOf).toSorted()).toEqual(ids.toSorted());
    // The first goes at once, and those that come meanwhile together.
    expect([of('events.insertEach'), of('deliveries.insertEach')]).toEqual([2, 2]);
    expect(of('deliveries.find')).toBeLessThan(ids.length);
  });

  it('[EVT-03] do not suffer from one that is at fault', async () => {
    const database = watched((name, args, call) => {
      if (name === 'events.insertEach' && JSON.stringify(args).includes('"bad"')) throw storeRefusal('It cannot be stored.');
      return call();
    });
    scene = await openScene({ database });
    const { receiver } = await scene.subscriber();
    const told = await Promise.allSettled(['b1', 'b2', 'bad', 'b3'].map(handle));
    await scene.dispatcher.settle();
    expect(told.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
    expect(receiver.received.map(bubbleOf).toSorted()).toEqual(['b1', 'b2', 'b3']);
  });
});
