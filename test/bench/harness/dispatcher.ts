import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pauseMs } from 'node:timers/promises';
import type { BenchDispatcherSettings, Done, Task, Teller } from '../processes/dispatcher.ts';
import type { Received } from '../processes/lag-of.ts';
import { type Child, SWITCHED, startChild } from './children.ts';
import { median, percentile } from './statistics.ts';

const WARM_SECONDS = 1;
/** For what was told last. */
const LAST_MS = 500;
export const SECRET = `whsec_${Buffer.alloc(32, 3).toString('base64')}`;

export interface Dispatcher {
  perform(task: Task): Promise<Done>;
  observe(observe: boolean): Promise<void>;
  cpuMs(): number;
  memoryMb(): number;
  stop(): Promise<void>;
}

interface Over {
  readonly mongoUrl?: string;
  readonly amqpUrl?: string;
  /** With traces and with figures of store and broker, as in production, until they are switched off. Else with traces alone. */
  readonly switched?: boolean;
}

/** One process on a store of its own, or on that of another process, with the messages of its broker. */
export const startDispatcher = async (over?: Over): Promise<Dispatcher> => {
  const folder = mkdtempSync(join(tmpdir(), 'bench-webhooks-'));
  const url = over?.mongoUrl ?? process.env['MONGODB_URL'];
  const store = url === undefined ? { path: join(folder, 'data.db') } : { url, name: `bench_webhooks_${process.pid}_${Date.now()}` };
  const settings: BenchDispatcherSettings = { store, secret: SECRET, amqpUrl: over?.amqpUrl ?? null, switched: over?.switched === true };
  const nodeArguments = over?.switched ? SWITCHED : [];
  const child = await startChild({ module: 'processes/dispatcher.ts', settings, core: 'measured', nodeArguments });
  return {
    perform: (task) => child.ask<Done>(task),
    observe: (observe) => child.ask({ observe }),
    cpuMs: child.cpuMs,
    memoryMb: () => child.memory().rssMb,
    async stop() {
      await child.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

export type Receiver = Child<{ readonly port: number; readonly url: string }>;
export const received = (receiver: Receiver) => receiver.ask<Received>('figures');

export interface Telling extends Teller {
  /** Below `/silent` nobody answers. */
  readonly path: string;
  /** Subscriptions, each with an origin of its own. */
  readonly origins: number;
}

/** Each an address of this machine. */
const urlsOf = (receiver: Receiver, { path, origins }: Telling): readonly string[] =>
  Array.from({ length: origins }, (_, n) => `http://127.0.0.${1 + n}:${receiver.ready.port}${path}`);

/** Milliseconds from the moment that a dispatcher of its own is told of a bubble of `tellers` to the POST, of those that are answered. */
export const lags = async (receiver: Receiver, tellers: readonly Telling[], seconds: number) => {
  const dispatcher = await startDispatcher();
  for (const teller of tellers)
    for (const url of urlsOf(receiver, teller)) await dispatcher.perform({ task: 'subscribe', owner: teller.owner, url, count: 1 });
  await dispatcher.perform({ task: 'tell', tellers: tellers.slice(0, 1), seconds: WARM_SECONDS });
  await received(receiver);
  await dispatcher.perform({ task: 'tell', tellers, seconds });
  await pauseMs(LAST_MS);
  const { lags: all } = await received(receiver);
  await dispatcher.stop();
  return { count: all.length, p50: median(all), p95: percentile(all, 0.95), p99: percentile(all, 0.99) };
};
