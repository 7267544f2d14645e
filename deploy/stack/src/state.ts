import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StartupError } from '@bubbles/kernel/run-process.ts';
import { z } from 'zod';
import { StackLayout } from './plan.ts';

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
    throw new StartupError(`${path} is of another version: end the processes that ${join(home, 'pids')} names, and delete it`, error);
  }
};

/** The URLs may hold passwords. */
export const keepState = (home: string, state: StackState): void =>
  writeFileSync(fileIn(home), JSON.stringify(state, null, 2), { mode: 0o600 });

export const forgetState = (home: string): void => rmSync(fileIn(home), { force: true });
