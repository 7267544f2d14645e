import { setImmediate } from 'node:timers/promises';
import { DomainError } from '@bubbles/kernel/errors.ts';
import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { SILENT_LOG } from '@bubbles/testing/http.ts';
import { describe, expect, it } from '@jest/globals';
import type { ConsumeMessage } from 'amqplib';
import { anEvent, consumerOf, thingHappened } from '../../test/bus-events.ts';
import { eventHandler, queueName } from '../bus.ts';
import { REASON_HEADER } from '../operations/dead-letters.ts';
import type { OutgoingMessage } from './confirms.ts';
import { createMessageHandler } from './message-handler.ts';

const EVENT = thingHappened('handled');
const QUEUE = queueName(consumerOf(EVENT), EVENT.type);
const MINUTE_MS = 60_000;

const aMessage = (deliveries: number): ConsumeMessage =>
  // The rest of a message is not looked at.
  ({
    content: Buffer.from(JSON.stringify(anEvent(EVENT, { n: 1 }))),
    fields: { redelivered: deliveries > 0 },
    properties: { messageId: 'm', headers: { 'x-delivery-count': deliveries } },
  }) as unknown as ConsumeMessage;

const setUp = ({ handle, copy = () => Promise.resolve() }: { handle: () => Promise<void>; copy?: () => Promise<void> }) => {
  const clock = fakeClock();
  const copied: string[] = [];
  const publish = ({ routingKey, headers = {} }: OutgoingMessage) => {
    copied.push(REASON_HEADER in headers ? `dead: ${headers[REASON_HEADER]}` : routingKey);
    return copy();
  };
  const handler = createMessageHandler({
    consumer: consumerOf(EVENT),
    eventHandler: eventHandler(EVENT, handle),
    publisher: { publish },
    clock,
    log: SILENT_LOG,
    jitter: () => 1,
    signal: new AbortController().signal,
    onBackoffEnd: () => undefined,
  });
  const received = { message: aMessage(0), receivedAt: clock.monotonic() };
  return { clock, copied, handler, received };
};

const unavailable = () => Promise.reject(new DomainError('unavailable', 'The store is away.'));
const MOST_BACKOFF_MS = 5000;

describe('the handler of a message', () => {
  it("keeps a message through the consumer's own trouble, backing off", async () => {
    const { clock, copied, handler, received } = setUp({ handle: unavailable });
    expect(await handler.handle(received)).toBe('wait');
    expect(handler.isBackingOff()).toBe(true);
    await clock.advance(MOST_BACKOFF_MS);
    expect(handler.isBackingOff()).toBe(false);
    expect(copied).toEqual([]);
  });

  it('is unavailable from the first such result until another one, also between two tries', async () => {
    let isAway = true;
    const { clock, handler, received } = setUp({ handle: () => (isAway ? unavailable() : Promise.resolve()) });
    expect(handler.isUnavailable()).toBe(false);
    await handler.handle(received);
    await clock.advance(MOST_BACKOFF_MS);
    expect([handler.isBackingOff(), handler.isUnavailable()]).toEqual([false, true]);
    isAway = false;
    await handler.handle(received);
    expect(handler.isUnavailable()).toBe(false);
  });

  it('[DLV-05] puts a copy at the end of the queue before the broker takes the message back, which would count a delivery', async () => {
    const { clock, copied, handler, received } = setUp({ handle: unavailable });
    await clock.advance(9 * MINUTE_MS);
    expect(await handler.handle(received)).toBe('wait');
    await clock.advance(MINUTE_MS);
    expect(await handler.handle(received)).toBe('ack');
    expect(copied).toEqual([QUEUE]);
  });

  it('[DLV-05] keeps the message while the copy cannot be made', async () => {
    const { clock, handler, received } = setUp({ handle: unavailable, copy: () => Promise.reject(new Error('No broker.')) });
    await clock.advance(60 * MINUTE_MS);
    expect(await handler.handle(received)).toBe('wait');
  });

  it('[F10] gives a message back after a fault, and dead-letters it after 20 with the reason', async () => {
    const { clock, copied, handler } = setUp({ handle: () => Promise.reject(new Error('a fault')) });
    const dispositionAfter = async (deliveries: number) => {
      const disposition = handler.handle({ message: aMessage(deliveries), receivedAt: clock.monotonic() });
      await setImmediate();
      await clock.advance(MOST_BACKOFF_MS);
      return disposition;
    };
    expect(await dispositionAfter(19)).toBe('reject');
    expect(copied).toEqual([]);
    expect(await dispositionAfter(20)).toBe('ack');
    expect(copied).toEqual(['dead: Error: a fault']);
  });

  it('[F10] tries a dead letter that cannot be published ever less often', async () => {
    const { clock, handler } = setUp({
      handle: () => Promise.reject(new Error('a fault')),
      copy: () => Promise.reject(new Error('No broker.')),
    });
    const message = { message: aMessage(20), receivedAt: clock.monotonic() };
    const waits: number[] = [];
    for (let n = 0; n < 8; n += 1) {
      expect(await handler.handle(message)).toBe('wait');
      const begun = clock.monotonic();
      while (handler.isBackingOff()) await clock.advance(100);
      waits.push(clock.monotonic() - begun);
    }
    expect(waits).toEqual(waits.toSorted((a, b) => a - b));
    expect(waits.at(-1)).toBe(MOST_BACKOFF_MS);
    expect(handler.isUnavailable()).toBe(true);
  });
});
