import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { basename } from 'node:path';
import { cpuMsOf, type Memory, memoryOf } from './process-figures.ts';

/** Cores: what is measured has one for itself where there are two. */
export type Core = 'measured' | 'rest' | 'any';
const PINNED: Readonly<Record<Core, readonly string[]>> = {
  measured: ['taskset', '-c', '0'],
  rest: ['taskset', '-c', '1'],
  any: [],
};

/** Arguments of a child whose traces can be switched off. */
export const SWITCHED = ['--import', new URL('../processes/with-switch.ts', import.meta.url).href];

/** Where profiles of the children go (`--profile`), null for none. */
let profiles: string | null = null;
export const profileChildren = (folder: string): void => {
  profiles = folder;
};

export interface ChildOptions {
  /** From this folder's parent. */
  readonly module: string;
  readonly settings?: object;
  readonly core?: Core;
  readonly nodeArguments?: readonly string[];
}

export interface Child<R> {
  readonly pid: number;
  /** What it said when it was ready. */
  readonly ready: R;
  cpuMs(): number;
  memory(): Memory;
  /** Asks it something and waits for the answer. */
  ask<A>(message: unknown): Promise<A>;
  stop(): Promise<void>;
}

const running = new Set<ChildProcess>();

/** Whatever happens, nothing stays behind. */
export const endChildren = (): void => {
  for (const child of running) child.kill('SIGKILL');
};
process.on('exit', endChildren);

export const track = (child: ChildProcess): ChildProcess => {
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
};

/** A child whose channel closes ends by itself, and writes its profile. */
const endChild = async (child: ChildProcess): Promise<void> => {
  if (profiles === null) return stopChild(child);
  child.disconnect();
  await once(child, 'exit');
};

let count = 0;
const profiled = (): number => {
  count += 1;
  return count;
};

export const stopChild = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
};

const answerOf = <A>(child: ChildProcess, module: string): Promise<A> => {
  const { promise, resolve, reject } = Promise.withResolvers<A>();
  const onExit = (code: number | null) => reject(new Error(`${module} ended with ${code}`));
  child.once('exit', onExit);
  child.once('message', (message) => {
    child.off('exit', onExit);
    // Both ends of the channel are ours.
    resolve(message as A);
  });
  return promise;
};

/** A process of ours that says when it is ready. It ends with this one. */
export const startChild = async <R>({ module, settings = {}, core = 'any', nodeArguments = [] }: ChildOptions): Promise<Child<R>> => {
  const path = new URL(`../${module}`, import.meta.url).pathname;
  const profiling =
    profiles === null ? [] : ['--cpu-prof', '--cpu-prof-dir', profiles, '--cpu-prof-name', `${basename(module)}.${profiled()}.cpuprofile`];
  const [command = '', ...rest] = [...PINNED[core], process.execPath, ...profiling, ...nodeArguments, path];
  const child = track(
    spawn(command, rest, {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    }),
  );
  child.send({ ...settings });
  const ready = await answerOf<R>(child, module);
  const pid = child.pid ?? 0;
  return {
    pid,
    ready,
    cpuMs: () => cpuMsOf(pid),
    memory: () => memoryOf(pid),
    ask: <A>(message: unknown) => {
      const answer = answerOf<A>(child, module);
      child.send(message as object);
      return answer;
    },
    stop: () => endChild(child),
  };
};
