/** Feed sequence numbers are milliseconds with room for writes of the same one; no shift, because they pass 32 bits. */
const SEQS_A_MS = 4096;
/** Covers writers that are slow to finish and clocks that differ. */
const OVERLAP_MS = 65_000;

export const seqAt = (ms: number): number => ms * SEQS_A_MS;

/** From where to read so that nothing written around the watermark is missed. */
export const withOverlap = (watermark: number): number => Math.max(0, watermark - seqAt(OVERLAP_MS));

/** Stamps of one writer, always rising. */
export const createSeqSource = (nowMs: () => number): (() => number) => {
  let last = 0;
  return () => {
    last = Math.max(last + 1, seqAt(nowMs()));
    return last;
  };
};
