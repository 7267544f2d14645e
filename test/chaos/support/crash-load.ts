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

/** Bubbles that are handed over at the same time. */
const AT_ONCE = 8;
/** Bubbles whose deliveries have not all come: so many that nobody is idle, and so few that there is a load at every crash. */
const MOST_AHEAD = 24;
const LOOK_MS = 2;

/** Hands out the bubbles in portions, one for each crash, which happens in the middle of it, and one for after them. */
export const underCrashes = async ({ receiver, bubbles, subscriptions, hand, crashes, signal }: CrashLoadOptions): Promise<void> => {
  let handed = 0;
  const isAhead = () => handed * subscriptions - receiver.deliveries > MOST_AHEAD * subscriptions;
  const handOut = async (portion: readonly string[]) => {
    const left = [...portion];
    const worker = async () => {
      for (let bubble = left.shift(); bubble !== undefined; bubble = left.shift()) {
        while (isAhead()) await pause(LOOK_MS, undefined, { signal });
        handed += 1;
        await hand(bubble);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
  };
  const size = Math.ceil(bubbles.length / (crashes.length + 1));
  const portionOf = (n: number) => bubbles.slice(n * size, (n + 1) * size);
  for (const [n, crash] of crashes.entries()) {
    const portion = portionOf(n);
    const caught = receiver.holdAfter(Math.ceil((portion.length * subscriptions) / 2));
    await Promise.all([handOut(portion), caught.then(crash)]);
  }
  await handOut(portionOf(crashes.length));
};
