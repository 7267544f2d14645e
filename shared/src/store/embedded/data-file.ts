import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import { deserialize } from 'bson';
import { errorCode } from '../../errors.ts';
import { type Fields, isBytes } from '../plain-data.ts';

/** A document as it lies in the file. */
export interface StoredRow {
  readonly number: number;
  /** Which collection of which database it belongs to. */
  readonly space: string;
  readonly body: Uint8Array;
}

/** Rows by number; null for one that goes. */
export type RowChanges = ReadonlyMap<number, StoredRow | null>;

export interface LoadedRow {
  readonly number: number;
  readonly space: string;
  readonly doc: Fields;
}

export interface DataFile {
  load(): readonly LoadedRow[];
  /** All or nothing. */
  write(changes: RowChanges): void;
  clear(): void;
  close(): void;
}

const FORMAT = 1;
const SQLITE = { busy: 5, corrupt: 11, foreign: 26 } as const;

/** NORMAL keeps what was committed over a `kill -9`; only a power cut may take the last commits. */
const SETTINGS = `
  PRAGMA locking_mode = EXCLUSIVE;
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  BEGIN IMMEDIATE;
  CREATE TABLE IF NOT EXISTS documents (number INTEGER PRIMARY KEY, space TEXT NOT NULL, body BLOB NOT NULL, checksum INTEGER NOT NULL);
  COMMIT;`;

const sqliteCode = (error: unknown): number | null =>
  Error.isError(error) && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode & 0xff : null;

const unusable = (path: string, error: unknown): Error => {
  const code = sqliteCode(error);
  if (code === SQLITE.busy) return new Error(`The data file ${path} is in use by another process.`, { cause: error });
  if (code === SQLITE.corrupt || code === SQLITE.foreign) return new Error(`The data file ${path} is damaged.`, { cause: error });
  return new Error(`The data file ${path} cannot be opened: ${Error.isError(error) ? error.message : String(error)}.`, { cause: error });
};

const damaged = (path: string, what: string, cause?: unknown) => new Error(`The data file ${path} is damaged: ${what}.`, { cause });

/** Folder by folder: the recursive mkdir of Node never ends below a parent that answers ENOENT to it, as /proc does. */
const makeFolder = (folder: string): void => {
  if (existsSync(folder)) return;
  makeFolder(dirname(folder));
  try {
    mkdirSync(folder);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
};

const open = (path: string): DatabaseSync => {
  let database: DatabaseSync | null = null;
  try {
    makeFolder(dirname(path));
    database = new DatabaseSync(path, { timeout: 0 });
    database.exec(SETTINGS);
    return database;
  } catch (error) {
    database?.close();
    throw unusable(path, error);
  }
};

const refuseDamage = (path: string, database: DatabaseSync) => {
  const found = database.prepare('PRAGMA quick_check(1)').get()?.['quick_check'];
  if (found !== 'ok') throw damaged(path, 'its pages do not fit together', found);
  const format = database.prepare('PRAGMA user_version').get()?.['user_version'];
  if (format === 0) database.exec(`PRAGMA user_version = ${FORMAT}`);
  else if (format !== FORMAT) throw new Error(`The data file ${path} was written by another version (format ${String(format)}).`);
};

const decode = (path: string, row: Record<string, unknown>): LoadedRow => {
  const { number, space, body, checksum } = row;
  const whole = typeof number === 'number' && typeof space === 'string' && isBytes(body);
  if (!whole || crc32(body) !== checksum) throw damaged(path, `document ${String(number)} is not what was written`);
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  return { number, space, doc: deserialize(bytes, { promoteBuffers: true }) };
};

const inTransaction = (database: DatabaseSync, work: () => void) => {
  database.exec('BEGIN');
  try {
    work();
    database.exec('COMMIT');
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
};

/** Opens or makes the file and holds it against every other process; the hold ends with this process, however it ends. */
export function openDataFile(path: string): DataFile {
  const database = open(path);
  try {
    refuseDamage(path, database);
  } catch (error) {
    database.close();
    throw sqliteCode(error) === null ? error : unusable(path, error);
  }
  const put = database.prepare('INSERT OR REPLACE INTO documents (number, space, body, checksum) VALUES (?, ?, ?, ?)');
  const remove = database.prepare('DELETE FROM documents WHERE number = ?');

  return {
    load() {
      try {
        const rows = database.prepare('SELECT number, space, body, checksum FROM documents ORDER BY number').all();
        return rows.map((row) => decode(path, row));
      } catch (error) {
        database.close();
        throw sqliteCode(error) === null ? error : unusable(path, error);
      }
    },
    write: (changes) =>
      inTransaction(database, () => {
        for (const [number, row] of changes) {
          if (row) put.run(number, row.space, row.body, crc32(row.body));
          else remove.run(number);
        }
      }),
    clear: () => inTransaction(database, () => database.exec('DELETE FROM documents')),
    close: () => database.close(),
  };
}
