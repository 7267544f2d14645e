import type { ConsumeMessage } from 'amqplib';
import type { ConsumerPause } from './consumer-pause.ts';
import type { InFlight } from './in-flight.ts';
import type { Judge, Verdict } from './message-judge.ts';

export interface InHandOptions {
  readonly pause: ConsumerPause;
  readonly judge: Judge;
  /** The consumer's handlers, those of channels that were lost among them. */
  readonly running: InFlight;
  readonly answer: (message: ConsumeMessage, verdict: Exclude<Verdict, 'wait'>) => void;
}

/** What was delivered and not yet answered. */
export interface MessagesInHand {
  /** Handled at once, or when the pause is over. */
  add(message: ConsumeMessage): void;
  /** Goes on after a pause. */
  resume(): void;
  /** Resolves when everything has been answered or dropped. */
  drained(): Promise<void>;
  /** Begins nothing more; what has begun goes on. */
  drop(): void;
}

export const messagesInHand = ({ pause, judge, running, answer }: InHandOptions): MessagesInHand => {
  const waiting: ConsumeMessage[] = [];
  let begun = 0;
  let dropped = false;
  let progress = Promise.withResolvers<void>();

  const stir = () => {
    progress.resolve();
    progress = Promise.withResolvers();
  };
  const take = async (message: ConsumeMessage) => {
    begun += 1;
    const verdict = await judge(message);
    begun -= 1;
    if (verdict !== 'wait') answer(message, verdict);
    else if (!dropped) waiting.unshift(message);
    stir();
    resume();
  };
  const resume = () => {
    while (!pause.isOn()) {
      const message = waiting.shift();
      if (!message) return;
      void running.track(take(message));
    }
  };
  return {
    add(message) {
      if (dropped) return;
      waiting.push(message);
      resume();
    },
    resume,
    async drained() {
      while (waiting.length > 0 || begun > 0) await progress.promise;
    },
    drop() {
      dropped = true;
      waiting.length = 0;
      stir();
    },
  };
};
