import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { Answers, DispatcherSettings, Order, Reply, Report, Standing, Task, World } from './dispatcher-orders.ts';

/** Dispatchers on one store, and their broker where they have no other. */
export interface Dispatchers {
  /** Tells of a bubble, again and whoever lives, until it was taken. */
  tell(bubble: string): Promise<void>;
  /** Ends one where it stands. */
  kill(name: string): Promise<void>;
  /** One more. */
  start(): Promise<void>;
  readonly alive: readonly string[];
  readonly killed: ReadonlySet<string>;
  /** How many deliveries are not finished. */
  open(): Promise<number>;
  standing(): Promise<Standing>;
  /** Of all processes together. */
  slotsTaken(): Promise<number>;
  /** How many questions of this one identity has not answered. */
  asking(name: string): Promise<number>;
  /** For all there are and will be. */
  become(change: Partial<World>): Promise<void>;
  /** Resolves when none has a POST on the wire. */
  settle(): Promise<void>;
  stop(): Promise<void>;
}

/** One process, which may be gone at any moment. */
interface Dispatcher {
  readonly name: string;
  readonly ready: Promise<void>;
  /** Null when it was refused, or the process ended over it. */
  ask<T extends Task>(task: T): Promise<Answers[T['task']] | null>;
  kill(): Promise<void>;
}

const MODULE = new URL('dispatcher-process.ts', import.meta.url).pathname;
const ASK_AGAIN_MS = 50;

const launch = (settings: DispatcherSettings): Dispatcher => {
  const child = spawn(process.execPath, [MODULE], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const asked = new Map<number, (reply: Reply) => void>();
  const ready = Promise.withResolvers<void>();
  let orders = 0;
  child.once('exit', () => {
    ready.reject(new Error(`${settings.name} ended before it was ready`));
    for (const [number, hear] of asked) hear({ number, refused: true });
  });
  // Both ends of the channel are ours.
  child.on('message', (message) => {
    const report = message as Report;
    if ('ready' in report) ready.resolve();
    else asked.get(report.number)?.(report);
  });
  child.send({ ...settings });
  return {
    name: settings.name,
    ready: ready.promise,
    async ask<T extends Task>(task: T) {
      if (!child.connected) throw new Error(`${settings.name} ended by itself`);
      const order: Order = { number: orders++, task };
      const heard = Promise.withResolvers<Reply>();
      asked.set(order.number, heard.resolve);
      child.send(order, () => null);
      const report = await heard.promise;
      asked.delete(order.number);
      // The process answers what the task asks.
      return report.refused ? null : (report.answer as Answers[T['task']]);
    },
    kill: () => end(child),
  };
};

const end = async (child: ChildProcess): Promise<void> => {
  child.kill('SIGKILL');
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
};

export type CommonSettings = Omit<DispatcherSettings, 'name' | 'world'>;

export const openDispatchers = (settings: CommonSettings): Dispatchers => {
  let world: World = { identity: 'up', aheadMs: 0 };
  const launched: Dispatcher[] = [];
  const running = new Map<string, Dispatcher>();
  const killed = new Set<string>();
  let started = 0;
  let turn = 0;

  /** The next in turn, until one has answered. */
  const askAny = async <T extends Task>(task: T): Promise<Answers[T['task']]> => {
    for (;;) {
      const alive = [...running.values()];
      turn += 1;
      const answer = (await alive[turn % alive.length]?.ask(task)) ?? null;
      if (answer !== null) return answer;
      await pause(ASK_AGAIN_MS);
    }
  };

  const askAll = async (task: Task): Promise<void> => {
    await Promise.all([...running.values()].map((dispatcher) => dispatcher.ask(task)));
  };

  return {
    killed,
    get alive() {
      return [...running.keys()];
    },
    async tell(bubble) {
      await askAny({ task: 'take', bubble });
    },
    async kill(name) {
      const victim = running.get(name);
      if (victim === undefined) throw new Error(`${name} does not run`);
      running.delete(name);
      killed.add(name);
      await victim.kill();
    },
    async start() {
      started += 1;
      const dispatcher = launch({ ...settings, world, name: `dispatcher-${started}` });
      launched.push(dispatcher);
      await dispatcher.ready;
      running.set(dispatcher.name, dispatcher);
    },
    open: () => askAny({ task: 'count-open' }),
    standing: () => askAny({ task: 'look' }),
    slotsTaken: async () => {
      const taken = await Promise.all([...running.values()].map((dispatcher) => dispatcher.ask({ task: 'count-slots' })));
      return taken.reduce<number>((sum, count) => sum + (count ?? 0), 0);
    },
    asking: async (name) => (await running.get(name)?.ask({ task: 'count-asking' })) ?? 0,
    async become(change) {
      world = { ...world, ...change };
      await askAll({ task: 'live-in', world });
    },
    settle: () => askAll({ task: 'settle' }),
    async stop() {
      await Promise.all(launched.map((dispatcher) => dispatcher.kill()));
    },
  };
};
