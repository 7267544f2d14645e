import type { Log } from '@bubbles/kernel/log.ts';
import type { ConsumeMessage } from 'amqplib';
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

/** Copies of a message in other places, made before the message itself is acknowledged. */
export interface MessageCopies {
  /** Resolves when the consumer's dead-letter queue holds a copy with the reason. */
  deadLetter(dead: DeadMessage): Promise<void>;
  /** Resolves when the end of this queue holds a copy, whose deliveries count from none. */
  requeue(queue: string, message: ConsumeMessage): Promise<void>;
}

export const messageCopies = (publisher: Publisher, log: Log): MessageCopies => {
  const copyTo = (queue: string, { content, properties }: ConsumeMessage, headers: Readonly<Record<string, unknown>>) =>
    publisher.publish({
      exchange: '',
      routingKey: queue,
      body: content,
      messageId: String(properties.messageId),
      mandatory: true,
      headers,
    });
  return {
    async deadLetter({ consumer, queue, message, reason }) {
      await copyTo(deadQueueName(consumer), message, { [REASON_HEADER]: reason.slice(0, MAX_REASON_LENGTH), [ORIGIN_HEADER]: queue });
      log.error('message dead-lettered', { queue, message: message.properties.messageId, reason });
    },
    requeue: (queue, message) => copyTo(queue, message, {}),
  };
};
