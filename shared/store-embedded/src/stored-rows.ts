import { crc32 } from 'node:zlib';

/** A document as it lies in the file. */
export interface StoredRow {
  readonly number: number;
  /** Which collection of which database it belongs to. */
  readonly space: string;
  readonly body: Uint8Array;
}

/** What the file says of all its rows together, in the same transaction as the rows. */
export interface Totals {
  /** The id of the store, which no other has. */
  readonly store: string;
  readonly commits: number;
  readonly rows: number;
  /** Of the checksums of all rows: a row that is missing, too many or of before changes it. */
  readonly sum: number;
}

/** By the number of the row. */
export type Checksums = ReadonlyMap<number, number>;

const HIGH = 2 ** 32;
/** Odd, so that each number gives another product. */
const LOW_FACTOR = 0x9e37_79b1;
const HIGH_FACTOR = 0x85eb_ca6b;
/** Sums stay exact integers. */
const SUM_LIMIT = 2 ** 52;

/** Over the whole row: with another number or another space the same body has another checksum. */
export const rowChecksum = ({ number, space, body }: StoredRow): number => {
  const ofNumber = Math.imul(number, LOW_FACTOR) ^ Math.imul(number / HIGH, HIGH_FACTOR);
  return crc32(body, (crc32(space) ^ ofNumber) >>> 0);
};

export const totalsChecksum = ({ store, commits, rows, sum }: Totals): number => crc32(`${store} ${commits} ${rows} ${sum}`);

export const addToSum = (sum: number, difference: number): number => (sum + difference + SUM_LIMIT) % SUM_LIMIT;

export const sumOf = (checksums: Checksums): number => checksums.values().reduce(addToSum, 0);
