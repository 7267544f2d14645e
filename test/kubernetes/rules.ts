import { type Part, partsOf } from '@bubbles/services/deployment.ts';
import type { Manifest } from './cluster-objects.ts';
import { networkRules } from './network-rules.ts';
import { objectRules } from './object-rules.ts';
import { POD_RULES, type Rule } from './pod-rules.ts';
import { settingRules } from './setting-rules.ts';

/** All but the job that makes the secrets of a machine without a store for them. */
export const PARTS = partsOf().filter(({ name }) => name !== 'keys');

/** Every must of a deployment, by what it says. */
export const rulesFor = (parts: readonly Part[] = PARTS): Readonly<Record<string, Rule>> => ({
  ...POD_RULES,
  ...objectRules(parts),
  ...networkRules(parts),
  ...settingRules(parts),
});

/** The rules that do not hold, each with what breaks it. */
export const brokenRules = (manifests: readonly Manifest[], overlay: string, parts: readonly Part[] = PARTS) =>
  Object.fromEntries(
    Object.entries(rulesFor(parts)).flatMap(([name, rule]) => {
      const faults = rule(manifests, overlay);
      return faults.length === 0 ? [] : [[name, faults] as const];
    }),
  );
