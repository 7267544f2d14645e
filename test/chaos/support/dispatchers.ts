import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { Answers, DispatcherSettings, Order, Reply, Report, Standing, Task, World } from './dispatcher-orders.ts';
import { within } from './within.ts';

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
  /** What each is at, and what is left to do, in words. */
  state(): readonly (string | Promise<string>)[];
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
  /** Refused too when the process ends over it. */
  ask<T extends Task>(task: T): Promise<Answer<T>>;
  kill(): Promise<void>;
}

type Answer<T extends Task> = { readonly refused: null; readonly answer: Answers[T['task']] } | { readonly refused: string };

const MODULE = new URL('dispatcher-process.ts', import.meta.url).pathname;
const ASK_AGAIN_MS = 50;

const launch = (settings: DispatcherSettings): Dispatcher => {
  const child = spawn(process.execPath, [MODULE], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const asked = new Map<number, (reply: Reply) => void>();
  const ready = Promise.withResolvers<void>();
  let orders = 0;
  child.once('exit', () => {
    ready.reject(new Error(`${settings.name} ended before it was ready`));
    for (const [number, hear] of asked) hear({ number, refused: 'it ended' });
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
      return report.refused === null ? { refused: null, answer: report.answer as Answers[T['task']] } : report;
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

  /** Null when it was refused. */
  const answerOf = async <T extends Task>({ ask }: Dispatcher, task: T): Promise<Answers[T['task']] | null> => {
    const said = await ask(task);
    return said.refused === null ? said.answer : null;
  };

  /** The next in turn, until one has answered. */
  const askAny = <T extends Task>(task: T): Promise<Answers[T['task']]> => {
    let last = 'nobody was asked';
    const asking = async (over: AbortSignal) => {
      for (;;) {
        const alive = [...running.values()];
        turn += 1;
        const next = alive[turn % alive.length];
        if (next !== undefined) {
          last = `${next.name} has not answered`;
          const said = await next.ask(task);
          if (said.refused === null) return said.answer;
          last = `${next.name} refused: ${said.refused}`;
        }
        await pause(ASK_AGAIN_MS, undefined, { signal: over });
      }
    };
    return within({ what: `an answer to "${task.task}"`, state: () => [last] }, asking);
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
      await within({ what: `${dispatcher.name} is ready` }, () => dispatcher.ready);
      running.set(dispatcher.name, dispatcher);
    },
    open: () => askAny({ task: 'count-open' }),
    standing: () => askAny({ task: 'look' }),
    slotsTaken: async () => {
      const taken = await Promise.all([...running.values()].map((dispatcher) => answerOf(dispatcher, { task: 'count-slots' })));
      return taken.reduce<number>((sum, count) => sum + (count ?? 0), 0);
    },
    async asking(name) {
      const dispatcher = running.get(name);
      return dispatcher === undefined ? 0 : ((await answerOf(dispatcher, { task: 'count-asking' })) ?? 0);
    },
    state() {
      const each = [...running.values()].map(async (dispatcher) => {
        const [slots, asking] = [await answerOf(dispatcher, { task: 'count-slots' }), await answerOf(dispatcher, { task: 'count-asking' })];
        return `${dispatcher.name}: ${slots} slots taken, ${asking} questions without an answer`;
      });
      return [...each, `killed: ${[...killed].join(', ') || 'none'}`, askAny({ task: 'tell-open' })];
    },
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
