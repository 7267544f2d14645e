import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { BREAKS } from './breaks.ts';
import { MANIFESTS, manifestsIn, rendered } from './cluster-objects.ts';
import { type Mutation, mutated, push, set, without } from './mutations.ts';
import { brokenRules, PARTS, rulesFor } from './rules.ts';

const PROD = 'prod';
const work = mkdtempSync(join(tmpdir(), 'manifests-'));
afterAll(() => rmSync(work, { recursive: true, force: true }));

/** Production with what it does without: the component that takes the autoscalers of workers over, and traces. */
const withAll = () => {
  const path = (name: string) => relative(work, join(MANIFESTS, name));
  const content = { resources: [path('overlays/prod')], components: [path('components/keda-rabbitmq'), path('components/tracing')] };
  writeFileSync(join(work, 'kustomization.yaml'), JSON.stringify(content));
  return manifestsIn(rendered(work));
};
const sound = withAll();
const rules = rulesFor();
const isBrokenBy = (rule: string, change: Mutation) => (rules[rule]?.(mutated(sound, change), PROD) ?? []).length > 0;

describe.each(['dev', PROD])('the overlay %s', (overlay) => {
  const manifests = manifestsIn(rendered(join(MANIFESTS, 'overlays', overlay)));
  it.each(Object.entries(rulesFor()))('%s', (_name, rule) => {
    expect(rule(manifests, overlay)).toEqual([]);
  });
});

describe('the rules', () => {
  it('hold with every component', () => {
    expect(brokenRules(sound, PROD)).toEqual({});
  });

  it('are each broken by something', () => {
    expect(Object.keys(BREAKS).toSorted()).toEqual(Object.keys(rulesFor()).toSorted());
  });

  it.each(Object.entries(BREAKS).flatMap(([rule, changes]) => changes.map((change, index) => [rule, index + 1, change] as const)))(
    '%s: manifest %i breaks it',
    (rule, _index, change) => {
      expect(isBrokenBy(rule, change)).toBe(true);
    },
  );

  it('hold of a copy', () => {
    const added = { kind: 'Event', metadata: { name: 'any', labels: {}, annotations: {} } };
    expect(
      brokenRules(
        mutated(sound, (manifests) => manifests.push(added)),
        PROD,
      ),
    ).toEqual({});
  });
});

const CALLS = 'each part calls those that the code names';
const IS_CALLED = 'each part is called by those that the code names';

describe('one too many or too few', () => {
  const parts = PARTS;
  const arrows = parts.flatMap(({ name, calls }) => calls.map((callee) => [name, callee] as const));
  const missing = parts.flatMap(({ name, calls }) =>
    parts.filter((other) => other.name !== name && !calls.includes(other.name)).map((other) => [name, other.name] as const),
  );
  const peer = (name: string) => ({ podSelector: { matchLabels: { 'app.kubernetes.io/name': name } } });
  const ports = [{ protocol: 'TCP', port: 8080 }];

  it.each(arrows)('the arrow from %s to %s is missed at both ends', (from, to) => {
    const calls: Mutation = (manifests) => without(manifests, `NetworkPolicy/${from}`, { egress: to });
    const isCalled: Mutation = (manifests) => without(manifests, `NetworkPolicy/${to}`, { ingress: from });
    expect([isBrokenBy(CALLS, calls), isBrokenBy(IS_CALLED, calls)]).toEqual([true, false]);
    expect([isBrokenBy(CALLS, isCalled), isBrokenBy(IS_CALLED, isCalled)]).toEqual([false, true]);
  });

  it.each(missing)('an arrow from %s to %s is noticed at both ends', (from, to) => {
    expect(isBrokenBy(CALLS, push(`NetworkPolicy/${from}`, 'spec.egress', { to: [peer(to)], ports }))).toBe(true);
    expect(isBrokenBy(IS_CALLED, push(`NetworkPolicy/${to}`, 'spec.ingress', { from: [peer(from)], ports }))).toBe(true);
  });

  it.each(parts)('each variable of $name is missed, and one of others is noticed', ({ name, variables }) => {
    const rule = 'each part is told what it reads, nothing else';
    for (const variable of variables.filter(({ isRequired }) => isRequired)) {
      const change: Mutation = (manifests) => {
        set(`ConfigMap/${name}`, `data.${variable.name}`)(manifests);
        set(`ConfigMap/${name}`, `data.${variable.name}_FILE`)(manifests);
      };
      expect(isBrokenBy(rule, change)).toBe(true);
    }
    const others = new Set(parts.flatMap((part) => part.variables.map((variable) => variable.name)));
    for (const variable of variables) others.delete(variable.name);
    for (const other of others) expect(isBrokenBy(rule, set(`ConfigMap/${name}`, `data.${other}`, 'value'))).toBe(true);
  });
});
