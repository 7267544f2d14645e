import { setTimeout as pause } from 'node:timers/promises';
import type { VerifyingReceiver } from './verifying-receiver.ts';

export interface CrashLoadOptions {
  readonly receiver: VerifyingReceiver;
  readonly bubbles: readonly string[];
  /** Of each bubble as many deliveries. */
  readonly subscriptions: number;
  /** Resolves when the news of a bubble is in safe hands. */
  readonly hand: (bubble: string) => Promise<void>;
  /** Each is called while a POST of `sender` and all after it wait for their answer, which is the crash's to release. */
  readonly crashes: readonly ((sender: string) => Promise<void>)[];
  /** The test is over, whatever is left to do. */
  readonly signal: AbortSignal;
}

export interface CrashLoad {
  /** Hands out the bubbles in portions, one for each crash, which happens in the middle of it, and one for after them. */
  run(): Promise<void>;
  /** How far it has come. */
  state(): string;
}

/** Bubbles that are handed over at the same time. */
const AT_ONCE = 8;
/** Bubbles whose deliveries have not all come: enough that nobody is idle, and few enough that there is a load at every crash. */
const MOST_AHEAD = 24;
const LOOK_MS = 2;

export const crashLoad = ({ receiver, bubbles, subscriptions, hand, crashes, signal }: CrashLoadOptions): CrashLoad => {
  let begun = 0;
  let handed = 0;
  let crash = 'none has begun';
  const isAhead = () => begun * subscriptions - receiver.deliveries > MOST_AHEAD * subscriptions;
  const handOut = async (portion: readonly string[]) => {
    const left = [...portion];
    const worker = async () => {
      for (let bubble = left.shift(); bubble !== undefined; bubble = left.shift()) {
        while (isAhead()) await pause(LOOK_MS, undefined, { signal });
        begun += 1;
        await hand(bubble);
        handed += 1;
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
  };
  const size = Math.ceil(bubbles.length / (crashes.length + 1));
  const portionOf = (n: number) => bubbles.slice(n * size, (n + 1) * size);
  const crashIn = async (n: number, portion: readonly string[]) => {
    const number = `${n + 1} of ${crashes.length}`;
    crash = `${number} waits for its POST`;
    const sender = await receiver.holdAfter(Math.ceil((portion.length * subscriptions) / 2));
    crash = `${number} has caught a POST of ${sender}`;
    await crashes[n]?.(sender);
    crash = `${number} is over`;
  };
  return {
    async run() {
      for (const n of crashes.keys()) await Promise.all([crashIn(n, portionOf(n)), handOut(portionOf(n))]);
      await handOut(portionOf(crashes.length));
    },
    state: () => `bubbles handed over: ${handed} and ${begun - handed} on their way of ${bubbles.length}; crash: ${crash}`,
  };
};
