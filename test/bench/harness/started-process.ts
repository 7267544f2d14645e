import { type ChildProcess, spawn } from 'node:child_process';
import { stopChild, track } from './children.ts';
import { type Memory, memoryOf } from './process-figures.ts';

/** A process of the product as it is run, timed from its birth. */
export interface StartedProcess {
  /** Until `isUp` was true, milliseconds. */
  readonly startMs: number;
  readonly output: string;
  memory(): Memory;
  stop(): Promise<void>;
}

export interface StartOptions {
  readonly arguments: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Asked again and again, with what the process has written so far. */
  readonly isUp: (output: string) => boolean | Promise<boolean>;
}

const ROOT = new URL('../../../', import.meta.url).pathname;
const ASK_EVERY_MS = 2;
const PATIENCE_MS = 15_000;
/** What the launcher sets for what it starts. */
const LAUNCHED = { MALLOC_TRIM_THRESHOLD_: '131072' };

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

export const startProcess = async ({ arguments: args, environment, isUp }: StartOptions): Promise<StartedProcess> => {
  const began = performance.now();
  const child: ChildProcess = track(
    spawn(process.execPath, [...args], {
      cwd: ROOT,
      env: { PATH: process.env['PATH'], ...LAUNCHED, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  );
  let output = '';
  child.stdout?.on('data', (chunk) => {
    output += chunk;
  });
  let errors = '';
  child.stderr?.on('data', (chunk) => {
    errors += chunk;
  });
  while (!(await isUp(output))) {
    const lost = child.exitCode !== null || performance.now() - began > PATIENCE_MS;
    if (lost) throw new Error(`${args.join(' ')} did not start: ${errors}`);
    await pause(ASK_EVERY_MS);
  }
  return {
    startMs: performance.now() - began,
    output,
    memory: () => memoryOf(child.pid ?? 0),
    stop: () => stopChild(child),
  };
};

/** True when the address answers with the wanted status. */
export const answers = async (url: string, status = 200, headers: Readonly<Record<string, string>> = {}): Promise<boolean> => {
  try {
    const answer = await fetch(url, { headers });
    await answer.arrayBuffer();
    return answer.status === status;
  } catch (error) {
    if (error instanceof TypeError) return false;
    throw error;
  }
};
