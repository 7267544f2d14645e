import { EventEmitter } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import type { ChannelModel } from 'amqplib';
import { consumerOf, thingHappened } from '../testing/bus-events.ts';
import { fakeClock } from '../testing/fake-clock.ts';
import { SILENT_LOG } from '../testing/http.ts';
import { amqpConsumer } from './amqp-consumer.ts';
import { subscription } from './bus.ts';

type Receive = (message: null) => void;

/** A broker that can lose the queue, and be unable to declare it again. */
const fakeBroker = () => {
  const state = { queueIsThere: true, declares: true, mostChannels: 2 };
  const consuming = new Set<Receive>();
  let open = 0;
  const createChannel = () => {
    if (open === state.mostChannels) return Promise.reject(new Error('No channels left to allocate'));
    open += 1;
    let isOpen = true;
    const close = () => {
      if (!isOpen) return Promise.reject(new Error('Channel closed'));
      isOpen = false;
      open -= 1;
      channel.emit('close');
      return Promise.resolve();
    };
    const refuse = async () => {
      await close();
      throw new Error('Channel closed by server.');
    };
    const assertQueue = () => {
      if (!state.declares) return refuse();
      state.queueIsThere = true;
      return Promise.resolve();
    };
    const channel = Object.assign(new EventEmitter(), {
      prefetch: () => Promise.resolve(),
      consume(_queue: string, receive: Receive) {
        if (!state.queueIsThere) return refuse();
        consuming.add(receive);
        return Promise.resolve({ consumerTag: 'tag' });
      },
      cancel: () => Promise.resolve(),
      assertQueue,
      bindQueue: () => Promise.resolve(),
      close,
    });
    return Promise.resolve(channel);
  };
  const loseQueue = () => {
    state.queueIsThere = false;
    for (const receive of consuming) receive(null);
    consuming.clear();
  };
  // Only this is called.
  const model = { createChannel } as unknown as ChannelModel;
  return { state, model, loseQueue, consumers: () => consuming.size, open: () => open };
};

const setUp = () => {
  const broker = fakeBroker();
  const reached = Promise.withResolvers<ChannelModel>();
  const clock = fakeClock();
  const event = thingHappened('lost');
  const consumer = amqpConsumer({
    subscription: subscription(consumerOf(event), event, () => Promise.resolve()),
    connection: {
      up: () => reached.promise,
      onDown: () => undefined,
      isBlocked: () => false,
      close: () => Promise.resolve(),
    },
    deadLetters: { bury: () => Promise.resolve() },
    clock,
    log: SILENT_LOG,
    jitter: () => 1,
    prefetch: 20,
  });
  const backOff = async () => {
    await clock.advance(5000);
    await setImmediate();
  };
  const connect = async () => {
    reached.resolve(broker.model);
    await setImmediate();
  };
  return { ...broker, consumer, connect, backOff };
};

const connected = async () => {
  const world = setUp();
  await world.connect();
  return world;
};

describe('the consumer of a queue that is lost', () => {
  it('[DLV-05] declares it again, however often that fails', async () => {
    const { state, loseQueue, consumers, backOff, open } = await connected();
    expect([consumers(), open()]).toEqual([1, 1]);
    state.declares = false;
    loseQueue();
    for (let failures = 0; failures < 3; failures += 1) await backOff();
    expect([consumers(), open()]).toEqual([0, 0]);
    state.declares = true;
    await backOff();
    expect([consumers(), open()]).toEqual([1, 1]);
  });

  it('[DLV-05] leaves no channel behind that it could not begin with', async () => {
    const { state, loseQueue, consumers, backOff, open } = await connected();
    state.mostChannels = 1;
    loseQueue();
    for (let failures = 0; failures < 3; failures += 1) await backOff();
    expect(open()).toBe(0);
    state.mostChannels = 2;
    await backOff();
    expect([consumers(), open()]).toEqual([1, 1]);
  });

  it('[DLV-05] needs no declaration where somebody else has made it', async () => {
    const { state, loseQueue, consumers, backOff } = await connected();
    state.declares = false;
    loseQueue();
    await backOff();
    state.queueIsThere = true;
    await backOff();
    expect(consumers()).toBe(1);
  });
});

describe('a consumer that is stopped', () => {
  it('[DLV-05] takes nothing when the broker is reached after that, and leaves no channel behind', async () => {
    const { consumer, connect, consumers, open } = setUp();
    await consumer.stop(new AbortController().signal);
    await connect();
    expect([consumers(), open()]).toEqual([0, 0]);
  });
});
