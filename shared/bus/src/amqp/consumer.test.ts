import { EventEmitter } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { DomainError } from '@bubbles/kernel/errors.ts';
import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { SILENT_LOG } from '@bubbles/testing/http.ts';
import { describe, expect, it } from '@jest/globals';
import type { ChannelModel, ConsumeMessage } from 'amqplib';
import { anEvent, consumerOf, thingHappened } from '../../test/bus-events.ts';
import { eventHandler } from '../bus.ts';
import { EVENTS_EXCHANGE } from '../operations/topology.ts';
import { createConsumer } from './consumer.ts';

type Receive = (message: ConsumeMessage | null) => void;

// The rest of a message is not looked at.
const UNREADABLE = {
  content: Buffer.from('unreadable'),
  fields: { deliveryTag: 1 },
  properties: { headers: {} },
} as unknown as ConsumeMessage;

const EVENT = thingHappened('lost');
const READABLE: ConsumeMessage = { ...UNREADABLE, content: Buffer.from(JSON.stringify(anEvent(EVENT, { n: 1 }))) };

/** What the broker lets happen, and what came of it. */
const brokerState = () => ({
  queueIsThere: true,
  declares: true,
  mostChannels: 2,
  beforeConsuming: () => Promise.resolve(),
  /** Called while the broker's answer to `consume` is on its way. */
  onConsume: (_receive: Receive) => undefined as unknown,
  declarations: 0,
  consumptions: 0,
  answers: 0,
  consuming: new Set<Receive>(),
  /** Ends each channel that is open. */
  open: new Set<() => void>(),
});

/** The part of a channel that a consumer uses. */
const fakeChannel = (state: ReturnType<typeof brokerState>) => {
  const receives = new Set<Receive>();
  let closing = false;
  const end = () => {
    state.open.delete(end);
    for (const receive of receives) state.consuming.delete(receive);
    channel.emit('close');
  };
  state.open.add(end);
  const refuse = () => {
    end();
    return Promise.reject(Object.assign(new Error('Channel closed by server.'), { code: 404 }));
  };
  const channel = Object.assign(new EventEmitter(), {
    prefetch: () => state.beforeConsuming(),
    consume(_queue: string, receive: Receive) {
      if (!state.queueIsThere) return refuse();
      state.consumptions += 1;
      receives.add(receive);
      state.consuming.add(receive);
      state.onConsume(receive);
      return Promise.resolve({ consumerTag: 'tag' });
    },
    cancel: () => Promise.resolve(),
    assertQueue() {
      if (!state.declares) return refuse();
      state.queueIsThere = true;
      return Promise.resolve();
    },
    bindQueue(_queue: string, exchange: string) {
      if (exchange === EVENTS_EXCHANGE) state.declarations += 1;
      return Promise.resolve();
    },
    ack() {
      if (closing) throw new Error('Channel closing');
      state.answers += 1;
    },
    async close() {
      if (!state.open.has(end)) throw new Error('Channel closed');
      closing = true;
      await setImmediate();
      end();
    },
  });
  return channel;
};

/** A broker that can lose the queue, and be unable to declare it again. */
const fakeBroker = () => {
  const state = brokerState();
  const createChannel = () =>
    state.open.size === state.mostChannels
      ? Promise.reject(new Error('No channels left to allocate'))
      : Promise.resolve(fakeChannel(state));
  const loseQueue = () => {
    state.queueIsThere = false;
    for (const receive of state.consuming) receive(null);
  };
  // Only this is called.
  const model = { createChannel } as unknown as ChannelModel;
  return { state, model, loseQueue };
};

