import { randomBytes } from 'node:crypto';
import { createServer, type Server, type Socket } from 'node:net';
import { systemClock } from '@bubbles/kernel/clock.ts';
import { expectEventually, sightings } from '@bubbles/testing/eventually.ts';
import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { SILENT_LOG } from '@bubbles/testing/http.ts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Channel } from 'amqplib';
import { z } from 'zod';
import { type AmqpEngine, startAmqpEngine } from '../../test/amqp-engine.ts';
import { describeAmqplibFaults } from '../../test/amqplib-faults.ts';
import { describeBrokerFaults } from '../../test/broker-faults.ts';
import { anEvent, consumerOf, publishUntilTaken, thingHappened } from '../../test/bus-events.ts';
import { describeFrozenAnswers } from '../../test/frozen-answers.ts';
import { describeRefusals } from '../../test/refusals.ts';
import { type Bus, eventHandler, queueName } from '../bus.ts';
import { redrive } from '../operations/dead-letters.ts';
import { deadQueueName, declareTopology, EVENTS_EXCHANGE } from '../operations/topology.ts';
import { createAmqpBus } from './amqp.ts';
import { openConnection } from './connection.ts';
import { createConsumer } from './consumer.ts';
import { QUEUES_CHECKED_MS } from './publisher.ts';

const BUS_UNAVAILABLE = { name: 'BusUnavailable' };

const listen = async (server: Server): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return typeof address === 'object' && address ? address.port : 0;
};

describe('the bus without its broker', () => {
  it('refuses at once, again and again, and closes', async () => {
    // A port that was given free may be given to somebody else meanwhile.
    const bus = createAmqpBus({ url: 'amqp://127.0.0.1:1', service: 'alone', clock: systemClock(), log: SILENT_LOG });
    const event = thingHappened('alone');
    await bus.consume(
      consumerOf(event),
      eventHandler(event, () => Promise.resolve()),
    );
    await bus.check([event]);
    expect(bus.state()).toEqual({
      isConnected: false,
      faults: [expect.stringMatching('^the broker at 127.0.0.1:1 is out of reach: .*ECONNREFUSED')],
      consumers: [{ consumer: consumerOf(event), type: event.type, isConsuming: false }],
    });
    for (let n = 0; n < 3; n += 1) await expect(bus.publish(event, anEvent(event, { n }))).rejects.toMatchObject(BUS_UNAVAILABLE);
    await bus.idle();
    await bus.close();
    await expect(bus.publish(event, anEvent(event, { n: 4 }))).rejects.toMatchObject(BUS_UNAVAILABLE);
  });

  it('closes without waiting for a broker that accepts and says nothing', async () => {
    const accepted = Promise.withResolvers<Socket>();
    const server = createServer(accepted.resolve);
    const bus = createAmqpBus({ url: `amqp://127.0.0.1:${await listen(server)}`, service: 'alone', clock: systemClock(), log: SILENT_LOG });
    const event = thingHappened('silent');
    const published = bus.publish(event, anEvent(event, { n: 1 }));
    const refused = expect(published).rejects.toMatchObject(BUS_UNAVAILABLE);
    const socket = await accepted.promise;
    await bus.close();
    await refused;
    socket.destroy();
    server.close();
  });
});

const EVENTS = {
  unroutable: thingHappened('unroutable'),
  deleted: thingHappened('deleted'),
  shared: thingHappened('shared', ['one', 'two']),
  doubleAck: thingHappened('double-ack'),
  lostChannel: thingHappened('lost-channel'),
  dead: thingHappened('dead'),
  killer: thingHappened('killer'),
  fast: { ...thingHappened('fast'), schema: z.object({ n: z.int(), filling: z.string() }) },
};

