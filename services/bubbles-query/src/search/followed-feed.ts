import { seqAt, withOverlap } from '../domain/search-card.ts';
import type { FeedSource, FeedSpan } from '../ports.ts';

/** Up to this number rows are read again at once; of more it is counted first whether there are unknown ones among them. */
const READ_AGAIN = 256;
const BYTES_OF_ROW = 100;
/** Reading all of a large overlap again takes this part of the time at most, within these bounds. */
const SHARE_OF_TIME = 1 / 20;
const RECHECK_AFTER_MS = { least: 1000, most: 20_000 } as const;

/** The numbers above the given one in their order; the rest is forgotten. */
const seqsAbove = (known: Map<string, number>, bound: number): Float64Array => {
  for (const [id, seq] of known) if (seq <= bound) known.delete(id);
  return Float64Array.from(known.values()).sort();
};

/**
 * A feed from a watermark on. Whoever wrote with a clock that is behind, or was slow to finish, left numbers below it: the overlap is looked through each
 * time. Of a large one the latest rows are read again, and the rest is counted, which tells of every row that was not there; that a row there changed its
 * number without leaving its span is found when all of it is read again, a little later.
 */
export const followFeed = <R extends { readonly id: string; readonly seq: number }>(
  { read, count }: FeedSource<R>,
  { nowMs, from = 0 }: { readonly nowMs: () => number; readonly from?: number },
) => {
  let watermark = from;
  let recheckAtMs = 0;
  /** The numbers of the rows that lie in the overlap. */
  const known = new Map<string, number>();

  async function* readSpan(span: FeedSpan): AsyncGenerator<readonly R[]> {
    for await (const rows of read(span)) {
      yield rows;
      // The watermark advances only after the caller has accepted the rows.
      for (const { id, seq } of rows) known.set(id, seq);
    }
  }
  /** A span that does not add up is halved until it is small. */
  async function* latecomers(after: number, upTo: number, seqs: Float64Array): AsyncGenerator<readonly R[]> {
    if ((await count({ after, upTo })) === seqs.length) return;
    const middle = seqs[seqs.length >>> 1] ?? upTo;
    if (seqs.length <= READ_AGAIN || middle >= upTo) return yield* readSpan({ after, upTo });
    yield* latecomers(
      after,
      middle,
      seqs.filter((seq) => seq <= middle),
    );
    yield* latecomers(
      middle,
      upTo,
      seqs.filter((seq) => seq > middle),
    );
  }
  async function* changesIn(seqs: Float64Array, beganMs: number): AsyncGenerator<readonly R[]> {
    const overlap = withOverlap(watermark);
    const tail = seqs[seqs.length - READ_AGAIN];
    if (tail !== undefined && beganMs < recheckAtMs) {
      yield* readSpan({ after: tail, upTo: null });
      return yield* latecomers(
        overlap,
        tail,
        seqs.filter((seq) => seq <= tail),
      );
    }
    yield* readSpan({ after: overlap, upTo: null });
    const tookMs = nowMs() - beganMs;
    recheckAtMs = nowMs() + Math.min(Math.max(tookMs / SHARE_OF_TIME, RECHECK_AFTER_MS.least), RECHECK_AFTER_MS.most);
  }

  return {
    /** What has changed since the last call that was read to its end, and perhaps some of what that one gave. */
    async *changes(): AsyncGenerator<readonly R[]> {
      const beganMs = nowMs();
      // What a read has seen ends with its rows, and not before it began.
      let seen = seqAt(beganMs);
      for await (const rows of changesIn(seqsAbove(known, withOverlap(watermark)), beganMs)) {
        seen = rows.reduce((latest, { seq }) => Math.max(latest, seq), seen);
        yield rows;
      }
      watermark = Math.max(watermark, seen);
    },
    /** The next changes are all rows. */
    startOver: (): void => {
      watermark = 0;
      recheckAtMs = 0;
      known.clear();
    },
    bytes: (): number => known.size * BYTES_OF_ROW,
  };
};
