import { type Level, noneDead } from './level.ts';
import { createSegmentBuilder, type IndexedBubble } from './segment-builder.ts';

const BYTES_OF_BUBBLE = 400;
const BYTES_OF_WORD = 8;
const BYTES_OF_GONE = 120;

/** Changes since the last merge: the newest state of each bubble. */
export const createDelta = () => {
  const bubbles = new Map<string, IndexedBubble>();
  const gone = new Map<string, number>();
  let sealed: Level | null = null;
  return {
    bubbles,
    gone,
    /** Null for a bubble that did not change. */
    revOf: (id: string): number | null => bubbles.get(id)?.rev ?? gone.get(id) ?? null,
    put: (bubble: IndexedBubble): void => {
      gone.delete(bubble.id);
      bubbles.set(bubble.id, bubble);
      sealed = null;
    },
    remove: (id: string, rev: number): void => {
      if (bubbles.delete(id)) sealed = null;
      gone.set(id, rev);
    },
    /** As a level; `bound` is above every term id. */
    seal: (bound: number): Level | null => {
      if (bubbles.size === 0) return null;
      if (sealed === null) {
        const builder = createSegmentBuilder();
        for (const bubble of bubbles.values()) builder.add(bubble);
        sealed = noneDead(builder.finish((id) => id, bound));
      }
      return sealed;
    },
    bytes: (): number =>
      [...bubbles.values()].reduce(
        (total, { title, notes }) => total + BYTES_OF_BUBBLE + (title.length + notes.length) * BYTES_OF_WORD,
        gone.size * BYTES_OF_GONE,
      ),
  };
};

export type Delta = ReturnType<typeof createDelta>;
