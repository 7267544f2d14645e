import { setImmediate } from 'node:timers/promises';
import { storeRefusal, storeUnavailable } from '@bubbles/store/collection.ts';
import type { Fields } from '@bubbles/store/plain-data.ts';
import { serialize } from 'bson';
import type { DataFile } from './data-file.ts';
import type { StoredRow } from './data-file-content.ts';

/** Carries the writes of a store to its file. */
export interface Journal {
  /** The document's bytes; refuses a document that cannot be kept before anything has changed. */
  encode(doc: Fields): Uint8Array;
  put(row: StoredRow): void;
  remove(number: number): void;
  /** Resolves when every write so far is kept; rejects while that cannot be, and the next call tries again. */
  flushed(): Promise<void>;
  /** Whether what was written last could not be kept. */
  isBehind(): boolean;
  clear(): void;
  close(): Promise<void>;
}

/** MongoDB's limit for one document. */
const MAX_DOCUMENT_BYTES = 16 * 1024 * 1024;

const NO_BYTES = new Uint8Array();

/** For a store that lives in memory alone. */
export const createMemoryJournal = (): Journal => ({
  encode: () => NO_BYTES,
  put: () => undefined,
  remove: () => undefined,
  flushed: () => Promise.resolve(),
  isBehind: () => false,
  clear: () => undefined,
  close: () => Promise.resolve(),
});

const encode = (doc: Fields): Uint8Array => {
  const body = serialize(doc);
  if (body.length > MAX_DOCUMENT_BYTES)
    throw storeRefusal(`The document ${String(doc['_id'])} is larger than ${MAX_DOCUMENT_BYTES} bytes.`);
  return body;
};

/** All writes of one turn of the event loop are one transaction. `tell` hears once that the file cannot be written, and null when it is written again. */
export function createFileJournal(file: DataFile, tell: (fault: unknown) => void = () => undefined): Journal {
  let pending = new Map<number, StoredRow | null>();
  let commit: Promise<void> | null = null;
  let behind = false;

  const write = () => {
    const changes = pending;
    pending = new Map();
    try {
      file.write(changes);
      if (behind) tell(null);
      behind = false;
    } catch (error) {
      if (!behind) tell(error);
      // They are written with the next commit, unless they were changed again meanwhile.
      pending = new Map([...changes, ...pending]);
      behind = true;
      throw storeUnavailable(error);
    }
  };
  const writeThisTurn = async () => {
    await setImmediate();
    commit = null;
    write();
  };
  const flushed = () => {
    if (pending.size === 0) return Promise.resolve();
    commit ??= writeThisTurn();
    return commit;
  };

  return {
    encode,
    put: (row) => pending.set(row.number, row),
    remove: (number) => pending.set(number, null),
    flushed,
    isBehind: () => behind,
    clear() {
      file.clear();
      pending.clear();
      behind = false;
    },
    async close() {
      try {
        await flushed();
      } finally {
        file.close();
      }
    },
  };
}
