import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type Clock, systemClock } from '@bubbles/kernel/clock.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import { expectEventually } from '@bubbles/testing/eventually.ts';
import { memoryLog } from '@bubbles/testing/memory-log.ts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Bus, type EventDefinition, eventHandler } from '../src/bus.ts';
import { type AmqpEngine, startAmqpEngine } from './amqp-engine.ts';
import { anEvent, consumerOf, publishUntilTaken, thingHappened } from './bus-events.ts';

const EVENTS = {
  crash: thingHappened('crash'),
  restart: thingHappened('restart'),
  blocked: thingHappened('blocked'),
  full: thingHappened('full'),
  takenBack: thingHappened('taken-back'),
  held: thingHappened('held'),
};
const MESSAGES = 2000;
const PUBLISHERS = 64;

/** What a bus survives, on a broker that `control` may kill: `engines.sh` or something that takes the same commands. */
export const describeBrokerFaults = (url: string, control: string) =>
  describe('the bus while its broker fails', () => {
    const run = promisify(execFile);
    // A URL in its environment would mean a broker that is not its own.
    const order = (...words: readonly string[]) => run(control, words, { env: { ...process.env, AMQP_URL: '' } });
    let engine: AmqpEngine;
    beforeAll(async () => {
      engine = await startAmqpEngine(url, Object.values(EVENTS));
    });
    afterAll(() => engine.stop());

    /** Publishes numbers from 0 on as many outboxes would, and answers how often each was handled. */
    const carry = async (
      bus: Bus,
      event: EventDefinition<{ n: number }>,
      at: { readonly count: number; readonly disturb: () => Promise<void> },
    ) => {
      const handled = new Map<number, number>();
      await bus.consume(
        consumerOf(event),
        eventHandler(event, ({ n }) => {
          handled.set(n, (handled.get(n) ?? 0) + 1);
          return Promise.resolve();
        }),
      );
      let next = 0;
      const publishing = Array.from({ length: PUBLISHERS }, async () => {
        for (let n = next++; n < MESSAGES; n = next++) await publishUntilTaken(bus, event, anEvent(event, { n }, `message-${n}`));
      });
      await expectEventually(() => handled.size >= at.count);
      await at.disturb();
      await Promise.all(publishing);
      await expectEventually(() => handled.size === MESSAGES);
      return handled;
    };

    it('[F1] loses nothing and dead-letters nothing when the broker is killed under load', async () => {
      const killAndStart = async () => {
        await order('signal', 'broker', 'KILL');
        await order('up');
      };
      const handled = await carry(engine.connectWith({ jitter: () => 0.2 }), EVENTS.crash, { count: 300, disturb: killAndStart });
      expect(handled.size).toBe(MESSAGES);
      expect(await readDead(EVENTS.crash)).toEqual([]);
    });

    it('[F2] loses nothing when the broker is stopped and started in good order', async () => {
      const stopAndStart = async () => {
        await order('ctl', 'stop_app');
        await order('ctl', 'start_app');
      };
      const handled = await carry(engine.connectWith({ jitter: () => 0.2 }), EVENTS.restart, { count: 300, disturb: stopAndStart });
      expect(handled.size).toBe(MESSAGES);
      expect(await readDead(EVENTS.restart)).toEqual([]);
    });

    it('[F4] keeps messages back while the broker accepts none, and goes on consuming', async () => {
      const event = EVENTS.blocked;
      const bus = engine.connect();
      const handled: number[] = [];
      await bus.consume(
        consumerOf(event),
        eventHandler(event, ({ n }) => {
          handled.push(n);
          return Promise.resolve();
        }),
      );
      await bus.publish(event, anEvent(event, { n: 0 }));
      await order('ctl', 'set_vm_memory_high_watermark', '0.00001');
      // The broker stops reading when the first of them comes; it waits, unconfirmed.
      const waiting = Array.from({ length: 20 }, (_, index) => publishUntilTaken(bus, event, anEvent(event, { n: index + 1 })));
      await expectEventually(async () => (await tryToPublish(bus, event)) === 'BusUnavailable: the broker takes no messages');
      await order('ctl', 'set_vm_memory_high_watermark', '0.4');
      await Promise.all(waiting);
      await bus.idle();
      expect(new Set(handled)).toEqual(new Set(Array.from({ length: 21 }, (_, n) => n)));
    });

    it('refuses what a full queue does not accept, and loses nothing that it accepted', async () => {
      const event = EVENTS.full;
      const bus = engine.connect();
      const pattern = `^${consumerOf(event)}\\.maker`;
      await order('ctl', 'set_policy', 'full', pattern, '{"max-length": 10}', '--apply-to', 'queues');
      let taken = 0;
      const fill = async () => {
        for (; taken < 1000; taken += 1) await bus.publish(event, anEvent(event, { n: taken }));
      };
      await expect(fill()).rejects.toMatchObject({ name: 'BusUnavailable' });
      const handled = new Set<number>();
      await bus.consume(
        consumerOf(event),
        eventHandler(event, ({ n }) => {
          handled.add(n);
          return Promise.resolve();
        }),
      );
      await bus.idle();
      expect(handled.size).toBe(taken);
      await order('ctl', 'clear_policy', 'full');
    });

    describe('with a short `consumer_timeout`', () => {
      const setTimes = (consumerTimeoutMs: number, tickMs: number) =>
        order(
          'ctl',
          'eval',
          `application:set_env(rabbit, consumer_timeout, ${consumerTimeoutMs}), application:set_env(rabbit, channel_tick_interval, ${tickMs}).`,
        );
      afterAll(() => setTimes(1_800_000, 60_000));

      /** A consumer whose handler is unavailable until `recover`. */
      const unavailableConsumer = async (event: (typeof EVENTS)['held'], clock: Clock) => {
        const log = memoryLog();
        const bus = engine.connectWith({ log, clock, jitter: () => 0.02, confirmLimitMs: Number.MAX_SAFE_INTEGER });
        const handled: number[] = [];
        let away = true;
        let tries = 0;
        await bus.consume(
          consumerOf(event),
          eventHandler(event, async ({ n }) => {
            await Promise.resolve();
            tries += 1;
            if (away) throw new DomainError('unavailable', 'The store is away.');
            handled.push(n);
          }),
        );
        const numbers = Array.from({ length: 30 }, (_, n) => n);
        for (const n of numbers) await publishUntilTaken(engine.connect(), event, anEvent(event, { n }));
        const takenBack = () =>
          log.lines.filter(({ message }) => message === 'broker closed a channel' || message === 'consumer lost its queue').length;
        const recover = async () => {
          away = false;
          await expectEventually(() => new Set(handled).size === numbers.length);
          await bus.idle();
          expect(await readDead(event)).toEqual([]);
        };
        return { takenBack, recover, tries: () => tries };
      };

      it('[F13] recovers by itself, however often the broker took its unacknowledged messages back', async () => {
        await setTimes(1500, 200);
        const consumer = await unavailableConsumer(EVENTS.takenBack, systemClock());
        await expectEventually(() => consumer.takenBack() >= 2);
        await consumer.recover();
      });

      it('[F13] is not counted as a fault, however long it is unavailable', async () => {
        // Many times as long as a message is kept, so that a process that stands still for a moment is not what loses it.
        await setTimes(5000, 200);
        // The ten minutes for which a message is kept pass in half a second.
        const fast = { ...systemClock(), monotonic: () => performance.now() * 1200 };
        const consumer = await unavailableConsumer(EVENTS.held, fast);
        const since = performance.now();
        await expectEventually(() => performance.now() - since > 9000);
        expect(consumer.takenBack()).toBe(0);
        expect(consumer.tries()).toBeGreaterThan(100);
        await consumer.recover();
      });
    });

    /** On a connection of its own: that of the operator does not survive a crash of the broker. */
    const readDead = async (event: EventDefinition) => {
      const fresh = await startAmqpEngine(url, [event]);
      const letters = await fresh.deadLetters(consumerOf(event));
      await fresh.stop();
      return letters;
    };
  });

const tryToPublish = async (bus: Bus, event: EventDefinition): Promise<string> => {
  try {
    await Promise.race([bus.publish(event, anEvent(event, { n: 0 })), new Promise((resolve) => setTimeout(resolve, 200))]);
    return 'taken';
  } catch (error) {
    return Error.isError(error) ? `${error.name}: ${error.message}` : 'failed';
  }
};
