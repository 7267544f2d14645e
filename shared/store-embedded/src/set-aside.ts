import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { basename, join } from 'node:path';
import { readDataFile } from './data-file-content.ts';
import { DataFileRefused } from './data-file-faults.ts';

/** The file itself goes first: what is left beside none is refused, whatever ends this halfway. */
const PARTS = ['', '-wal', '-shm', '-commits'];

const refuseInUse = (path: string): void => {
  try {
    readDataFile(path);
  } catch (error) {
    if (error instanceof DataFileRefused && error.reason === 'in use') throw error;
  }
};

/** Moves a data file with all that belongs to it into a new folder, whatever its state; false when there is nothing to move. Refused while it is in use. */
export const setAsideDataFile = (path: string, folder: string): boolean => {
  const present = PARTS.map((part) => path + part).filter((part) => existsSync(part));
  if (present.length === 0) return false;
  refuseInUse(path);
  mkdirSync(folder);
  for (const part of present) renameSync(part, join(folder, basename(part)));
  return true;
};
