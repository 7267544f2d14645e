import { allLive, createSegmentBuilder, type IndexedBubble, type Level } from './segment.ts';

const BYTES_OF_BUBBLE = 400;
const BYTES_OF_WORD = 8;
const BYTES_OF_GONE = 120;
/** Number of words of a bubble with weight one. */
const USUAL_WORDS = 128;

const wordsOf = (bubble: IndexedBubble | undefined): number => (bubble === undefined ? 0 : bubble.title.length + bubble.notes.length);

/** Changes since the last merge: the newest state of each bubble. */
export const createDelta = () => {
  const bubbles = new Map<string, IndexedBubble>();
  const gone = new Map<string, number>();
  let words = 0;
  let sealed: Level | null = null;
  const forget = (id: string): boolean => {
    words -= wordsOf(bubbles.get(id));
    return bubbles.delete(id);
  };
  return {
    bubbles,
    gone,
    /** Null for a bubble that did not change. */
    rowVersionOf: (id: string): number | null => bubbles.get(id)?.rowVersion ?? gone.get(id) ?? null,
    put: (bubble: IndexedBubble): void => {
      gone.delete(bubble.id);
      forget(bubble.id);
      words += wordsOf(bubble);
      bubbles.set(bubble.id, bubble);
      sealed = null;
    },
    remove: (id: string, rowVersion: number): void => {
      if (forget(id)) sealed = null;
      gone.set(id, rowVersion);
    },
    /** Returns the changes as a level; `bound` must exceed every term id. */
    seal: (bound: number): Level | null => {
      if (bubbles.size === 0) return null;
      if (sealed === null) {
        const builder = createSegmentBuilder();
        for (const bubble of bubbles.values()) builder.add(bubble);
        sealed = allLive(builder.finish((id) => id, bound));
      }
      return sealed;
    },
    /** How many changes there are, in bubbles of usual length. */
    weight: (): number => Math.max(bubbles.size, words / USUAL_WORDS) + gone.size,
    bytes: (): number => bubbles.size * BYTES_OF_BUBBLE + words * BYTES_OF_WORD + gone.size * BYTES_OF_GONE,
  };
};
