import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultReplicas, type ProcessPlan } from '../../../deploy/stack/src/plan.ts';
import { openStack } from '../../../deploy/stack/src/stack.ts';
import { type FrailEngines, frailEngines } from '../../chaos/support/engines.ts';
import { makePeople } from '../../chaos/support/people.ts';
import { openOutside } from '../../support/outside.ts';
import { type Memory, memoryOf } from './process-figures.ts';
import { answers } from './started-process.ts';

const PORT = 8880;
const BUBBLES_PER_PERSON = 2;
const READ_EVERY_MS = 5;
const PATIENCE_MS = 30_000;

/** Every service and the gateway as `npm run stack` starts them, on engines of this run's own. */
export interface WholeStack {
  readonly plans: readonly ProcessPlan[];
  plansOf(service: string): readonly ProcessPlan[];
  memory(plan: ProcessPlan): Memory;
  /** Kills the process and starts it; milliseconds until it was ready. */
  startAgain(plan: ProcessPlan, environment: Readonly<Record<string, string>>): Promise<number>;
  /** People with a few bubbles each; their tokens. */
  people(count: number): Promise<readonly string[]>;
  stop(): Promise<void>;
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

export const startWholeStack = async (): Promise<WholeStack> => {
  const engines: FrailEngines = await frailEngines();
  const home = mkdtempSync(join(tmpdir(), 'bench-stack-'));
  const { amqpUrl, mongoUrl } = engines;
  const shared = { port: PORT, folder: home, databasePrefix: '', drainNotice: '1s', shedding: true, settings: {} };
  const stack = openStack({ home, layout: { ...shared, amqpUrl, mongoUrl, replicas: defaultReplicas() } });
  const stop = async () => {
    await Promise.all(stack.plans.map((plan) => stack.processes.end(plan, 'SIGKILL')));
    await engines.close();
    rmSync(home, { recursive: true, force: true });
  };
  // Its processes outlive this one unless they are ended: `stop` does so, and this one when it is interrupted.
  process.once('exit', () => {
    for (const plan of stack.plans) stack.processes.signal(plan, 'SIGKILL');
  });
  await stack.up().catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  return {
    plans: stack.plans,
    plansOf: stack.plansOf,
    memory: ({ name }) => memoryOf(Number(readFileSync(join(home, 'pids', `${name}.pid`), 'utf8'))),
    async startAgain(plan, environment) {
      await stack.processes.end(plan, 'SIGKILL');
      const began = performance.now();
      stack.processes.start({ ...plan, environment: { ...plan.environment, ...environment } });
      while (!(await answers(`${plan.opsUrl}/readyz`))) {
        if (performance.now() - began > PATIENCE_MS) throw new Error(`${plan.name} is not ready: ${stack.processes.logFile(plan)}`);
        await pause(READ_EVERY_MS);
      }
      return performance.now() - began;
    },
    async people(count) {
      const identityUrls = stack.plansOf('identity-and-oauth').map(({ url }) => url);
      const outside = await openOutside({ amqpUrl, identityUrls, operatorKeyFile: stack.keys.privateKeyFile('operator') });
      const people = await makePeople(outside, count);
      for (const { id } of people.slice(0, count / 4))
        for (let n = 0; n < BUBBLES_PER_PERSON; n += 1)
          await outside.actions.createBubble({ type: 'screen_recording', participant_ids: [id], stage: 'ready' });
      await outside.settle();
      await outside.close();
      return people.map(({ pat }) => pat);
    },
    stop,
  };
};
