import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { errorCode } from '@bubbles/kernel/errors.ts';
import { StartupError } from '@bubbles/kernel/run-process.ts';
import { z } from 'zod';
import type { ProcessPlan } from './plan.ts';
import type { Processes } from './processes.ts';

/** All processes start at once, and compile what they load when they never did before. */
const READY_LIMIT_MS = 3 * 60_000;
const LOOK_EVERY_MS = 50;
const PROBE_LIMIT_MS = 3000;

/** What it says of its readiness: null when it is ready, otherwise why it is not. */
export const whyNotReady = async ({ opsUrl }: ProcessPlan): Promise<string | null> => {
  try {
    const answer = await fetch(`${opsUrl}/readyz`, { signal: AbortSignal.timeout(PROBE_LIMIT_MS) });
    const said = await answer.text();
    return answer.ok ? null : said.trim();
  } catch (error) {
    return `no answer: ${String(Error.isError(error) ? (error.cause ?? error) : error)}`;
  }
};

export const isReady = async (plan: ProcessPlan): Promise<boolean> => (await whyNotReady(plan)) === null;

/** Resolves when it may be sent requests; refuses when it ended instead, with its last words. */
export const awaitReady = async (plan: ProcessPlan, processes: Processes): Promise<void> => {
  const deadline = performance.now() + READY_LIMIT_MS;
  for (let why = await whyNotReady(plan); why !== null; why = await whyNotReady(plan)) {
    const file = processes.logFile(plan);
    if (!processes.isRunning(plan)) throw new StartupError(`${plan.name} ended: ${lastWords(file, plan)} (all of it is in ${file})`);
    if (performance.now() > deadline)
      throw new StartupError(`${plan.name} is not ready after three minutes (${why}): ${lastWords(file, plan)} (all of it is in ${file})`);
    await pause(LOOK_EVERY_MS);
  }
};

const Fault = z.object({ message: z.string(), cause: z.unknown().optional() });
const FaultLine = z.object({ message: z.string(), error: Fault });

const rootOf = ({ message, cause }: z.infer<typeof Fault>): string => {
  const { data } = Fault.safeParse(cause);
  return data === undefined ? message : rootOf(data);
};

/** Null when the line of the log tells of no fault. */
const faultIn = (line: string): string | null => {
  const { data } = FaultLine.safeParse(jsonIn(line));
  return data === undefined ? null : `${data.message}: ${rootOf(data.error)}`;
};

const jsonIn = (line: string): unknown => {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
};

/** What a process says of its own end, else the last fault in its log. */
const lastWords = (path: string, { service }: ProcessPlan): string => {
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n').reverse();
  const own = lines.find((line) => line.startsWith(`${service}: `));
  if (own !== undefined) return own;
  return lines.map(faultIn).find((fault) => fault !== null) ?? lines[0] ?? '';
};

/** Refuses when somebody else listens where this process should. */
export const checkPorts = async ({ name, url, opsUrl }: ProcessPlan): Promise<void> => {
  for (const { hostname, port } of [new URL(url), new URL(opsUrl)]) {
    const server = createServer();
    const listening = Promise.withResolvers<void>();
    server.once('error', listening.reject).listen({ host: hostname, port: Number(port) }, listening.resolve);
    try {
      await listening.promise;
    } catch (error) {
      if (errorCode(error) !== 'EADDRINUSE') throw error;
      throw new StartupError(`port ${port}, which ${name} needs, is taken; STACK_PORT moves the whole stack`);
    }
    await new Promise((resolve) => server.close(resolve));
  }
};
