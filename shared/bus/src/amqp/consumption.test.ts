import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { aMessage, startConsumption } from '../../test/fake-consumption.ts';

/** Consumption that takes as many messages as it may. */
const prefetchingWorld = async () => {
  const world = startConsumption();
  await world.consumption.start();
  world.deliver(aMessage(1));
  await world.end(1);
  world.calls.length = 0;
  return world;
};

describe('consumption', () => {
  it('begins with one message at a time and prefetches after one that is no suspect', async () => {
    const { consumption, calls, deliver, end } = startConsumption();
    await consumption.start();
    expect(calls).toEqual(['prefetch 1', 'consume q']);
    deliver(aMessage(1, 2));
    await end(1);
    expect(calls.splice(0)).toEqual(['prefetch 1', 'consume q', 'ack 1']);
    deliver(aMessage(2, 1));
    await end(2);
    expect(calls).toEqual(['ack 2', 'cancel tag-1', 'prefetch 20', 'consume q']);
  });

  it('handles a suspect last and alone, gives other suspects back, and goes on one at a time', async () => {
    const { calls, deliver, handling, end } = await prefetchingWorld();
    for (const message of [aMessage(2), aMessage(3, 2), aMessage(4), aMessage(5, 7)]) deliver(message);
    await setImmediate();
    expect([...handling.keys()]).toEqual([2, 4]);
    await end(2);
    expect([...handling.keys()]).toEqual([4]);
    await end(4);
    expect([...handling.keys()]).toEqual([3]);
    expect(calls.splice(0)).toEqual(['cancel tag-2', 'nack 5 true', 'ack 2', 'ack 4']);
    await end(3);
    expect(calls).toEqual(['ack 3', 'prefetch 1', 'consume q']);
  });

  it('does not prefetch after one that its handler failed on', async () => {
    const { consumption, calls, deliver, end } = startConsumption();
    await consumption.start();
    deliver(aMessage(1));
    await end(1, 'reject');
    expect(calls).toEqual(['prefetch 1', 'consume q', 'reject 1 true']);
  });

  it('returns what its handler failed on, and keeps what has to wait', async () => {
    const { consumption, calls, deliver, handling, end, backoff } = await prefetchingWorld();
    deliver(aMessage(2));
    deliver(aMessage(3));
    await end(2, 'reject');
    backoff.on = true;
    await end(3, 'wait');
    deliver(aMessage(4));
    expect(handling.size).toBe(0);
    expect(calls).toEqual(['reject 2 true']);
    backoff.on = false;
    consumption.resume();
    expect([...handling.keys()]).toEqual([3, 4]);
  });

  it('answers nothing on a channel that is gone', async () => {
    const { channel, calls, deliver, end } = await prefetchingWorld();
    deliver(aMessage(2));
    channel.emit('close');
    await end(2);
    expect(calls).toEqual([]);
  });

  it('answers nothing on a channel that goes while it switches', async () => {
    const { channel, calls, deliver, handling, end } = await prefetchingWorld();
    for (const message of [aMessage(2), aMessage(3, 2)]) deliver(message);
    await setImmediate();
    channel.emit('close');
    await end(2);
    expect([...handling.keys()]).toEqual([]);
    expect(calls).toEqual(['cancel tag-2']);
  });

  it('begins nothing of a channel that is gone, and is silent also when it is stopped after that', async () => {
    const { channel, consumption, calls, deliver, handling, end, backoff } = await prefetchingWorld();
    deliver(aMessage(2));
    backoff.on = true;
    deliver(aMessage(3));
    channel.emit('close');
    backoff.on = false;
    consumption.resume();
    expect([...handling.keys()]).toEqual([2]);
    await consumption.stop();
    await end(2);
    expect(calls).toEqual([]);
  });

  it('answers nothing on a channel that is being closed, and goes on handling what it has begun', async () => {
    const { channel, consumption, calls, deliver, end, running } = await prefetchingWorld();
    deliver(aMessage(2));
    consumption.close();
    void channel.close();
    await end(2);
    expect(calls).toEqual(['close']);
    expect(running.size()).toBe(0);
  });

  it('gives up a channel on which it cannot switch, with what is unacknowledged', async () => {
    const { state, calls, deliver, end, running } = await prefetchingWorld();
    state.failsCancel = true;
    deliver(aMessage(2));
    deliver(aMessage(3, 2));
    await setImmediate();
    await end(2);
    expect(calls).toEqual(['cancel tag-2', 'close']);
    expect(running.size()).toBe(0);
  });

  it('lets go of the channel when the broker ends the consumer', async () => {
    const { calls, deliver, end, cancellations } = await prefetchingWorld();
    deliver(aMessage(2));
    deliver(null);
    await end(2);
    expect(calls).toEqual(['close']);
    expect(cancellations()).toBe(1);
  });

  it('stops with a cancel, begins nothing more and answers what is being handled', async () => {
    const { consumption, calls, deliver, handling, end } = await prefetchingWorld();
    deliver(aMessage(2));
    await consumption.stop();
    deliver(aMessage(3));
    expect([...handling.keys()]).toEqual([2]);
    await end(2);
    expect(calls).toEqual(['cancel tag-2', 'ack 2']);
  });

  it('does not prefetch once it is stopped', async () => {
    const { consumption, calls, deliver, end } = startConsumption();
    await consumption.start();
    deliver(aMessage(1));
    await consumption.stop();
    await end(1);
    expect(calls).toEqual(['prefetch 1', 'consume q', 'cancel tag-1', 'ack 1']);
  });

  it('consumes no more when it is stopped while it switches', async () => {
    const { consumption, calls, deliver, end } = await prefetchingWorld();
    deliver(aMessage(2));
    deliver(aMessage(3, 2));
    const stopped = consumption.stop();
    await end(2);
    await stopped;
    expect(calls).toEqual(['cancel tag-2', 'ack 2']);
  });
});
