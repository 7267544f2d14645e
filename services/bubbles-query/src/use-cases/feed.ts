import type { Clock } from '@bubbles/kernel/clock.ts';
import { createSeqSource } from '../domain/search/seq.ts';

/** When and as what something is written into a feed. */
export interface Stamp {
  readonly seq: number;
  readonly at: Date;
}
/** Runs a write into a feed. */
export type Feed = (write: (stamp: Stamp) => Promise<void>) => Promise<void>;

/** Well within the overlap of those who read a feed. */
const ACKNOWLEDGED_WITHIN_MS = 5000;

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
