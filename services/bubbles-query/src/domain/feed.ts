/**
 * What is written into a feed carries a number that rises with the time of the write: milliseconds, with room for several writes in each. They pass
 * 32 bits, so that they cannot be shifted.
 */
const NUMBERS_PER_MS = 4096;
/** Covers writers that are slow to finish and clocks that differ. */
const OVERLAP_MS = 65_000;
/** A write that is acknowledged later is written again with a new number: well within the overlap of those who read. */
export const ACKNOWLEDGED_WITHIN_MS = 5000;

export const seqAt = (ms: number): number => ms * NUMBERS_PER_MS;

/** Where to read from so that nothing written around the watermark is missed. */
export const withOverlap = (watermark: number): number => Math.max(0, watermark - seqAt(OVERLAP_MS));
