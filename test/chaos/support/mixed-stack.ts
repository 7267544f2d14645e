import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import type { Engines } from '../../../deploy/stack/src/engines.ts';
import { defaultReplicas, type ProcessPlan } from '../../../deploy/stack/src/plan.ts';
import { awaitReady } from '../../../deploy/stack/src/readiness.ts';
import { openStack, type Stack } from '../../../deploy/stack/src/stack.ts';
import { releasedTree } from './released-tree.ts';

/** Processes of a release and of the tree, in any mixture, at the same addresses. */
export interface MixedStack {
  readonly services: readonly string[];
  /** Where each answers, whatever release it is of. */
  plansOf(service: string): readonly ProcessPlan[];
  readonly operatorKeyFile: string;
  readonly mailFolder: string;
  /** Everything of the release, and then the jobs of the tree before any of its processes. */
  up(): Promise<void>;
  /** Process after process, each ended in good order; what is of that release already goes on. */
  become(service: string, release: Side): Promise<void>;
  close(): Promise<void>;
}
export type Side = 'old' | 'new';

const PORT = Number(process.env['CHAOS_PORT'] ?? 8480);
/** Receivers are on this machine; signups come from its many addresses. */
const SETTINGS = { WEBHOOK_ALLOW_HTTP: '1', WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8' };

export const mixedStack = ({ amqpUrl, mongoUrl }: Engines, commit: string): MixedStack => {
  const home = mkdtempSync(join(tmpdir(), 'stack-'));
  const tree = releasedTree(commit);
  const layout = {
    ...{ amqpUrl, mongoUrl, port: PORT, folder: home, databasePrefix: '', replicas: defaultReplicas() },
    ...{ drainNotice: '1s', shedding: false, settings: SETTINGS },
  };
  const plans = tree.plans(layout, home);
  const stacks: Readonly<Record<Side, Stack>> = {
    old: openStack({ home, layout, release: { root: tree.root, plans } }),
    new: openStack({ home, layout }),
  };
  const names = (stack: Stack) => stack.plans.map(({ name }) => name);
  const sideOf = new Map<string, Side>(names(stacks.old).map((name) => [name, 'old']));
  const planIn = (side: Side, name: string): ProcessPlan => {
    const plan = stacks[side].plans.find((one) => one.name === name);
    if (plan === undefined) throw new Error(`the ${side} release has no ${name}`);
    return plan;
  };
  const replace = async (name: string, to: Side): Promise<void> => {
    const from = sideOf.get(name) ?? 'old';
    const code = await stacks[from].processes.end(planIn(from, name), 'SIGTERM');
    expect({ ended: name, of: from, code }).toEqual({ ended: name, of: from, code: 0 });
    stacks[to].processes.start(planIn(to, name));
    sideOf.set(name, to);
    await awaitReady(planIn(to, name), stacks[to].processes);
  };
  return {
    services: [...new Set(stacks.new.plans.map(({ service }) => service))],
    plansOf: (service) => stacks.new.plansOf(service),
    operatorKeyFile: stacks.new.keys.privateKeyFile('operator'),
    mailFolder: join(home, 'mail'),
    async up() {
      await stacks.old.up();
      await stacks.new.runJobs();
    },
    async become(service, release) {
      const standing = stacks.new.plansOf(service).map(({ name }) => name);
      for (const name of standing) if (sideOf.get(name) !== release) await replace(name, release);
    },
    async close() {
      await Promise.all(stacks.new.plans.map((plan) => stacks.new.processes.end(plan, 'SIGKILL')));
      rmSync(home, { recursive: true, force: true });
      tree.remove();
    },
  };
};
