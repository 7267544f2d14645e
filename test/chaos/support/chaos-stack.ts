import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultReplicas, type ProcessPlan } from '../../../deploy/stack/src/plan.ts';
import { awaitReady } from '../../../deploy/stack/src/readiness.ts';
import { openStack, type Stack } from '../../../deploy/stack/src/stack.ts';
import type { FrailEngines } from './engines.ts';

/** Every service as processes of the test's own, which may be ended at any moment. */
export interface ChaosStack extends Stack {
  readonly operatorKeyFile: string;
  /** Where its mails lie. */
  readonly mailFolder: string;
  /** The process ends where it stands. */
  kill(plan: ProcessPlan): Promise<void>;
  /** Milliseconds until it was ready. */
  start(plan: ProcessPlan): Promise<number>;
  close(): Promise<void>;
}

/** Beside the port of `npm run stack`. */
const PORT = Number(process.env['CHAOS_PORT'] ?? 8480);
/** Longer than those who watch its readiness take to notice. */
const DRAIN_NOTICE = '1s';

/** Two of each service, but for the dispatcher: what it would be told is for the test to read. That a slow machine refuses some is another matter. */
export const chaosStack = async (
  { amqpUrl, mongoUrl }: FrailEngines,
  settings: Readonly<Record<string, string>> = {},
): Promise<ChaosStack> => {
  const home = mkdtempSync(join(tmpdir(), 'stack-'));
  const replicas = { ...defaultReplicas(), 'webhooks-dispatcher': 0 };
  const engines = { amqpUrl, mongoUrl };
  const layout = {
    ...engines,
    port: PORT,
    folder: home,
    databasePrefix: '',
    replicas,
    drainNotice: DRAIN_NOTICE,
    shedding: false,
    settings,
  };
  const stack = openStack({ home, layout });
  await stack.up();
  return {
    ...stack,
    mailFolder: join(home, 'mail'),
    operatorKeyFile: stack.keys.privateKeyFile('operator'),
    async kill(plan) {
      await stack.processes.end(plan, 'SIGKILL');
    },
    async start(plan) {
      const began = performance.now();
      stack.processes.start(plan);
      await awaitReady(plan, stack.processes);
      return performance.now() - began;
    },
    async close() {
      await Promise.all(stack.plans.map((plan) => stack.processes.end(plan, 'SIGKILL')));
      rmSync(home, { recursive: true, force: true });
    },
  };
};
