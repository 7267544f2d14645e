import { closeSync, constants, openSync, readFileSync, writeSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { errorCode } from '@bubbles/kernel/errors.ts';

/**
 * Counts the commits of a data file in a file beside it. It is written after each commit and before its answer, so that a data file with fewer commits has
 * lost some.
 */
export interface CommitCounter {
  write(commits: number): void;
  close(): void;
}

export interface CountedCommits {
  /** The id of the data file's store. */
  readonly store: string;
  readonly commits: number;
}

const STORE_LENGTH = 32;
const COMMITS_LENGTH = 16;
const CHECKSUM_LENGTH = 8;
const SLOT_LENGTH = STORE_LENGTH + COMMITS_LENGTH + CHECKSUM_LENGTH + 3;

const checksumOf = (text: string): string => crc32(text).toString(16).padStart(CHECKSUM_LENGTH, '0');

const slotOf = ({ store, commits }: CountedCommits): string => {
  const text = `${store} ${String(commits).padStart(COMMITS_LENGTH, '0')}`;
  return `${text} ${checksumOf(text)}\n`;
};

/** Null for a slot that is not as it was written. */
const readSlot = (slot: string): CountedCommits | null => {
  const text = slot.slice(0, STORE_LENGTH + 1 + COMMITS_LENGTH);
  const [store = '', commits = ''] = text.split(' ');
  const counted = { store, commits: Number(commits) };
  return slotOf(counted) === slot ? counted : null;
};

/** The newer of the two slots that are whole; null when the file is absent or damaged. */
export const readCommitCounter = (path: string): CountedCommits | null => {
  try {
    const text = readFileSync(path, 'latin1');
    const slots = [readSlot(text.slice(0, SLOT_LENGTH)), readSlot(text.slice(SLOT_LENGTH, 2 * SLOT_LENGTH))];
    const [newest = null] = slots.filter((slot) => slot !== null).toSorted((one, other) => other.commits - one.commits);
    return newest;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
};

/** Two slots in turn: a process that is killed while it writes one leaves the other. */
export const openCommitCounter = (path: string, { store, commits }: CountedCommits): CommitCounter => {
  const file = openSync(path, constants.O_RDWR | constants.O_CREAT);
  const slot = Buffer.alloc(SLOT_LENGTH);
  const write = (count: number) => {
    slot.write(slotOf({ store, commits: count }), 'latin1');
    writeSync(file, slot, 0, SLOT_LENGTH, (count % 2) * SLOT_LENGTH);
  };
  write(commits);
  return { write, close: () => closeSync(file) };
};
