import type { ConsumeMessage } from 'amqplib';
import type { Log } from '../log.ts';
import type { Publisher } from './amqp-publisher.ts';
import { deadQueueName } from './queues.ts';

/** Why the message is dead, and where it was: what an operator reads, and where `redrive` sends it. */
export const REASON_HEADER = 'x-bubbles-reason';
export const ORIGIN_HEADER = 'x-bubbles-queue';

/** The queue that a dead message was in; null when nothing says. */
export const lastQueueOf = (headers: Readonly<Record<string, unknown>>): string | null => {
  const origin = headers[ORIGIN_HEADER] ?? headers['x-first-death-queue'];
  return typeof origin === 'string' ? origin : null;
};

/** Headers take 64 KiB in all. */
const MAX_REASON_LENGTH = 1000;

export interface DeadMessage {
  readonly consumer: string;
  readonly queue: string;
  readonly message: ConsumeMessage;
  readonly reason: string;
}

export interface DeadLetters {
  /** Resolves when the dead-letter queue holds a copy. */
  bury(dead: DeadMessage): Promise<void>;
}

export const deadLetters = (publisher: Publisher, log: Log): DeadLetters => ({
  async bury({ consumer, queue, message, reason }) {
    await publisher.publish({
      exchange: '',
      routingKey: deadQueueName(consumer),
      body: message.content,
      messageId: String(message.properties.messageId),
      mandatory: true,
      headers: { [REASON_HEADER]: reason.slice(0, MAX_REASON_LENGTH), [ORIGIN_HEADER]: queue },
    });
    log.error('A message was dead-lettered.', { queue, message: message.properties.messageId, reason });
  },
});
