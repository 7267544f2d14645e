import { existsSync, mkdirSync, renameSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { errorCode } from '@bubbles/kernel/errors.ts';
import { type CommitCounter, openCommitCounter, readCommitCounter } from './commit-counter.ts';
import {
  addToSum,
  type Checksums,
  counterPath,
  type DataFileContent,
  FORMAT,
  type LoadedRow,
  readDataFile,
  refuseLoss,
  rowChecksum,
  type StoredRow,
  sumOf,
  TABLES,
  type Totals,
  totalsChecksum,
} from './data-file-content.ts';
import { DataFileRefused, inUse, unusable } from './data-file-faults.ts';

/** Rows by number; null for one that goes. */
type RowChanges = ReadonlyMap<number, StoredRow | null>;

export interface DataFile {
  /** All or nothing. */
  write(changes: RowChanges): void;
  clear(): void;
  close(): void;
}

interface OpenedDataFile {
  readonly file: DataFile;
  readonly rows: readonly LoadedRow[];
  /** False when there was no counter to tell whether the file has every commit that was answered. */
  readonly counted: boolean;
}

/** NORMAL keeps what was committed over a `kill -9`; only a power cut may take the last commits. */
const SETTINGS = `
  PRAGMA locking_mode = EXCLUSIVE;
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;`;
/** A process that is killed while it makes the file must not leave a journal that no reader can roll back. */
const NEW_SETTINGS = 'PRAGMA journal_mode = MEMORY;';

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

const transactions = (database: DatabaseSync) => {
  const begin = database.prepare('BEGIN IMMEDIATE');
  const end = database.prepare('COMMIT');
  return <R>(work: () => R): R => {
    begin.run();
    try {
      const result = work();
      end.run();
      return result;
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK');
      throw error;
    }
  };
};

const PUT_TOTALS = 'INSERT INTO totals (store, commits, row_count, sum, checksum) VALUES (?, ?, ?, ?, ?)';

/** The totals as they are, or of a file that had none before. */
const prepare = (path: string, database: DatabaseSync, content: DataFileContent | null): Totals =>
  transactions(database)(() => {
    if (content?.totals) {
      const now = database.prepare('SELECT commits FROM totals').get()?.['commits'];
      if (now !== content.totals.commits) throw inUse(path);
      return content.totals;
    }
    if (!content) database.exec(TABLES.documents);
    database.exec(TABLES.totals);
    const store = String(database.prepare('SELECT lower(hex(randomblob(16))) AS id').get()?.['id']);
    const checksums: Checksums = content?.checksums ?? new Map();
    const mark = database.prepare('UPDATE documents SET checksum = ? WHERE number = ?');
    for (const [number, checksum] of checksums) mark.run(checksum, number);
    const totals: Totals = { store, commits: content ? 1 : 0, rows: checksums.size, sum: sumOf(checksums) };
    database.prepare(PUT_TOTALS).run(store, totals.commits, totals.rows, totals.sum, totalsChecksum(totals));
    database.exec(`PRAGMA user_version = ${FORMAT}`);
    return totals;
  });

const openDatabase = (path: string, isNew: boolean): DatabaseSync => {
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    database.exec(isNew ? NEW_SETTINGS + SETTINGS : SETTINGS);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
};

interface Parts {
  readonly database: DatabaseSync;
  readonly counter: CommitCounter;
  readonly totals: Totals;
  readonly checksums: Map<number, number>;
}

const dataFile = ({ database, counter, checksums, ...parts }: Parts): DataFile => {
  let { totals } = parts;
  const inTransaction = transactions(database);
  const put = database.prepare('INSERT OR REPLACE INTO documents (number, space, body, checksum) VALUES (?, ?, ?, ?)');
  const remove = database.prepare('DELETE FROM documents WHERE number = ?');
  const putTotals = database.prepare('UPDATE totals SET commits = ?, row_count = ?, sum = ?, checksum = ?');

  /** Rows, totals and then the counter. */
  const commit = (change: () => Pick<Totals, 'rows' | 'sum'>) => {
    totals = inTransaction(() => {
      const next = { store: totals.store, commits: totals.commits + 1, ...change() };
      putTotals.run(next.commits, next.rows, next.sum, totalsChecksum(next));
      return next;
    });
  };
  const apply = (number: number, row: StoredRow | null): number | null => {
    if (!row) {
      remove.run(number);
      return null;
    }
    const checksum = rowChecksum(row);
    put.run(number, row.space, row.body, checksum);
    return checksum;
  };

  return {
    write(changes) {
      const written: (number | null)[] = [];
      commit(() => {
        let { rows, sum } = totals;
        for (const [number, row] of changes) {
          const [before, after] = [checksums.get(number), apply(number, row)];
          rows += (after === null ? 0 : 1) - (before === undefined ? 0 : 1);
          sum = addToSum(sum, (after ?? 0) - (before ?? 0));
          written.push(after);
        }
        return { rows, sum };
      });
      let at = 0;
      for (const number of changes.keys()) {
        const checksum = written[at] ?? null;
        if (checksum === null) checksums.delete(number);
        else checksums.set(number, checksum);
        at += 1;
      }
      counter.write(totals.commits);
    },
    clear() {
      commit(() => {
        database.exec('DELETE FROM documents');
        return { rows: 0, sum: 0 };
      });
      checksums.clear();
      counter.write(totals.commits);
    },
    close() {
      counter.close();
      database.close();
    },
  };
};

/** Opens the file under an exclusive lock, which ends with this process, however it ends. */
const take = (path: string, content: DataFileContent | null): DataFile => {
  const database = openDatabase(path, content === null);
  try {
    const totals = prepare(path, database, content);
    const counter = openCommitCounter(counterPath(path), totals);
    return dataFile({ database, counter, totals, checksums: new Map(content?.checksums) });
  } catch (error) {
    database.close();
    throw error;
  }
};

/** The file itself is moved first: parts without a file are refused, so that nothing is opened after half a move. */
const PARTS = ['', '-wal', '-shm', '-commits'];
const partsOf = (path: string): string[] => PARTS.map((part) => path + part).filter((part) => existsSync(part));

/** Whoever opens a pipe waits for its other end, for ever. */
const refuseOtherThanFiles = (path: string): void => {
  for (const part of partsOf(path)) if (!statSync(part).isFile()) throw new Error(`${part} is not a file`);
};

/** Opens or makes the file; throws an `Error` of one clear line, and changes nothing then, when it is in use, damaged or behind what was answered. */
export function openDataFile(path: string): OpenedDataFile {
  try {
    makeFolder(dirname(path));
    refuseOtherThanFiles(path);
    const content = readDataFile(path);
    const counted = readCommitCounter(counterPath(path));
    refuseLoss(path, content, counted);
    return { file: take(path, content), rows: content?.rows ?? [], counted: !content?.totals || counted !== null };
  } catch (error) {
    throw unusable(path, error);
  }
}

const refuseInUse = (path: string): void => {
  try {
    readDataFile(path);
  } catch (error) {
    if (error instanceof DataFileRefused && error.reason === 'in use') throw error;
  }
};

/** Moves a data file with all that belongs to it into a new folder, whatever its state; false when there is nothing to move. Refused while it is in use. */
export const setAsideDataFile = (path: string, folder: string): boolean => {
  const present = partsOf(path);
  if (present.length === 0) return false;
  refuseInUse(path);
  mkdirSync(folder);
  for (const part of present) renameSync(part, join(folder, basename(part)));
  return true;
};
