import { setImmediate } from 'node:timers/promises';
import { expectEventually, sightings } from '@bubbles/testing/eventually.ts';
import { type FreezingProxy, startFreezingProxy } from '@bubbles/testing/freezing-proxy.ts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventHandler, queueName } from '../src/bus.ts';
import { type AmqpEngine, startAmqpEngine } from './amqp-engine.ts';
import { anEvent, consumerOf, thingHappened } from './bus-events.ts';

/** What a consumer asks for on its way from one message at a time to prefetching, back over a suspect, and to prefetching again. */
const ANSWERS = [
  ...(['qos-ok', 'consume-ok'] as const).flatMap((method) => [1, 2, 3, 4].map((nth) => ({ method, nth }))),
  ...[1, 2, 3].map((nth) => ({ method: 'cancel-ok' as const, nth })),
].map((answer) => ({ ...answer, event: thingHappened(`frozen-${answer.method}-${answer.nth}`) }));

/** Its handler fails on it until the consumer has gone back to one message at a time because of it. */
const SUSPECT = 2;
const BACK_TO_ONE = 3;
/** The last switch is over a message that comes behind the suspect. */
const MOST_MORE = 500;

/** A broker that keeps back one answer and all that follows it, as one that is stopped midway. */
export const describeFrozenAnswers = (url: string) =>
  describe('a consumer whose broker is frozen before one of its answers', () => {
    let engine: AmqpEngine;
    let proxy: FreezingProxy;
    beforeAll(async () => {
      engine = await startAmqpEngine(
        url,
        ANSWERS.map(({ event }) => event),
      );
      proxy = await startFreezingProxy(url);
    });
    afterAll(async () => {
      await engine.stop();
      await proxy.close();
    });

    it.each(ANSWERS)('[DLV-05] consumes the queue once and keeps nothing: $method, number $nth', async ({ method, nth, event }) => {
      const frozen = proxy.freezeBefore(method, nth);
      const direct = engine.connect();
      const bus = engine.connectWith({ url: proxy.url, jitter: () => 0.1 });
      const view = sightings();
      await bus.consume(
        consumerOf(event),
        eventHandler(event, async ({ n }) => {
          await setImmediate();
          if (n === SUSPECT && proxy.consumptions() < BACK_TO_ONE) throw new Error('a fault');
          view.see(n);
        }),
      );
      let published = 0;
      const publish = async (count: number) => {
        for (let n = 0; n < count; n += 1) await direct.publish(event, anEvent(event, { n: published++ }));
      };
      await publish(3);
      for (let more = 0; more < MOST_MORE && !proxy.isFrozen(); more += 1) await publish(1);
      await frozen;
      await publish(5);
      if (method === 'consume-ok') await expectEventually(() => proxy.heldDeliveries() > 0);
      proxy.thaw();
      await expectEventually(() => new Set(view.seen).size === published);

      const channel = await engine.operator.createChannel();
      const queue = queueName(consumerOf(event), event.type);
      // None while it switches.
      let consumers = 0;
      while (consumers === 0) consumers = (await channel.checkQueue(queue)).consumerCount;
      expect(consumers).toBe(1);
      await publish(3);
      await expectEventually(() => new Set(view.seen).size === published);
      await bus.close();
      // What it had kept would be back.
      expect(await channel.checkQueue(queue)).toMatchObject({ messageCount: 0, consumerCount: 0 });
      expect(view.seen.toSorted((a, b) => a - b)).toEqual(Array.from({ length: published }, (_, n) => n));
      await channel.close();
    });
  });
