import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { DispatcherSettings, Order, Report } from './dispatcher-process.ts';

/** Dispatchers on one store, and their broker. */
export interface Dispatchers {
  /** Tells of a bubble, again and again and whoever lives, until it was taken. */
  tell(bubble: string): Promise<void>;
  /** Ends one where it stands and starts another in its place. */
  replace(index: number): Promise<void>;
  /** How many deliveries are not finished. */
  open(): Promise<number>;
  stop(): Promise<void>;
}

const MODULE = new URL('dispatcher-process.ts', import.meta.url).pathname;
const TELL_AGAIN_MS = 1000;

type Hear = (report: Report) => void;

const startOne = async (settings: DispatcherSettings, hear: Hear): Promise<ChildProcess> => {
  const child = spawn(process.execPath, [MODULE], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  child.once('exit', () => reject(new Error('a dispatcher ended before it was ready')));
  // Both ends of the channel are ours.
  child.on('message', (message) => {
    const report = message as Report;
    if ('ready' in report) resolve();
    else hear(report);
  });
  child.send({ ...settings });
  await promise;
  return child;
};

const kill = async (child: ChildProcess) => {
  child.kill('SIGKILL');
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
};

export const startDispatchers = async (settings: DispatcherSettings, count: number): Promise<Dispatchers> => {
  const waiting = new Map<string, () => void>();
  let counted: ((open: number) => void) | null = null;
  const hear: Hear = (report) => {
    if ('taken' in report) waiting.get(report.taken)?.();
    if ('open' in report) counted?.(report.open);
  };
  const children: ChildProcess[] = [];
  for (let n = 0; n < count; n += 1) children.push(await startOne(settings, hear));
  let turn = 0;
  const order = (what: Order) => {
    const alive = children.filter(({ connected }) => connected);
    turn += 1;
    alive[turn % alive.length]?.send(what, () => null);
  };

  return {
    async tell(bubble) {
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.set(bubble, resolve);
      order({ bubble });
      const again = setInterval(() => order({ bubble }), TELL_AGAIN_MS);
      await promise;
      clearInterval(again);
      waiting.delete(bubble);
    },
    async replace(index) {
      const child = children[index];
      if (child) await kill(child);
      children[index] = await startOne(settings, hear);
    },
    open() {
      const { promise, resolve } = Promise.withResolvers<number>();
      counted = resolve;
      order({ count: true });
      return promise;
    },
    async stop() {
      await Promise.all(children.map(kill));
    },
  };
};
