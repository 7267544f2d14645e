import { isMarked, mark } from './cells.ts';
import { findBubble, type Segment } from './segment.ts';

/** A segment and which of its bubbles have been replaced or removed since. */
export interface Level {
  readonly segment: Segment;
  readonly dead: Uint8Array;
  readonly deadCount: number;
}

export const noneDead = (segment: Segment): Level => ({ segment, dead: new Uint8Array((segment.count + 7) >>> 3), deadCount: 0 });

export const alive = ({ segment, deadCount }: Level): number => segment.count - deadCount;

/** Bitmaps are replaced, not changed: a search that has begun keeps the one it saw. */
export const withDead = (level: Level, ids: readonly Uint8Array[]): Level => {
  let { dead, deadCount } = level;
  for (const id of ids) {
    const doc = findBubble(level.segment, id);
    if (doc < 0 || isMarked(dead, doc)) continue;
    if (dead === level.dead) dead = level.dead.slice();
    mark(dead, doc);
    deadCount++;
  }
  return dead === level.dead ? level : { ...level, dead, deadCount };
};