const setUp = (handle = () => Promise.resolve()) => {
  const broker = fakeBroker();
  const reached = Promise.withResolvers<ChannelModel>();
  const deadLettered = Promise.withResolvers<void>();
  const clock = fakeClock();
  const event = EVENT;
  const consumer = createConsumer({
    consumer: consumerOf(event),
    eventHandler: eventHandler(event, handle),
    connection: {
      up: () => reached.promise,
      onDown: () => undefined,
    },
    publisher: { publish: () => deadLettered.promise },
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
    for (let turn = 0; turn < 3; turn += 1) await setImmediate();
  };
  const standing = () => ({ consumers: broker.state.consuming.size, channels: broker.state.open.size });
  return { ...broker, consumer, connect, backOff, standing, endDeadLettering: deadLettered.resolve };
};

const connected = async (handle?: () => Promise<void>) => {
  const world = setUp(handle);
  await world.connect();
  return world;
};

const CONSUMES = { consumers: 1, channels: 1 };
const IS_GONE = { consumers: 0, channels: 0 };

describe('the consumer of a queue that is lost', () => {
  it('[DLV-05] declares it again, however often that fails', async () => {
    const { state, loseQueue, backOff, standing } = await connected();
    expect(standing()).toEqual(CONSUMES);
    state.declares = false;
    loseQueue();
    for (let failures = 0; failures < 3; failures += 1) await backOff();
    expect(standing()).toEqual(IS_GONE);
    state.declares = true;
    await backOff();
    expect(standing()).toEqual(CONSUMES);
  });

  it('[DLV-05] declares it once when it is lost, and not when only the channel is', async () => {
    const { state, loseQueue, backOff, standing } = await connected();
    const loseChannels = async () => {
      for (const end of state.open) end();
      await backOff();
    };
    await loseChannels();
    expect(state.declarations).toBe(0);
    loseQueue();
    await backOff();
    await loseChannels();
    expect(state.declarations).toBe(1);
    expect(standing()).toEqual(CONSUMES);
  });

  it('[DLV-05] leaves no channel behind that it could not begin with', async () => {
    const { state, loseQueue, backOff, standing } = await connected();
    state.mostChannels = 1;
    loseQueue();
    for (let failures = 0; failures < 3; failures += 1) await backOff();
    expect(standing()).toEqual(IS_GONE);
    state.mostChannels = 2;
    await backOff();
    expect(standing()).toEqual(CONSUMES);
  });

  it('[DLV-05] declares it again when it is lost between two modes', async () => {
    const { state, backOff, standing, endDeadLettering } = await connected();
    for (const receive of state.consuming) receive(UNREADABLE);
    state.queueIsThere = false;
    endDeadLettering();
    for (let turn = 0; turn < 2; turn += 1) await backOff();
    expect(state.declarations).toBe(1);
    expect(standing()).toEqual(CONSUMES);
  });

  it('[DLV-05] needs no declaration where somebody else has made it', async () => {
    const { state, loseQueue, backOff, standing } = await connected();
    state.declares = false;
    loseQueue();
    await backOff();
    state.queueIsThere = true;
    await backOff();
    expect(standing()).toEqual(CONSUMES);
  });
});

describe('a consumer that is stopped', () => {
  it('[DLV-05] takes nothing when the broker is reached after that, and leaves no channel behind', async () => {
    const { state, consumer, connect, standing } = setUp();
    await consumer.stop(AbortSignal.abort());
    await connect();
    expect(state.consumptions).toBe(0);
    expect(standing()).toEqual(IS_GONE);
  });

  it('[DLV-05] leaves no channel behind when it was about to consume', async () => {
    const { state, consumer, connect, standing } = setUp();
    state.beforeConsuming = () => consumer.stop(AbortSignal.abort());
    await connect();
    expect(standing()).toEqual(IS_GONE);
  });

  it('[DLV-05] acknowledges a message that came while it was about to consume, and closes the channel after that', async () => {
    const { state, consumer, connect, standing, endDeadLettering } = setUp();
    state.onConsume = (receive) => {
      receive(UNREADABLE);
      void consumer.stop(new AbortController().signal);
    };
    await connect();
    endDeadLettering();
    await setImmediate();
    await setImmediate();
    expect(state.answers).toBe(1);
    expect(standing()).toEqual(IS_GONE);
  });

  it('[DLV-05] answers nothing any more when it is closed before its handlers have ended', async () => {
    const { state, consumer, endDeadLettering } = await connected();
    for (const receive of state.consuming) receive(UNREADABLE);
    await consumer.stop(AbortSignal.abort());
    const closed = consumer.close(new AbortController().signal);
    endDeadLettering();
    await closed;
    expect(state.answers).toBe(0);
  });
});

describe('the state of a consumer', () => {
  it('is not consuming from the time on that what its handler needs is away, also while it tries again', async () => {
    const tries = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
    let begun = 0;
    const { state, consumer, backOff } = await connected(() => {
      begun += 1;
      return tries[begun === 1 ? 0 : 1].promise;
    });
    for (const receive of state.consuming) receive(READABLE);
    expect(consumer.state().isConsuming).toBe(true);
    tries[0].reject(new DomainError('unavailable', 'The store is away.'));
    for (let turn = 0; turn < 2; turn += 1) await backOff();
    expect([begun, consumer.state().isConsuming]).toEqual([2, false]);
    tries[1].resolve();
    await backOff();
    expect(consumer.state().isConsuming).toBe(true);
  });
});
