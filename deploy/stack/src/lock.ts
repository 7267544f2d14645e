import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '@bubbles/kernel/errors.ts';
import { StartupError } from '@bubbles/kernel/run-process.ts';
import { isAlive } from './processes.ts';

/** One command at a time works on a folder; what a command that was killed left is taken over. */
export const withLock = async <T>(home: string, work: () => Promise<T>): Promise<T> => {
  mkdirSync(home, { recursive: true });
  const path = join(home, 'lock');
  if (!tryToTake(path)) {
    const holder = Number(readFileSync(path, 'utf8'));
    if (isAlive(holder)) throw new StartupError(`another command (process ${holder}) is at work on ${home}`);
    rmSync(path);
    if (!tryToTake(path)) throw new StartupError(`another command is at work on ${home}`);
  }
  try {
    return await work();
  } finally {
    rmSync(path, { force: true });
  }
};

const tryToTake = (path: string): boolean => {
  try {
    writeFileSync(path, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
};