const describeRabbit = (url: string) =>
  describe('the bus on RabbitMQ', () => {
    let engine: AmqpEngine;
    beforeAll(async () => {
      engine = await startAmqpEngine(url, Object.values(EVENTS));
    });
    afterAll(() => engine.stop());

    const publishThings = async (bus: Bus, event: (typeof EVENTS)['dead'], numbers: readonly number[]) => {
      for (const n of numbers) await publishUntilTaken(bus, event, anEvent(event, { n }));
    };

    it('[F6] refuses an event that no queue takes any more', async () => {
      const event = EVENTS.unroutable;
      const bus = engine.connect();
      await bus.publish(event, anEvent(event, { n: 1 }));
      const channel = await engine.operator.createChannel();
      await channel.unbindQueue(queueName(consumerOf(event), event.type), EVENTS_EXCHANGE, event.type);
      await expect(bus.publish(event, anEvent(event, { n: 2 }))).rejects.toMatchObject(BUS_UNAVAILABLE);
      await channel.close();
    });

    it('[F6] notices within seconds that one of several queues was deleted, and keeps the event until it is there again', async () => {
      const event = EVENTS.shared;
      const clock = fakeClock(new Date());
      const bus = engine.connectWith({ clock });
      await bus.publish(event, anEvent(event, { n: 1 }));
      const channel = await engine.operator.createChannel();
      await channel.deleteQueue(queueName(consumerOf(event, 1), event.type));
      await clock.advance(QUEUES_CHECKED_MS);
      const second = anEvent(event, { n: 2 });
      await expect(bus.publish(event, second)).rejects.toMatchObject(BUS_UNAVAILABLE);
      expect(bus.state().faults).toEqual([expect.stringContaining(queueName(consumerOf(event, 1), event.type))]);
      await declareTopology({ url, definitions: [event], clock: systemClock() });
      await bus.publish(event, second);
      const counts = await Promise.all([0, 1].map((index) => channel.checkQueue(queueName(consumerOf(event, index), event.type))));
      expect(counts.map(({ messageCount }) => messageCount)).toEqual([2, 1]);
      expect(bus.state().faults).toEqual([]);
      await channel.close();
    });

    it('[F5] consumes again after its queue was deleted', async () => {
      const event = EVENTS.deleted;
      const bus = engine.connect();
      const view = sightings();
      await bus.consume(
        consumerOf(event),
        eventHandler(event, ({ n }) => Promise.resolve(view.see(n))),
      );
      await publishThings(bus, event, [1, 2]);
      await view.count(2);
      const channel = await engine.operator.createChannel();
      await channel.deleteQueue(queueName(consumerOf(event), event.type));
      await publishThings(bus, event, [3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
      await view.count(12);
      expect(view.seen).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
      await channel.close();
    });

    /** A consumer whose channels the test can reach. */
    const openConsumer = (event: (typeof EVENTS)['dead'], handle: (n: number) => Promise<void>) => {
      const shared = { clock: systemClock(), log: SILENT_LOG, jitter: () => 0 };
      const connection = openConnection({ ...shared, url, name: 'reachable' });
      const channels: Channel[] = [];
      const reachable = {
        ...connection,
        up: async () => {
          const model = await connection.up();
          const createChannel = model.createChannel.bind(model);
          model.createChannel = async () => {
            const channel = await createChannel();
            if (!channels.includes(channel)) channels.push(channel);
            return channel;
          };
          return model;
        },
      };
      const consumer = createConsumer({
        ...shared,
        consumer: consumerOf(event),
        eventHandler: eventHandler(event, ({ n }) => handle(n)),
        connection: reachable,
        publisher: { publish: () => Promise.resolve() },
        prefetch: 20,
      });
      const close = async () => {
        const deadline = AbortSignal.timeout(5000);
        await consumer.stop(deadline);
        await consumer.close(deadline);
        await connection.close();
      };
      return { channels, close };
    };

    it('[F12] consumes again after an acknowledgement that the broker did not expect', async () => {
      const event = EVENTS.doubleAck;
      const view = sightings();
      const { channels, close } = openConsumer(event, (n) => Promise.resolve(view.see(n)));
      const bus = engine.connect();
      await publishThings(bus, event, [1]);
      await view.count(1);
      const content = Buffer.alloc(0);
      const fields = { deliveryTag: 999_999, redelivered: false, exchange: '', routingKey: '' };
      channels.at(-1)?.ack({ content, fields, properties: { headers: {} } as never });
      await expectEventually(() => channels.length > 1);
      await publishThings(bus, event, [2, 3, 4]);
      await expectEventually(() => [2, 3, 4].every((n) => view.seen.includes(n)));
      expect(channels).toHaveLength(2);
      await close();
    });

    it('drops the answer to a message whose channel was lost meanwhile, and handles it again', async () => {
      const event = EVENTS.lostChannel;
      const [first, view] = [Promise.withResolvers<void>(), sightings()];
      const { channels, close } = openConsumer(event, async (n) => {
        view.see(n);
        if (view.seen.length === 1) await first.promise;
      });
      const bus = engine.connect();
      await publishThings(bus, event, [1]);
      await view.count(1);
      await channels.at(-1)?.close();
      await view.count(2);
      first.resolve();
      await publishThings(bus, event, [2]);
      await view.count(3);
      expect(view.seen).toEqual([1, 1, 2]);
      // The late answer would have cost the second channel too.
      expect(channels).toHaveLength(2);
      await close();
    });

    it('declares what is there already without a change', async () => {
      await expect(declareTopology({ url, definitions: [EVENTS.dead], clock: systemClock() })).resolves.toBeUndefined();
    });

    it('sends dead letters back as if they had never been delivered', async () => {
      const event = EVENTS.dead;
      const bus = engine.connect();
      const view = sightings();
      let mended = false;
      await bus.consume(
        consumerOf(event),
        eventHandler(event, async ({ n }) => {
          await Promise.resolve();
          if (!mended) throw new Error('broken');
          view.see(n);
        }),
      );
      await publishThings(bus, event, [1, 2]);
      const channel = await engine.operator.createChannel();
      const dead = deadQueueName(consumerOf(event));
      await expectEventually(async () => (await channel.checkQueue(dead)).messageCount === 2);
      mended = true;
      expect(await redrive({ url, consumer: consumerOf(event), limit: 1 })).toEqual({ moved: 1, kept: 0 });
      expect(await redrive({ url, consumer: consumerOf(event) })).toEqual({ moved: 1, kept: 0 });
      await view.count(2);
      expect(view.seen).toEqual([1, 2]);
      expect((await channel.checkQueue(dead)).messageCount).toBe(0);
      await channel.close();
    });

    it('[F11] handles one at a time the messages that two lost consumers had not acknowledged, and loses none', async () => {
      const event = EVENTS.killer;
      const bus = engine.connect();
      await publishThings(bus, event, [1, 2, 3, 4, 5]);
      for (let death = 0; death < 2; death += 1) {
        const channel = await engine.operator.createChannel();
        const view = sightings();
        await channel.consume(queueName(consumerOf(event), event.type), () => view.see(0));
        await view.count(5);
        await channel.close();
      }
      const handled = sightings();
      let [now, most] = [0, 0];
      await bus.consume(
        consumerOf(event),
        eventHandler(event, async ({ n }) => {
          now += 1;
          most = Math.max(most, now);
          await new Promise((resolve) => setImmediate(resolve));
          now -= 1;
          handled.see(n);
        }),
      );
      await handled.count(5);
      expect(most).toBe(1);
      expect(handled.seen.toSorted()).toEqual([1, 2, 3, 4, 5]);
      expect(await engine.deadLetters(consumerOf(event))).toEqual([]);
    });

    /** As long a system keeps the acknowledgement of a part back, for which a socket waits that gathers small writes. */
    const GATHERING_MS = 40;
    it('confirms 20 kB without gathering small writes', async () => {
      const event = EVENTS.fast;
      const bus = engine.connect();
      const timesOf = { small: [] as number[], large: [] as number[] };
      const fillings = { small: '', large: randomBytes(10_000).toString('hex') };
      for (let n = 0; n < 200; n += 1)
        for (const size of ['small', 'large'] as const) {
          const before = performance.now();
          await bus.publish(event, anEvent(event, { n, filling: fillings[size] }));
          timesOf[size].push(performance.now() - before);
        }
      // Whatever else keeps the machine and its disk: hardly any that needs several writes would be quicker.
      const quick = (times: readonly number[]) => times.toSorted((a, b) => a - b)[20] ?? Number.POSITIVE_INFINITY;
      expect(quick(timesOf.large) - quick(timesOf.small)).toBeLessThan(GATHERING_MS);
    });
  });

const url = process.env['AMQP_URL'];
if (url) describeRabbit(url);
if (url) describeRefusals(url);
if (url) describeFrozenAnswers(url);
if (url) describeAmqplibFaults(url);

const control = process.env['RABBITMQ_CONTROL'];
if (url && control) describeBrokerFaults(url, control);
