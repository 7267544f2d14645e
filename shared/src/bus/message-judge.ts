import type { ConsumeMessage } from 'amqplib';
import type { Log } from '../log.ts';
import { attempt, faultReason } from './attempt.ts';
import type { Subscription } from './bus.ts';
import type { ConsumerPause } from './consumer-pause.ts';
import { DELIVERY_LIMIT } from './queues.ts';

/** What the broker is told: done with it, or the handler failed on it; `wait` is kept and tells nothing. */
export type Verdict = 'ack' | 'reject' | 'wait';

export interface JudgeOptions {
  readonly queue: string;
  readonly subscription: Subscription;
  readonly log: Log;
  readonly pause: ConsumerPause;
  /** Hands a message to the dead-letter queue; rejects while that cannot be done. */
  readonly bury: (message: ConsumeMessage, reason: string) => Promise<void>;
  /** Waits before a message that its handler failed on is given back. */
  readonly beforeRetry: (faults: number) => Promise<void>;
}

export type Judge = (message: ConsumeMessage) => Promise<Verdict>;

/** Redelivered this often, a message may be what ends the process that holds it. */
const SUSPECT_DELIVERIES = 2;

const deliveryCount = ({ properties }: ConsumeMessage): number => Number(properties.headers?.['x-delivery-count'] ?? 0);

export const isSuspect = (message: ConsumeMessage): boolean => message.fields.redelivered && deliveryCount(message) >= SUSPECT_DELIVERIES;

/** Hands a message to its handler and says what becomes of it. Never rejects. */
export const messageJudge = ({ queue, subscription, log, pause, bury, beforeRetry }: JudgeOptions): Judge => {
  const wait = (error: unknown): Verdict => {
    pause.begin(error);
    return 'wait';
  };
  const buried = async (message: ConsumeMessage, reason: string): Promise<Verdict> => {
    try {
      await bury(message, reason);
      return 'ack';
    } catch (error) {
      return wait(error);
    }
  };
  const failed = async (message: ConsumeMessage, error: unknown): Promise<Verdict> => {
    const faults = deliveryCount(message) + 1;
    log.warn('A handler failed.', { queue, message: message.properties.messageId, faults, error });
    if (faults > DELIVERY_LIMIT) return buried(message, faultReason(error));
    await beforeRetry(faults);
    return 'reject';
  };
  return async (message) => {
    const outcome = await attempt(subscription, message.content);
    if (outcome.kind === 'unavailable') return wait(outcome.error);
    pause.forget();
    if (outcome.kind === 'unreadable') return buried(message, outcome.reason);
    if (outcome.kind === 'fault') return failed(message, outcome.error);
    return 'ack';
  };
};
