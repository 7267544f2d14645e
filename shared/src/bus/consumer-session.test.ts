import { EventEmitter } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import type { Channel, ConsumeMessage } from 'amqplib';
import { SILENT_LOG } from '../testing/http.ts';
import { consumerSession } from './consumer-session.ts';
import { inFlight } from './in-flight.ts';
import type { Verdict } from './message-judge.ts';

type Receive = (message: ConsumeMessage | null) => void;

/** The part of a channel that a session uses, with its calls written down. */
const fakeChannel = () => {
  const calls: string[] = [];
  const state: { receive: Receive; closing: boolean; failsCancel: boolean } = {
    receive: () => undefined,
    closing: false,
    failsCancel: false,
  };
  /** As the client does from when it asks the broker to close the channel. */
  const send = (call: string) => {
    if (state.closing) throw new Error('Channel closing');
    return calls.push(call);
  };
  const tagOf = ({ fields }: ConsumeMessage) => fields.deliveryTag;
  const channel = Object.assign(new EventEmitter(), {
    prefetch: (count: number) => Promise.resolve(calls.push(`prefetch ${count}`)),
    consume: (queue: string, receive: Receive) => {
      state.receive = receive;
      calls.push(`consume ${queue}`);
      return Promise.resolve({ consumerTag: 'tag' });
    },
    cancel: async (tag: string) => {
      send(`cancel ${tag}`);
      await Promise.resolve();
      if (state.failsCancel) throw new Error('No cancel.');
    },
    ack: (message: ConsumeMessage) => send(`ack ${tagOf(message)}`),
    reject: (message: ConsumeMessage, requeue: boolean) => send(`reject ${tagOf(message)} ${requeue}`),
    nack: (message: ConsumeMessage, _upTo: boolean, requeue: boolean) => send(`nack ${tagOf(message)} ${requeue}`),
    close: () => {
      send('close');
      state.closing = true;
      return Promise.resolve();
    },
  });
  // Only these are called.
  return { channel: channel as unknown as Channel, calls, state, deliver: (message: ConsumeMessage | null) => state.receive(message) };
};

const aMessage = (deliveryTag: number, deliveries = 0): ConsumeMessage =>
  // The rest of a message is not looked at.
  ({
    content: Buffer.from('{}'),
    fields: { deliveryTag, redelivered: deliveries > 0, exchange: '', routingKey: '', consumerTag: 'tag' },
    properties: { messageId: `m${deliveryTag}`, headers: { 'x-delivery-count': deliveries } },
  }) as unknown as ConsumeMessage;

const setUp = () => {
  const { channel, calls, state, deliver } = fakeChannel();
  const running = inFlight();
  const handling = new Map<number, (verdict: Verdict) => void>();
  const pause = { on: false };
  let cancelled = 0;
  const session = consumerSession({
    queue: 'q',
    channel,
    log: SILENT_LOG,
    prefetch: 20,
    pause: { isOn: () => pause.on, begin: () => undefined, forget: () => undefined },
    judge: (message) => new Promise((resolve) => handling.set(message.fields.deliveryTag, resolve)),
    running,
    onCancelled: () => {
      cancelled += 1;
    },
  });
  const end = async (tag: number, verdict: Verdict = 'ack') => {
    const resolve = handling.get(tag);
    handling.delete(tag);
    resolve?.(verdict);
    await setImmediate();
  };
  const cancellations = () => cancelled;
  return { session, channel, state, running, calls, deliver, handling, end, pause, cancellations };
};

/** A session at full pace. */
const atFullPace = async () => {
  const world = setUp();
  await world.session.start();
  world.deliver(aMessage(1));
  await world.end(1);
  world.calls.length = 0;
  return world;
};

