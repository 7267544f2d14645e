import { setImmediate } from 'node:timers/promises';
import { DomainError } from '@bubbles/kernel/errors.ts';
import { sightings } from '@bubbles/testing/eventually.ts';
import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { SILENT_LOG } from '@bubbles/testing/http.ts';
import { describe, expect, it } from '@jest/globals';
import { anEvent, consumerOf, thingHappened } from '../../test/bus-events.ts';
import { type EventDefinition, eventHandler } from '../bus.ts';
import { createMemoryBus } from './memory.ts';

const BUS_UNAVAILABLE = { name: 'BusUnavailable' };

const setUp = () => {
  const clock = fakeClock();
  const event = thingHappened('memory');
  return { clock, event, consumer: consumerOf(event), bus: createMemoryBus({ clock, log: SILENT_LOG, jitter: () => 1 }) };
};

const thing = (event: EventDefinition, n = 1) => anEvent(event, { n });

describe('the bus in memory', () => {
  it('confirms only when every consumer has handled the event', async () => {
    const event = thingHappened('memory', ['one', 'two']);
    const { bus } = setUp();
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await bus.consume(
      consumerOf(event, 0),
      eventHandler(event, () => first.promise),
    );
    await bus.consume(
      consumerOf(event, 1),
      eventHandler(event, () => second.promise),
    );
    let confirmed = false;
    const published = bus.publish(event, thing(event)).then(() => {
      confirmed = true;
    });
    first.resolve();
    await setImmediate();
    expect(confirmed).toBe(false);
    second.resolve();
    await published;
    expect(confirmed).toBe(true);
  });

  it('refuses at once while a consumer is down, and keeps nothing for it', async () => {
    const { bus, event, consumer } = setUp();
    const view = sightings();
    await bus.consume(
      consumer,
      eventHandler(event, ({ n }) => Promise.resolve(view.see(n))),
    );
    bus.setConsumer(consumer, 'down');
    await expect(bus.publish(event, thing(event, 1))).rejects.toMatchObject(BUS_UNAVAILABLE);
    bus.setConsumer(consumer, 'up');
    await bus.publish(event, thing(event, 2));
    expect(view.seen).toEqual([2]);
  });

  it('a consumer that is down before it subscribes stays down', async () => {
    const { bus, event, consumer } = setUp();
    bus.setConsumer(consumer, 'down');
    await bus.consume(
      consumer,
      eventHandler(event, () => Promise.resolve()),
    );
    await expect(bus.publish(event, thing(event))).rejects.toMatchObject(BUS_UNAVAILABLE);
  });

  it('refuses what waits when the consumer goes down, and confirms what it still handles', async () => {
    const { bus, event, consumer } = setUp();
    const end = Promise.withResolvers<void>();
    let begun = 0;
    await bus.consume(
      consumer,
      eventHandler(event, () => {
        begun += 1;
        return end.promise;
      }),
    );
    const published = Promise.allSettled(Array.from({ length: 20 }, (_, n) => bus.publish(event, thing(event, n))));
    await setImmediate();
    bus.setConsumer(consumer, 'down');
    end.resolve();
    const statuses = (await published).map(({ status }) => status);
    expect(begun).toBe(16);
    expect(statuses).toEqual([...Array(16).fill('fulfilled'), ...Array(4).fill('rejected')]);
  });

  it('refuses at once while a consumer backs off, and hands over again when that is over', async () => {
    const { bus, clock, event, consumer } = setUp();
    let calls = 0;
    await bus.consume(
      consumer,
      eventHandler(event, () => {
        calls += 1;
        return calls === 1 ? Promise.reject(new DomainError('unavailable', 'The store is away.')) : Promise.resolve();
      }),
    );
    await expect(bus.publish(event, thing(event))).rejects.toMatchObject(BUS_UNAVAILABLE);
    await clock.advance(99);
    await expect(bus.publish(event, thing(event))).rejects.toMatchObject(BUS_UNAVAILABLE);
    expect(calls).toBe(1);
    await clock.advance(1);
    expect(bus.state().consumers).toMatchObject([{ isConsuming: false }]);
    await bus.publish(event, thing(event));
    expect(calls).toBe(2);
    expect(bus.state().consumers).toMatchObject([{ isConsuming: true }]);
  });

  it('backs off longer each time, at most 5 s, until retried or until another service comes up', async () => {
    const { bus, clock, event, consumer } = setUp();
    let calls = 0;
    await bus.consume(
      consumer,
      eventHandler(event, () => {
        calls += 1;
        return Promise.reject(new DomainError('unavailable', 'The store is away.'));
      }),
    );
    const tryAfter = async (ms: number) => {
      await clock.advance(ms);
      await expect(bus.publish(event, thing(event))).rejects.toMatchObject(BUS_UNAVAILABLE);
      return calls;
    };
    expect(await tryAfter(0)).toBe(1);
    for (const [index, ms] of [100, 200, 400, 800, 1600, 3200, 5000, 5000].entries()) {
      expect(await tryAfter(ms - 1)).toBe(index + 1);
      expect(await tryAfter(1)).toBe(index + 2);
    }
    bus.retryNow();
    expect(await tryAfter(0)).toBe(10);
    bus.setConsumer('somebody-else', 'up');
    expect(await tryAfter(0)).toBe(11);
  });

  it('counts a failure once, however many handlers meet it', async () => {
    const { bus, clock, event, consumer } = setUp();
    let isAway = true;
    const met = Promise.withResolvers<void>();
    await bus.consume(
      consumer,
      eventHandler(event, async () => {
        await met.promise;
        if (isAway) throw new DomainError('unavailable', 'The store is away.');
      }),
    );
    const published = Promise.allSettled([1, 2, 3].map((n) => bus.publish(event, thing(event, n))));
    met.resolve();
    expect((await published).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    isAway = false;
    await clock.advance(100);
    await bus.publish(event, thing(event, 4));
  });

  it('starts its backoff fresh after a success, unless that handler had started before the failure', async () => {
    const { bus, clock, event, consumer } = setUp();
    const outcomes = new Map<number, PromiseWithResolvers<void>>();
    await bus.consume(
      consumer,
      eventHandler(event, ({ n }) => (outcomes.get(n) ?? Promise.withResolvers<void>()).promise),
    );
    const begin = (n: number) => {
      outcomes.set(n, Promise.withResolvers());
      const published = Promise.allSettled([bus.publish(event, thing(event, n))]);
      const end = async (isAway: boolean) => {
        if (isAway) outcomes.get(n)?.reject(new DomainError('unavailable', 'The store is away.'));
        else outcomes.get(n)?.resolve();
        return (await published)[0].status;
      };
      return end;
    };
    const before = begin(1);
    expect(await begin(2)(true)).toBe('rejected');
    expect(await before(false)).toBe('fulfilled');
    await clock.advance(100);
    expect(await begin(3)(true)).toBe('rejected');
    await clock.advance(100);
    expect(await begin(4)(false)).toBe('rejected');
    await clock.advance(100);
    expect(await begin(5)(false)).toBe('fulfilled');
    expect(await begin(6)(true)).toBe('rejected');
    await clock.advance(100);
    expect(await begin(7)(false)).toBe('fulfilled');
  });

  it('one of many that fails refuses its own event alone among those that are handled', async () => {
    const { bus, clock, event, consumer } = setUp();
    const view = sightings();
    let fails = true;
    await bus.consume(
      consumer,
      eventHandler(event, async ({ n }) => {
        await setImmediate();
        if (fails && n === 2) throw new DomainError('unavailable', 'The store is away.');
        view.see(n);
      }),
    );
    const numbers = Array.from({ length: 16 }, (_, n) => n);
    const published = await Promise.allSettled(numbers.map((n) => bus.publish(event, thing(event, n))));
    expect(published.flatMap(({ status }, n) => (status === 'rejected' ? [n] : []))).toEqual([2]);
    fails = false;
    await bus.idle();
    await clock.advance(100);
    await bus.publish(event, thing(event, 2));
    expect(view.seen.toSorted((a, b) => a - b)).toEqual(numbers);
    expect(bus.deadLetters()).toEqual([]);
    await bus.close();
  });

  it('keeps services apart: what a handler does to its data nobody else sees', async () => {
    const event = thingHappened('memory', ['one', 'two']);
    const { bus } = setUp();
    const view = sightings();
    await bus.consume(
      consumerOf(event, 0),
      eventHandler(event, (data) => {
        Object.assign(data, { n: 99 });
        return Promise.resolve();
      }),
    );
    await bus.consume(
      consumerOf(event, 1),
      eventHandler(event, ({ n }) => Promise.resolve(view.see(n))),
    );
    await bus.publish(event, thing(event, 1));
    expect(view.seen).toEqual([1]);
  });
});
