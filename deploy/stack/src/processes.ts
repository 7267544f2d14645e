import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { errorCode } from '@bubbles/kernel/errors.ts';
import type { ProcessPlan } from './plan.ts';

/** The processes of a stack by their pid files, which outlive the command that started them. */
export interface Processes {
  /** In the background; answers before the process serves. */
  start(plan: ProcessPlan): void;
  isRunning(plan: ProcessPlan): boolean;
  /** Sends a signal and resolves when the process has ended; at once when it does not run. Its exit code, when it is known: that of a child. */
  end(plan: ProcessPlan, signal: NodeJS.Signals): Promise<number | null>;
  /** Without waiting for what comes of it. */
  signal(plan: ProcessPlan, signal: NodeJS.Signals): void;
  logFile(plan: ProcessPlan): string;
}

const ROOT = new URL('../../../', import.meta.url).pathname;
/** What the processes have compiled before, relative to the root as in `npm start`. */
const COMPILE_CACHE = 'node_modules/.cache/compile';
/** The value that `deploy/launch.mjs` sets. */
const TRIM_THRESHOLD = '131072';
const LOOK_EVERY_MS = 20;
/** Beyond the hard stop of a process's own. */
const END_LIMIT_MS = 40_000;

/** Starts and stops processes from the sources below `root`. */
export const openProcesses = (home: string, root = ROOT): Processes => {
  const [pids, logs] = [join(home, 'pids'), join(home, 'logs')];
  for (const folder of [pids, logs]) mkdirSync(folder, { recursive: true });
  const pidFile = ({ name }: ProcessPlan) => join(pids, `${name}.pid`);
  const logFile = ({ name }: ProcessPlan) => join(logs, `${name}.log`);
  const children = new Map<string, { readonly child: ChildProcess; readonly exit: Promise<number | null> }>();
  const runningPid = (plan: ProcessPlan): number | null => {
    const pid = readPid(pidFile(plan));
    return pid !== null && isAlive(pid) && isOf(pid, plan) ? pid : null;
  };
  const signal = (plan: ProcessPlan, name: NodeJS.Signals) => {
    const pid = runningPid(plan);
    if (pid !== null) process.kill(pid, name);
  };

  return {
    logFile,
    signal,
    isRunning: (plan) => runningPid(plan) !== null,
    start(plan) {
      const log = openSync(logFile(plan), 'a');
      const child = spawn(process.execPath, [plan.entry], {
        cwd: root,
        env: { NODE_COMPILE_CACHE: COMPILE_CACHE, MALLOC_TRIM_THRESHOLD_: TRIM_THRESHOLD, ...plan.environment },
        stdio: ['ignore', log, log],
        detached: true,
      });
      closeSync(log);
      children.set(plan.name, { child, exit: new Promise((resolve) => child.once('exit', resolve)) });
      child.unref();
      writeFileSync(pidFile(plan), String(child.pid));
    },
    async end(plan, name) {
      signal(plan, name);
      const deadline = performance.now() + END_LIMIT_MS;
      while (runningPid(plan) !== null) {
        if (performance.now() > deadline) signal(plan, 'SIGKILL');
        await pause(LOOK_EVERY_MS);
      }
      rmSync(pidFile(plan), { force: true });
      const started = children.get(plan.name);
      // A command that has nothing else to do would end before it hears of it.
      started?.child.ref();
      return (await started?.exit) ?? null;
    },
  };
};

const readPid = (path: string): number | null => {
  const text = readOrNull(path);
  return text !== null && /^[1-9]\d*$/.test(text) ? Number(text) : null;
};

export const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
};

/** When the process began and in which run of the machine: with its pid no other process has it. Null when there is none, or where the system does not tell. */
export const birthOf = (pid: number): string | null => {
  const [stat, boot] = [readOrNull(`/proc/${pid}/stat`), readOrNull('/proc/sys/kernel/random/boot_id')];
  // After the name of the command, which may hold blanks and brackets, the state comes first and the start is the twentieth.
  return stat === null || boot === null ? null : `${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]}/${boot.trim()}`;
};

/** A pid is given out again after a restart of the machine; one that has ended and was not waited for has no command line. */
const isOf = (pid: number, { entry }: ProcessPlan): boolean => {
  const commandLine = readOrNull(`/proc/${pid}/cmdline`);
  return commandLine === null ? process.platform !== 'linux' : commandLine.includes(entry);
};

const readOrNull = (path: string): string | null => {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ESRCH') return null;
    throw error;
  }
};
