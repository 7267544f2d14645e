import type { Channel, ConsumeMessage } from 'amqplib';
import type { Log } from '../log.ts';
import { retire } from './amqp-channel.ts';
import type { ConsumerPause } from './consumer-pause.ts';
import type { InFlight } from './in-flight.ts';
import { isSuspect, type Judge, type Verdict } from './message-judge.ts';
import { messagesInHand } from './messages-in-hand.ts';

export interface SessionOptions {
  readonly queue: string;
  readonly channel: Channel;
  readonly log: Log;
  /** Messages in hand at the same time. */
  readonly prefetch: number;
  readonly pause: ConsumerPause;
  readonly judge: Judge;
  readonly running: InFlight;
  /** The broker ended the consumer: its queue is gone, or has moved. */
  readonly onCancelled: () => void;
}

/** Consumption on one channel, until that closes. */
export interface ConsumerSession {
  /** Begins to take messages. */
  start(): Promise<void>;
  /** Goes on after a pause. */
  resume(): void;
  /** Takes no more; what is in hand goes on. */
  stop(): Promise<void>;
  /** The channel goes: nothing more is answered on it. */
  end(): void;
}

const tell = (channel: Channel, message: ConsumeMessage, verdict: Exclude<Verdict, 'wait'>): void =>
  verdict === 'reject' ? channel.reject(message, true) : channel.ack(message);

/**
 * Begins with one message at a time. One that is not suspect opens the way to `prefetch`, a suspect one closes it: were it to end the process, all
 * messages in hand would be counted as redelivered with it, and die in the end.
 */
export function consumerSession({ queue, channel, log, prefetch, pause, judge, running, onCancelled }: SessionOptions): ConsumerSession {
  const suspects: ConsumeMessage[] = [];
  let pace: 'careful' | 'changing' | 'full' | 'stopped' | 'ended' = 'careful';
  let consumerTag = '';

  /** Only on the channel that delivered: elsewhere the tag means another message, or none. */
  const answer = (message: ConsumeMessage, verdict: Exclude<Verdict, 'wait'>) => {
    if (pace === 'ended') return;
    tell(channel, message, verdict);
    if (verdict === 'ack' && pace === 'careful' && !isSuspect(message)) changePace();
  };
  const inHand = messagesInHand({ pause, judge, running, answer });

  const end = () => {
    pace = 'ended';
    suspects.length = 0;
    inHand.drop();
  };
  channel.once('close', end);
  const giveUp = () => {
    end();
    retire(channel, log);
  };

  const receive = (message: ConsumeMessage | null) => {
    if (message === null) {
      onCancelled();
      return giveUp();
    }
    if (pace === 'careful' || !isSuspect(message)) return inHand.add(message);
    suspects.push(message);
    if (pace === 'full') changePace();
  };
  const consume = async (count: number) => {
    await channel.prefetch(count);
    ({ consumerTag } = await channel.consume(queue, receive));
  };

  /** Takes nothing new until all that is in hand is done: one suspect last and alone, the others given back. */
  const change = async () => {
    await channel.cancel(consumerTag);
    await inHand.drained();
    const [suspect, ...others] = suspects.splice(0);
    for (const other of others) channel.nack(other, false, true);
    if (suspect) inHand.add(suspect);
    await inHand.drained();
    if (pace !== 'changing') return;
    pace = suspect ? 'careful' : 'full';
    await consume(suspect ? 1 : prefetch);
  };
  const changePace = () => {
    pace = 'changing';
    // A channel on which this fails is closed with it, and another one opened.
    change().catch((error: unknown) => {
      log.warn('A consumer could not change its pace.', { queue, error });
      giveUp();
    });
  };

  return {
    start: () => consume(1),
    resume: inHand.resume,
    async stop() {
      inHand.drop();
      if (pace === 'ended') return;
      pace = 'stopped';
      // A queue without a leader answers with an error, and the channel is closed anyway.
      await channel.cancel(consumerTag).catch((error: unknown) => log.debug('A consumer could not be cancelled.', { queue, error }));
    },
    end,
  };
}
