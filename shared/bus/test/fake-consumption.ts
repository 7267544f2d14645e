import { EventEmitter } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { inFlight } from '@bubbles/kernel/concurrency.ts';
import { SILENT_LOG } from '@bubbles/testing/http.ts';
import type { Channel, ConsumeMessage } from 'amqplib';
import { createConsumption } from '../src/amqp/consumer.ts';
import type { Disposition } from '../src/amqp/message-handler.ts';

type Receive = (message: ConsumeMessage | null) => void;
type Answer = () => void;

const tagOf = ({ fields }: ConsumeMessage) => fields.deliveryTag;

/** The part of a channel that a consumer uses, which records its calls, and the broker behind it. */
const fakeChannel = () => {
  const calls: string[] = [];
  const consumers = new Map<string, Receive>();
  const state = { closing: false, failsCancel: false, frozenAt: '', frozen: null as Answer | null };
  let tags = 0;
  /** The client throws like this once it has asked the broker to close the channel. */
  const send = (call: string) => {
    if (state.closing) throw new Error('Channel closing');
    calls.push(call);
  };
  const answer = <T>(call: string, value: T, beforeIt: () => void = () => undefined): Promise<T> => {
    const { promise, resolve } = Promise.withResolvers<T>();
    const say = () => {
      beforeIt();
      resolve(value);
    };
    if (state.frozenAt === call) state.frozen = say;
    else say();
    if (state.frozenAt === call) state.frozenAt = '';
    return promise;
  };
  const channel = Object.assign(new EventEmitter(), {
    prefetch(count: number) {
      send(`prefetch ${count}`);
      return answer('prefetch', {});
    },
    consume(queue: string, receive: Receive) {
      send(`consume ${queue}`);
      const consumerTag = `tag-${++tags}`;
      consumers.set(consumerTag, receive);
      return answer('consume', { consumerTag });
    },
    cancel: async (tag: string) => {
      send(`cancel ${tag}`);
      await Promise.resolve();
      if (state.failsCancel) throw new Error('No cancel.');
      return answer('cancel', {}, () => consumers.delete(tag));
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
  /** To the newest consumer, as the broker does for a queue that is consumed once. */
  const deliver = (message: ConsumeMessage | null) => [...consumers.values()].at(-1)?.(message);
  /** The answer comes in one packet with these messages: they are delivered before the code that waits for the answer goes on. */
  const thaw = async (...messages: readonly ConsumeMessage[]) => {
    for (const message of messages) deliver(message);
    state.frozen?.();
    await setImmediate();
  };
  // Only these are called.
  return { channel: channel as unknown as Channel, calls, consumers, state, deliver, thaw };
};

export const aMessage = (deliveryTag: number, deliveries = 0): ConsumeMessage =>
  // The rest of a message is not looked at.
  ({
    content: Buffer.from('{}'),
    fields: { deliveryTag, redelivered: deliveries > 0, exchange: '', routingKey: '', consumerTag: 'tag' },
    properties: { messageId: `m${deliveryTag}`, headers: { 'x-delivery-count': deliveries } },
  }) as unknown as ConsumeMessage;

/** Consumption whose handlers end when the test says so. */
export const startConsumption = () => {
  const { channel, calls, consumers, state, deliver, thaw } = fakeChannel();
  const running = inFlight();
  const handling = new Map<number, (disposition: Disposition) => void>();
  const backoff = { on: false };
  const auto = { ack: false };
  let cancelled = 0;
  const consumption = createConsumption({
    queue: 'q',
    channel,
    log: SILENT_LOG,
    prefetch: 20,
    handler: {
      receive: (message) => ({ message, receivedAt: 0 }),
      isBackingOff: () => backoff.on,
      isUnavailable: () => backoff.on,
      handle: ({ message }) => (auto.ack ? Promise.resolve('ack') : new Promise((resolve) => handling.set(tagOf(message), resolve))),
    },
    running,
    onQueueGone: () => {
      cancelled += 1;
    },
  });
  const end = async (tag: number, disposition: Disposition = 'ack') => {
    const resolve = handling.get(tag);
    handling.delete(tag);
    resolve?.(disposition);
    await setImmediate();
  };
  return {
    channel,
    calls,
    consumers,
    state,
    deliver,
    thaw,
    consumption,
    running,
    handling,
    end,
    backoff,
    auto,
    cancellations: () => cancelled,
  };
};
