import { closeSync, openSync, readSync, rmSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import { type Fields, isBytes } from '@bubbles/store/plain-data.ts';
import { deserialize } from 'bson';
import type { CountedCommits } from './commit-counter.ts';
import { damaged, otherFormat, unusable } from './data-file-faults.ts';

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
  /** The sum of all rows' checksums: a row that is missing, extra or outdated changes it. */
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

/** Covers number and space too, so that a body in another row has another checksum. */
export const rowChecksum = ({ number, space, body }: StoredRow): number => {
  const ofNumber = Math.imul(number, LOW_FACTOR) ^ Math.imul(number / HIGH, HIGH_FACTOR);
  return crc32(body, (crc32(space) ^ ofNumber) >>> 0);
};

export const totalsChecksum = ({ store, commits, rows, sum }: Totals): number => crc32(`${store} ${commits} ${rows} ${sum}`);

export const addToSum = (sum: number, difference: number): number => (sum + difference + SUM_LIMIT) % SUM_LIMIT;

export const sumOf = (checksums: Checksums): number => checksums.values().reduce(addToSum, 0);

export const TABLES = {
  documents: 'CREATE TABLE documents (number INTEGER PRIMARY KEY, space TEXT NOT NULL, body BLOB NOT NULL, checksum INTEGER NOT NULL)',
  totals:
    'CREATE TABLE totals (store TEXT NOT NULL, commits INTEGER NOT NULL, row_count INTEGER NOT NULL, sum INTEGER NOT NULL, checksum INTEGER NOT NULL)',
} as const;
export const FORMAT = 2;
/** Without totals, and with checksums over the bodies alone. */
const FIRST_FORMAT = 1;

export interface LoadedRow {
  readonly number: number;
  readonly space: string;
  readonly doc: Fields;
}

export interface DataFileContent {
  readonly rows: readonly LoadedRow[];
  readonly checksums: Checksums;
  /** Null in a file of the first format. */
  readonly totals: Totals | null;
}

const bytesIn = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

const SMALLEST_PAGE = 512;
const WRITE_VERSION = 18;
const READ_VERSION = 19;
const WAL = 2;

/** SQLite itself would open such a file without its log, or read-only. */
const checkHeader = (path: string): void => {
  const header = Buffer.alloc(SMALLEST_PAGE);
  const file = openSync(path, 'r');
  const length = readSync(file, header);
  closeSync(file);
  if (length < SMALLEST_PAGE || header[WRITE_VERSION] !== WAL || header[READ_VERSION] !== WAL)
    throw damaged(path, 'its first page is not what was written');
};

/** Compares the declarations of the tables too, since they decide what SQLite makes of the rows. */
const formatOf = (path: string, database: DatabaseSync): number | null => {
  const pages = database.prepare('PRAGMA quick_check(1)').get()?.['quick_check'];
  if (pages !== 'ok') throw damaged(path, 'its pages do not fit together', pages);
  const declared = new Set(
    database
      .prepare('SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL')
      .all()
      .map(({ sql }) => sql),
  );
  if (declared.size === 0) return null;
  const version = database.prepare('PRAGMA user_version').get()?.['user_version'];
  if (typeof version === 'number' && version > FORMAT) throw otherFormat(path, version);
  const expected: readonly string[] = version === FORMAT ? Object.values(TABLES) : [TABLES.documents];
  if (declared.size !== expected.length || expected.some((sql) => !declared.has(sql))) throw damaged(path, 'its tables are not its own');
  return version === FORMAT ? FORMAT : FIRST_FORMAT;
};

const readTotals = (path: string, database: DatabaseSync): Totals => {
  const found = database.prepare('SELECT store, commits, row_count AS rows, sum, checksum FROM totals').all();
  const { store, commits, rows, sum, checksum } = found[0] ?? {};
  const whole = found.length === 1 && typeof store === 'string' && typeof commits === 'number' && typeof rows === 'number';
  if (!whole || typeof sum !== 'number' || totalsChecksum({ store, commits, rows, sum }) !== checksum)
    throw damaged(path, 'its totals are not what was written');
  return { store, commits, rows, sum };
};

const asStored = ({ number, space, body }: Record<string, unknown>): StoredRow | null =>
  typeof number === 'number' && typeof space === 'string' && isBytes(body) ? { number, space, body } : null;

const decode = (body: Uint8Array): Fields =>
  deserialize(Buffer.from(body.buffer, body.byteOffset, body.byteLength), { promoteBuffers: true });

const readContent = (path: string, database: DatabaseSync): DataFileContent | null => {
  const format = formatOf(path, database);
  if (format === null) return null;
  const totals = format === FORMAT ? readTotals(path, database) : null;
  const rows: LoadedRow[] = [];
  const checksums = new Map<number, number>();
  for (const found of database.prepare('SELECT number, space, body, checksum FROM documents ORDER BY number').iterate()) {
    const row = asStored(found);
    const checksum = row && rowChecksum(row);
    const written = row && !totals ? crc32(row.body) : checksum;
    if (!row || checksum === null || written !== found['checksum'])
      throw damaged(path, `document ${String(found['number'])} is not what was written`);
    rows.push({ number: row.number, space: row.space, doc: decode(row.body) });
    checksums.set(row.number, checksum);
  }
  if (totals && (totals.rows !== rows.length || totals.sum !== sumOf(checksums)))
    throw damaged(path, `it holds ${rows.length} documents and not the ${totals.rows} that were written last`);
  return { rows, checksums, totals };
};

/** Reads all of the file and changes nothing, so that a refused file can still be repaired; null when there is no file, or one without tables. */
export const readDataFile = (path: string): DataFileContent | null => {
  if (bytesIn(path) === 0) return null;
  try {
    checkHeader(path);
    const database = new DatabaseSync(path, { readOnly: true, timeout: 0 });
    try {
      return readContent(path, database);
    } finally {
      database.close();
      // The index of the log, which SQLite makes for readers and leaves.
      rmSync(`${path}-shm`, { force: true });
    }
  } catch (error) {
    throw unusable(path, error);
  }
};

/** Refuses a file that has less than was answered. */
export const refuseLoss = (path: string, content: DataFileContent | null, counted: CountedCommits | null): void => {
  const [wal, counter] = [walPath(path), counterPath(path)];
  const { store, commits } = content?.totals ?? { store: null, commits: 0 };
  if (bytesIn(path) === 0) {
    if (bytesIn(wal) > 0) throw damaged(path, `it is missing or empty, and ${wal} belongs to it`);
    if (counted && counted.commits > 0) throw damaged(path, `it is missing or empty, and ${counter} counts ${counted.commits} commits`);
  }
  if (counted === null) return;
  const wayOut = `To go on with what is left, delete ${counter}`;
  if (store !== null && store !== counted.store) throw damaged(path, `it is not of the store whose commits ${counter} counts. ${wayOut}`);
  if (commits < counted.commits)
    throw damaged(path, `it or ${wal} lacks the last ${counted.commits - commits} of ${counted.commits} commits. ${wayOut}`);
};

export const counterPath = (path: string): string => `${path}-commits`;
const walPath = (path: string): string => `${path}-wal`;
