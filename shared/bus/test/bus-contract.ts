import { setTimeout as pause } from 'node:timers/promises';
import { DomainError } from '@bubbles/kernel/errors.ts';
import { currentTraceparent } from '@bubbles/kernel/trace.ts';
import { expectEventually, sightings } from '@bubbles/testing/eventually.ts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Bus, type CloudEvent, type EventDefinition, eventHandler } from '../src/bus.ts';
import { anEvent, consumerOf, publishUntilTaken, type Thing, thingHappened } from './bus-events.ts';

export interface DeadLetteredMessage {
  readonly reason: string;
  readonly body: string;
}

/** An engine with the queues of `definitions` declared. */
export interface BusEngine {
  /** The end of one service, closed by `stop` if not before. */
  connect(): Bus;
  deadLetters(consumer: string): Promise<readonly DeadLetteredMessage[]>;
  stop(): Promise<void>;
}

const unavailable = () => new DomainError('unavailable', 'The service is temporarily unavailable.');

const EVENTS = {
  delivery: thingHappened('delivery'),
  copies: thingHappened('copies', ['one', 'two']),
  shared: thingHappened('shared'),
  order: thingHappened('order'),
  fault: thingHappened('fault'),
  limit: thingHappened('limit'),
  unreadable: thingHappened('unreadable'),
  foreign: thingHappened('foreign'),
  trouble: thingHappened('trouble'),
  others: thingHappened('others', ['ill', 'well']),
  quiet: thingHappened('quiet'),
  closing: thingHappened('closing'),
  leaving: thingHappened('leaving'),
  closed: thingHappened('closed'),
};
const MISSING = thingHappened('missing', ['there', 'nobody']);
const OUTBOUND = thingHappened('outbound', []);

