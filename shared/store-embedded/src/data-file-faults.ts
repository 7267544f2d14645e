import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';

/** `unreadable`: it is damaged, lacks something or was written by another version; another file in its place would be opened. */
type RefusalReason = 'in use' | 'unreadable' | 'not opened';

/** What keeps a data file from being opened, in one clear line. */
export class DataFileRefused extends Error {
  readonly reason: RefusalReason;

  constructor(message: string, { reason, cause }: { readonly reason: RefusalReason; readonly cause?: unknown }) {
    super(message, { cause });
    this.name = 'DataFileRefused';
    this.reason = reason;
  }
}

const SQLITE = { busy: 5, locked: 6, outOfMemory: 7, readOnly: 8, io: 10, full: 13, cannotOpen: 14 } as const;
/** SQLite's codes for a full disk, which depend on the file that it could not make or write. */
const OF_THE_DISK: readonly (number | null)[] = [SQLITE.io, SQLITE.full, SQLITE.cannotOpen];
const NOT_OF_THE_FILE: readonly number[] = Object.values(SQLITE);

const sqliteCode = (error: unknown): number | null =>
  Error.isError(error) && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode & 0xff : null;

const hasNoRoom = (path: string): boolean => statfsSync(dirname(path), { bigint: true }).bavail === 0n;

export const inUse = (path: string, cause?: unknown) =>
  new DataFileRefused(`The data file ${path} is in use by another process.`, { reason: 'in use', cause });

export const otherFormat = (path: string, format: number) =>
  new DataFileRefused(`The data file ${path} was written by another version (format ${format}).`, { reason: 'unreadable' });

export const damaged = (path: string, what: string, cause?: unknown) =>
  new DataFileRefused(`The data file ${path} is damaged: ${what}.`, { reason: 'unreadable', cause });

export const unusable = (path: string, error: unknown): DataFileRefused => {
  if (error instanceof DataFileRefused) return error;
  const code = sqliteCode(error);
  if (code === SQLITE.busy || code === SQLITE.locked) return inUse(path, error);
  const text = OF_THE_DISK.includes(code) && hasNoRoom(path) ? 'its disk is full' : Error.isError(error) ? error.message : String(error);
  if (code !== null && !NOT_OF_THE_FILE.includes(code)) return damaged(path, text, error);
  return new DataFileRefused(`The data file ${path} cannot be opened: ${text}.`, { reason: 'not opened', cause: error });
};