describe('a consumer session', () => {
  it('begins with one message at a time and opens up after one that is not suspect', async () => {
    const { session, calls, deliver, end } = setUp();
    await session.start();
    expect(calls).toEqual(['prefetch 1', 'consume q']);
    deliver(aMessage(1, 2));
    await end(1);
    expect(calls.splice(0)).toEqual(['prefetch 1', 'consume q', 'ack 1']);
    deliver(aMessage(2, 1));
    await end(2);
    expect(calls).toEqual(['ack 2', 'cancel tag', 'prefetch 20', 'consume q']);
  });

  it('handles a suspect last and alone, gives other suspects back, and goes on one at a time', async () => {
    const { calls, deliver, handling, end } = await atFullPace();
    for (const message of [aMessage(2), aMessage(3, 2), aMessage(4), aMessage(5, 7)]) deliver(message);
    await setImmediate();
    expect([...handling.keys()]).toEqual([2, 4]);
    await end(2);
    expect([...handling.keys()]).toEqual([4]);
    await end(4);
    expect([...handling.keys()]).toEqual([3]);
    expect(calls.splice(0)).toEqual(['cancel tag', 'ack 2', 'ack 4', 'nack 5 true']);
    await end(3);
    expect(calls).toEqual(['ack 3', 'prefetch 1', 'consume q']);
  });

  it('does not open up after one that its handler failed on', async () => {
    const { session, calls, deliver, end } = setUp();
    await session.start();
    deliver(aMessage(1));
    await end(1, 'reject');
    expect(calls).toEqual(['prefetch 1', 'consume q', 'reject 1 true']);
  });

  it('returns what its handler failed on, and keeps what has to wait', async () => {
    const { session, calls, deliver, handling, end, pause } = await atFullPace();
    deliver(aMessage(2));
    deliver(aMessage(3));
    await end(2, 'reject');
    pause.on = true;
    await end(3, 'wait');
    deliver(aMessage(4));
    expect(handling.size).toBe(0);
    expect(calls).toEqual(['reject 2 true']);
    pause.on = false;
    session.resume();
    expect([...handling.keys()]).toEqual([3, 4]);
  });

  it('answers nothing on a channel that is gone', async () => {
    const { channel, calls, deliver, end } = await atFullPace();
    deliver(aMessage(2));
    channel.emit('close');
    await end(2);
    expect(calls).toEqual([]);
  });

  it('answers nothing on a channel that goes while it changes its pace', async () => {
    const { channel, calls, deliver, handling, end } = await atFullPace();
    for (const message of [aMessage(2), aMessage(3, 2), aMessage(4, 2)]) deliver(message);
    await setImmediate();
    channel.emit('close');
    await end(2);
    expect([...handling.keys()]).toEqual([]);
    expect(calls).toEqual(['cancel tag']);
  });

  it('begins nothing of a channel that is gone, and is silent also when it is stopped after that', async () => {
    const { channel, session, calls, deliver, handling, end, pause } = await atFullPace();
    deliver(aMessage(2));
    pause.on = true;
    deliver(aMessage(3));
    channel.emit('close');
    pause.on = false;
    session.resume();
    expect([...handling.keys()]).toEqual([2]);
    await session.stop();
    await end(2);
    expect(calls).toEqual([]);
  });

  it('answers nothing on a channel that is being closed, and goes on handling what it has begun', async () => {
    const { channel, session, calls, deliver, end, running } = await atFullPace();
    deliver(aMessage(2));
    session.end();
    void channel.close();
    await end(2);
    expect(calls).toEqual(['close']);
    expect(running.size()).toBe(0);
  });

  it('gives up a channel on which it cannot change its pace, with what is in hand', async () => {
    const { state, calls, deliver, end, running } = await atFullPace();
    state.failsCancel = true;
    deliver(aMessage(2));
    deliver(aMessage(3, 2));
    await setImmediate();
    await end(2);
    expect(calls).toEqual(['cancel tag', 'close']);
    expect(running.size()).toBe(0);
  });

  it('lets go of the channel when the broker ends the consumer', async () => {
    const { calls, deliver, end, cancellations } = await atFullPace();
    deliver(aMessage(2));
    deliver(null);
    await end(2);
    expect(calls).toEqual(['close']);
    expect(cancellations()).toBe(1);
  });

  it('stops with a cancel, begins nothing more and answers what is in hand', async () => {
    const { session, calls, deliver, handling, end } = await atFullPace();
    deliver(aMessage(2));
    await session.stop();
    deliver(aMessage(3));
    expect([...handling.keys()]).toEqual([2]);
    await end(2);
    expect(calls).toEqual(['cancel tag', 'ack 2']);
  });

  it('opens up no more once it is stopped', async () => {
    const { session, calls, deliver, end } = setUp();
    await session.start();
    deliver(aMessage(1));
    await session.stop();
    await end(1);
    expect(calls).toEqual(['prefetch 1', 'consume q', 'cancel tag', 'ack 1']);
  });

  it('consumes no more when it is stopped while it changes its pace', async () => {
    const { session, calls, deliver, end } = await atFullPace();
    deliver(aMessage(2));
    deliver(aMessage(3, 2));
    await session.stop();
    await end(2);
    expect(calls).toEqual(['cancel tag', 'cancel tag', 'ack 2']);
  });
});