export const describeBus = (name: string, start: (definitions: readonly EventDefinition[]) => Promise<BusEngine>) => {
  describe(`Bus on ${name}`, () => {
    let engine: BusEngine;
    beforeAll(async () => {
      engine = await start([...Object.values(EVENTS), { ...MISSING, consumers: [consumerOf(MISSING)] }]);
    });
    afterAll(() => engine.stop());

    it('hands over what the schema has parsed, with its envelope and in its trace', async () => {
      const got = Promise.withResolvers<[Thing, CloudEvent<Thing>, string | null]>();
      const bus = engine.connect();
      await bus.consume(
        consumerOf(EVENTS.delivery),
        eventHandler(EVENTS.delivery, async (data, event) => got.resolve(await Promise.resolve([data, event, currentTraceparent()]))),
      );
      const event = anEvent(EVENTS.delivery, { n: 1, added: 'later' });
      const told = { ...event, subject: 'thing-1', traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-00` };
      await bus.publish(EVENTS.delivery, told);
      expect(await got.promise).toEqual([{ n: 1 }, { ...event, subject: 'thing-1' }, expect.stringMatching(/^00-a{32}-/)]);
    });

    it('gives each consumer of an event its own copy', async () => {
      const bus = engine.connect();
      const views = [sightings(), sightings()];
      for (const [index, view] of views.entries()) {
        await bus.consume(
          consumerOf(EVENTS.copies, index),
          eventHandler(EVENTS.copies, ({ n }) => Promise.resolve(view.see(n))),
        );
      }
      for (const n of [1, 2, 3]) await bus.publish(EVENTS.copies, anEvent(EVENTS.copies, { n }));
      await bus.idle();
      expect(views.map(({ seen }) => seen)).toEqual([
        [1, 2, 3],
        [1, 2, 3],
      ]);
    });

    it('shares one queue among those who consume it', async () => {
      const both = Promise.withResolvers<void>();
      const handled: [number, number][] = [];
      for (const replica of [0, 1]) {
        await engine.connect().consume(
          consumerOf(EVENTS.shared),
          eventHandler(EVENTS.shared, async ({ n }) => {
            handled.push([replica, n]);
            if (new Set(handled.map(([by]) => by)).size === 2) both.resolve();
            await both.promise;
          }),
        );
      }
      const bus = engine.connect();
      await Promise.all(Array.from({ length: 40 }, (_, n) => bus.publish(EVENTS.shared, anEvent(EVENTS.shared, { n }))));
      await both.promise;
      await expectEventually(() => handled.length === 40);
      expect(new Set(handled.map(([, n]) => n)).size).toBe(40);
    });

    it('begins to handle the events of one publisher in their order', async () => {
      const bus = engine.connect();
      const view = sightings();
      await bus.consume(
        consumerOf(EVENTS.order),
        eventHandler(EVENTS.order, ({ n }) => Promise.resolve(view.see(n))),
      );
      for (let n = 0; n < 200; n += 1) await bus.publish(EVENTS.order, anEvent(EVENTS.order, { n }));
      await view.count(200);
      expect(view.seen).toEqual(Array.from({ length: 200 }, (_, n) => n));
    });

    it('hands a message over again after a fault of the handler', async () => {
      const bus = engine.connect();
      const view = sightings();
      await bus.consume(
        consumerOf(EVENTS.fault),
        eventHandler(EVENTS.fault, async ({ n }) => {
          await Promise.resolve();
          view.see(n);
          if (view.seen.length < 4) throw new Error('a fault');
        }),
      );
      await bus.publish(EVENTS.fault, anEvent(EVENTS.fault, { n: 7 }));
      await view.count(4);
      await bus.idle();
      expect(view.seen).toEqual([7, 7, 7, 7]);
      expect(await engine.deadLetters(consumerOf(EVENTS.fault))).toEqual([]);
    });

    it('dead-letters a message after 20 redeliveries, with the reason, and goes on', async () => {
      const bus = engine.connect();
      const [bad, good] = [sightings(), sightings()];
      const told: string[] = [];
      const handler = eventHandler(EVENTS.limit, async ({ n }) => {
        await Promise.resolve();
        (n === 0 ? bad : good).see(n);
        if (n === 0) throw new Error('the handler cannot take this one');
      });
      await bus.consume(consumerOf(EVENTS.limit), {
        ...handler,
        onDelivery: (isRedelivery) => told.push(isRedelivery ? 'again' : 'first'),
        onDeadLetter: () => told.push('dead letter'),
      });
      const event = anEvent(EVENTS.limit, { n: 0 });
      await bus.publish(EVENTS.limit, event);
      await bus.publish(EVENTS.limit, anEvent(EVENTS.limit, { n: 1 }));
      await Promise.all([bad.count(21), good.count(1)]);
      await bus.idle();
      expect(told.toSorted()).toEqual([...Array(20).fill('again'), 'dead letter', 'first', 'first']);
      expect(await bus.deadLetterCounts()).toEqual(new Map([[consumerOf(EVENTS.limit), 1]]));
      const [letter, ...more] = await engine.deadLetters(consumerOf(EVENTS.limit));
      expect(more).toEqual([]);
      expect(letter?.reason).toBe('Error: the handler cannot take this one');
      expect(JSON.parse(letter?.body ?? '')).toEqual(event);
    });

    it('dead-letters at once what does not parse, with the name of the field and never its value', async () => {
      const bus = engine.connect();
      const view = sightings();
      await bus.consume(
        consumerOf(EVENTS.unreadable),
        eventHandler(EVENTS.unreadable, ({ n }) => Promise.resolve(view.see(n))),
      );
      await bus.publish(EVENTS.unreadable, anEvent(EVENTS.unreadable, { n: 'secret' }));
      await bus.publish(EVENTS.unreadable, anEvent(EVENTS.unreadable, { n: 2 }));
      await view.count(1);
      await bus.idle();
      const letters = await engine.deadLetters(consumerOf(EVENTS.unreadable));
      expect(letters.map(({ reason }) => reason)).toEqual([expect.stringMatching(/^data: n: /)]);
      expect(letters[0]?.reason).not.toContain('secret');
      expect(view.seen).toEqual([2]);
    });

    it('dead-letters a message whose type is not that of its queue', async () => {
      const bus = engine.connect();
      const view = sightings();
      await bus.consume(
        consumerOf(EVENTS.foreign),
        eventHandler(EVENTS.foreign, ({ n }) => Promise.resolve(view.see(n))),
      );
      await bus.publish(EVENTS.foreign, { ...anEvent(EVENTS.foreign, { n: 1 }), type: 'maker.other.happened.v1' });
      await bus.publish(EVENTS.foreign, anEvent(EVENTS.foreign, { n: 2 }));
      await view.count(1);
      await bus.idle();
      expect(await engine.deadLetters(consumerOf(EVENTS.foreign))).toHaveLength(1);
      expect(view.seen).toEqual([2]);
    });

    it("counts nothing while the trouble is the consumer's own", async () => {
      const bus = engine.connect();
      const view = sightings();
      await bus.consume(
        consumerOf(EVENTS.trouble),
        eventHandler(EVENTS.trouble, async ({ n }) => {
          await Promise.resolve();
          view.see(n);
          if (view.seen.length <= 30) throw unavailable();
        }),
      );
      await publishUntilTaken(bus, EVENTS.trouble, anEvent(EVENTS.trouble, { n: 1 }));
      await view.count(31);
      await bus.idle();
      expect(view.seen).toHaveLength(31);
      expect(await engine.deadLetters(consumerOf(EVENTS.trouble))).toEqual([]);
    });

    it('a consumer in trouble holds no other up', async () => {
      const bus = engine.connect();
      const [ill, well] = [sightings(), sightings()];
      let better = false;
      await bus.consume(
        consumerOf(EVENTS.others, 0),
        eventHandler(EVENTS.others, async ({ n }) => {
          await Promise.resolve();
          if (!better) throw unavailable();
          ill.see(n);
        }),
      );
      await bus.consume(
        consumerOf(EVENTS.others, 1),
        eventHandler(EVENTS.others, ({ n }) => Promise.resolve(well.see(n))),
      );
      const published = publishUntilTaken(bus, EVENTS.others, anEvent(EVENTS.others, { n: 1 }));
      await well.count(1);
      expect(ill.seen).toEqual([]);
      better = true;
      await published;
      await ill.count(1);
    });

    it('refuses an event while one of the consumers that it names has no queue', async () => {
      const bus = engine.connect();
      await bus.consume(
        consumerOf(MISSING),
        eventHandler(MISSING, () => Promise.resolve()),
      );
      await expect(bus.publish(MISSING, anEvent(MISSING, { n: 1 }))).rejects.toMatchObject({ name: 'BusUnavailable' });
    });

    it('takes an event that nobody consumes', async () => {
      await expect(engine.connect().publish(OUTBOUND, anEvent(OUTBOUND, { n: 1 }))).resolves.toBeUndefined();
    });

    it('is idle when everything published has been handled', async () => {
      const bus = engine.connect();
      const view = sightings();
      await bus.consume(
        consumerOf(EVENTS.quiet),
        eventHandler(EVENTS.quiet, async ({ n }) => {
          await pause(1);
          view.see(n);
        }),
      );
      const published = Array.from({ length: 50 }, (_, n) => bus.publish(EVENTS.quiet, anEvent(EVENTS.quiet, { n })));
      await Promise.all(published);
      await bus.idle();
      expect(view.seen).toHaveLength(50);
    });

    it('closes when its handlers have ended, and publishes nothing afterwards', async () => {
      const bus = engine.connect();
      const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const order: string[] = [];
      await bus.consume(
        consumerOf(EVENTS.closing),
        eventHandler(EVENTS.closing, async () => {
          begun.resolve();
          await end.promise;
          order.push('handled');
        }),
      );
      const published = engine.connect().publish(EVENTS.closing, anEvent(EVENTS.closing, { n: 1 }));
      await begun.promise;
      const closed = bus.close().then(() => order.push('closed'));
      end.resolve();
      await Promise.all([closed, published]);
      expect(order).toEqual(['handled', 'closed']);
      await expect(bus.publish(EVENTS.closing, anEvent(EVENTS.closing, { n: 2 }))).rejects.toMatchObject({ name: 'BusUnavailable' });
    });

    it('one end that closes leaves the others as they are', async () => {
      const [leaving, staying] = [engine.connect(), engine.connect()];
      const [left, stayed] = [sightings(), sightings()];
      await leaving.consume(
        consumerOf(EVENTS.leaving),
        eventHandler(EVENTS.leaving, ({ n }) => Promise.resolve(left.see(n))),
      );
      await staying.consume(
        consumerOf(EVENTS.leaving),
        eventHandler(EVENTS.leaving, ({ n }) => Promise.resolve(stayed.see(n))),
      );
      await leaving.close();
      for (const n of [1, 2, 3]) await staying.publish(EVENTS.leaving, anEvent(EVENTS.leaving, { n }));
      await stayed.count(3);
      expect(left.seen).toEqual([]);
      expect(stayed.seen).toEqual([1, 2, 3]);
    });
  });
};
