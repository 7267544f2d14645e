import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '@bubbles/kernel/errors.ts';
import { StartupError } from '@bubbles/kernel/run-process.ts';
import { z } from 'zod';
import { StackLayout } from './plan.ts';
import { birthOf, isAlive } from './processes.ts';

const State = z.object({
  layout: StackLayout,
  /** Whether the engines run for this stack alone. */
  ownEngines: z.boolean(),
});
export type StackState = z.infer<typeof State>;

const fileIn = (home: string): string => join(home, 'state.json');

/** What the last `up` made; null when there was none since the last `down`. */
export const readState = (home: string): StackState | null => {
  const path = fileIn(home);
  if (!existsSync(path)) return null;
  try {
    return State.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch (error) {
    throw new StartupError(
      `${path} is damaged or of another version: end the processes that ${join(home, 'pids')} names, and delete it`,
      error,
    );
  }
};

/** The URLs may hold passwords. */
export const keepState = (home: string, state: StackState): void =>
  writeFileSync(fileIn(home), JSON.stringify(state, null, 2), { mode: 0o600 });

export const forgetState = (home: string): void => rmSync(fileIn(home), { force: true });

/** One command at a time works on a folder; what a command that was killed left is taken over. */
export const withLock = async <T>(home: string, work: () => Promise<T>): Promise<T> => {
  mkdirSync(home, { recursive: true });
  const path = join(home, 'lock');
  if (!tryToTake(path)) {
    const holder = holderIn(readFileSync(path, 'utf8'));
    if (holder !== null) throw new StartupError(`another command (process ${holder}) is at work on ${home}`);
    rmSync(path);
    if (!tryToTake(path)) throw new StartupError(`another command is at work on ${home}`);
  }
  try {
    return await work();
  } finally {
    rmSync(path, { force: true });
  }
};

/** The process that holds the lock; null when it has ended, also when another one has its pid since. */
const holderIn = (lock: string): number | null => {
  const [pid, birth] = lock.split(' ');
  const holder = Number(pid);
  if (!(holder > 0) || !isAlive(holder)) return null;
  return birth === undefined || birth === birthOf(holder) ? holder : null;
};

/** With its holder in it from the start: a lock that names no process was left by none that runs. */
const tryToTake = (path: string): boolean => {
  const written = `${path}.${process.pid}`;
  writeFileSync(written, `${process.pid} ${birthOf(process.pid) ?? ''}`.trimEnd());
  try {
    linkSync(written, path);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(written);
  }
};
