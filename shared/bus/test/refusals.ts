import { systemClock } from '@bubbles/kernel/clock.ts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventHandler, queueName } from '../src/bus.ts';
import { deadQueueName, declareTopology } from '../src/operations/topology.ts';
import { type AmqpEngine, startAmqpEngine } from './amqp-engine.ts';
import { anEvent, consumerOf, publishUntilTaken, thingHappened } from './bus-events.ts';

const EVENTS = { declared: thingHappened('declared'), undeclared: thingHappened('undeclared') };

const changed = (url: string, change: (address: URL) => void): string => {
  const address = new URL(url);
  change(address);
  return address.href;
};

/** A broker that refuses the service, or whose topology is of another release. */
export const describeRefusals = (url: string): void =>
  describe('a broker that refuses the service', () => {
    const { declared, undeclared } = EVENTS;
    let engine: AmqpEngine;
    beforeAll(async () => {
      engine = await startAmqpEngine(url, [declared]);
    });
    afterAll(async () => {
      const channel = await engine.operator.createChannel();
      const queue = queueName(consumerOf(undeclared), undeclared.type);
      for (const each of [queue, deadQueueName(consumerOf(undeclared))]) await channel.deleteQueue(each);
      await engine.stop();
    });
    const { host } = new URL(url);
    const wrongPassword = changed(url, (address) => Object.assign(address, { username: 'guest', password: 'wrong' }));
    const wrongVhost = changed(url, (address) => Object.assign(address, { pathname: '/nowhere' }));

    it.each([
      [`the broker at ${host} refuses the user or the password`, wrongPassword],
      [`the broker at ${host} has no vhost 'nowhere', or this user may not use it`, wrongVhost],
    ])('does not start, and says that %s', async (fault, refused) => {
      const bus = engine.connectWith({ url: refused });
      await expect(bus.check([])).rejects.toMatchObject({ name: 'StartupError', message: `AMQP_URL: ${fault}.` });
      expect(bus.state()).toMatchObject({ isConnected: false, faults: [fault] });
      await expect(bus.publish(declared, anEvent(declared, { n: 1 }))).rejects.toMatchObject({ name: 'BusUnavailable' });
    });

    it('finds nothing wrong with the topology of this release', async () => {
      const bus = engine.connect();
      await bus.check([declared]);
      await bus.publish(declared, anEvent(declared, { n: 1 }));
      expect(bus.state()).toMatchObject({ faults: [] });
    });

    it('names the queue that an older topology lacks, and goes on once the job has run', async () => {
      const bus = engine.connect();
      const queue = queueName(consumerOf(undeclared), undeclared.type);
      await expect(bus.check([undeclared])).rejects.toMatchObject({
        name: 'StartupError',
        message: `The broker lacks the queue ${queue}: run the topology job of this release, then start again.`,
      });
      const handled = Promise.withResolvers<number>();
      await bus.consume(
        consumerOf(undeclared),
        eventHandler(undeclared, ({ n }) => Promise.resolve(handled.resolve(n))),
      );
      await expect(bus.publish(undeclared, anEvent(undeclared, { n: 1 }))).rejects.toMatchObject({
        message: `the queue ${queue} is missing`,
      });
      expect(bus.state()).toMatchObject({
        isConnected: true,
        faults: [`the broker lacks the queue ${queue}: run the topology job of this release`],
        consumers: [{ consumer: consumerOf(undeclared), isConsuming: false }],
      });
      await declareTopology({ url, definitions: [undeclared], clock: systemClock() });
      await publishUntilTaken(bus, undeclared, anEvent(undeclared, { n: 2 }));
      expect(await handled.promise).toBe(2);
      expect(bus.state()).toMatchObject({ faults: [], consumers: [{ isConsuming: true }] });
    });
  });
