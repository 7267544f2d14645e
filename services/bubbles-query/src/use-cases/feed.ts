import type { Clock } from '@bubbles/kernel/clock.ts';
import { ACKNOWLEDGED_WITHIN_MS, seqAt } from '../domain/search-card.ts';

/** When and as what something is written into a feed. */
export interface Stamp {
  readonly seq: number;
  readonly at: Date;
}
/** Runs a write into a feed. */
export type Feed = (write: (stamp: Stamp) => Promise<void>) => Promise<void>;

/** Numbers that always rise. */
export const createSeqSource = (nowMs: () => number): (() => number) => {
  let last = 0;
  return () => {
    last = Math.max(last + 1, seqAt(nowMs()));
    return last;
  };
};

/** Numbers the writes of this process. One that was acknowledged late may lie behind those who read on meanwhile: it is written again, with a new number. */
export const createFeed = (clock: Clock): Feed => {
  const nextSeq = createSeqSource(() => clock.now().getTime());
  return async (write) => {
    for (let tookMs = Number.POSITIVE_INFINITY; tookMs > ACKNOWLEDGED_WITHIN_MS; ) {
      const began = clock.monotonic();
      await write({ seq: nextSeq(), at: clock.now() });
      tookMs = clock.monotonic() - began;
    }
  };
};
