import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { StackLayout } from './layout.ts';

const State = z.object({
  layout: StackLayout,
  /** Whether the engines run for this stack alone. */
  ownEngines: z.boolean(),
});
export type StackState = z.infer<typeof State>;

const fileIn = (home: string): string => join(home, 'state.json');

/** What the last `up` made; null when there was none since the last `down`. */
export const readState = (home: string): StackState | null =>
  existsSync(fileIn(home)) ? State.parse(JSON.parse(readFileSync(fileIn(home), 'utf8'))) : null;

/** The URLs may hold passwords. */
export const keepState = (home: string, state: StackState): void =>
  writeFileSync(fileIn(home), JSON.stringify(state, null, 2), { mode: 0o600 });

export const forgetState = (home: string): void => rmSync(fileIn(home), { force: true });
