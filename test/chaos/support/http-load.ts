import { setTimeout as pause } from 'node:timers/promises';
import type { ProcessPlan } from '../../../deploy/stack/src/plan.ts';
import { isReady } from '../../../deploy/stack/src/readiness.ts';

export interface Served {
  readonly path: string;
  /** Null when there was no answer. */
  readonly status: number | null;
  readonly retryAfter: string | null;
  /** Why the gateway refused by itself, null when it did not. */
  readonly reason: string | null;
  /** The type of the error, null when there is none. */
  readonly type: string | null;
  readonly tookMs: number;
  /** When it was sent. */
  readonly at: number;
}

export interface HttpLoadOptions {
  readonly gateways: readonly ProcessPlan[];
  /** Taken in turn, so that none exceeds its rate. */
  readonly tokens: readonly string[];
  readonly paths: readonly string[];
  readonly perSecond: number;
}

const WATCH_EVERY_MS = 100;
/** Beyond it the load alone would be what fails them: the gateway refuses a request whose credential nobody has judged within a second. */
const MOST_AT_ONCE = 8;
/** An answer that takes longer says that the machine has too much to do: then half as many are sent at once, and with every quick one a few more. */
const SLOW_MS = 250;
const MORE_AT_ONCE = 1 / 8;
const ANSWER_LIMIT_MS = 30_000;

/**
 * Requests at a steady rate while the work is done, or as fast as a slower machine answers them, through a balancer, which sends to the gateways that say
 * they are ready; answers what came of each.
 */
export const underHttpLoad = async (options: HttpLoadOptions, work: () => Promise<void>): Promise<readonly Served[]> => {
  const load = startLoad(options);
  try {
    await work();
  } finally {
    await load.stop();
  }
  return load.stop();
};

const startLoad = ({ gateways, tokens, paths, perSecond }: HttpLoadOptions) => {
  const ended = new AbortController();
  const watched = watchReadiness(gateways, ended.signal);
  const requests: Promise<Served>[] = [];
  const waiting = new Set<Promise<Served>>();
  let atOnce = MOST_AT_ONCE;
  const send = (n: number) => {
    const url = `${watched.pick(n).url}${paths[n % paths.length] ?? '/'}`;
    const request = ask(url, tokens[n % tokens.length] ?? '');
    requests.push(request);
    waiting.add(request);
    void request.then(({ tookMs }) => {
      waiting.delete(request);
      atOnce = tookMs > SLOW_MS ? Math.max(1, atOnce / 2) : Math.min(MOST_AT_ONCE, atOnce + MORE_AT_ONCE);
    });
  };
  const run = async () => {
    for (let n = 0, due = performance.now(); !ended.signal.aborted; n++) {
      if (due > performance.now()) await pause(due - performance.now());
      while (waiting.size >= Math.floor(atOnce)) await Promise.race(waiting);
      send(n);
      due = Math.max(due + 1000 / perSecond, performance.now());
    }
  };
  const running = run();
  return {
    async stop(): Promise<readonly Served[]> {
      ended.abort();
      await running;
      return Promise.all(requests);
    },
  };
};

const watchReadiness = (gateways: readonly ProcessPlan[], ended: AbortSignal) => {
  const unready = new Set<ProcessPlan>();
  const watch = async (gateway: ProcessPlan) => {
    while (!ended.aborted) {
      if (await isReady(gateway)) unready.delete(gateway);
      else unready.add(gateway);
      await pause(WATCH_EVERY_MS);
    }
  };
  // Each by itself, so that one that answers late does not hide that another one ends.
  for (const gateway of gateways) void watch(gateway);
  return {
    pick(n: number): ProcessPlan {
      const ready = gateways.filter((gateway) => !unready.has(gateway));
      const gateway = ready.length > 0 ? ready[n % ready.length] : gateways[n % gateways.length];
      if (gateway === undefined) throw new Error('there is no gateway');
      return gateway;
    },
  };
};

/** One request; whatever comes of it is an answer. */
export const ask = async (url: string, token: string): Promise<Served> => {
  const at = performance.now();
  const told = { path: new URL(url).pathname, at };
  try {
    const signal = AbortSignal.timeout(ANSWER_LIMIT_MS);
    const answer = await fetch(url, { headers: { authorization: `Bearer ${token}` }, signal });
    const text = await answer.text();
    const type = answer.ok ? null : errorTypeOf(text);
    const [retryAfter, reason] = [answer.headers.get('retry-after'), answer.headers.get('x-gateway-reason')];
    return { ...told, status: answer.status, retryAfter, reason, type, tookMs: performance.now() - at };
  } catch (error) {
    const type = Error.isError(error) ? `${error.message} ${String(error.cause)}` : String(error);
    return { ...told, status: null, retryAfter: null, reason: null, type, tookMs: performance.now() - at };
  }
};

const errorTypeOf = (text: string): string => {
  try {
    return JSON.parse(text).error.type;
  } catch {
    return text.slice(0, 100);
  }
};

export const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((left, right) => left - right)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0;
