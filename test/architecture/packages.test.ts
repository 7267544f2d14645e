import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { ROOT } from './sources.ts';

const Manifest = z.object({ name: z.string(), dependencies: z.record(z.string(), z.string()).default({}) });
/** What each package of ours installs, by name. */
type Packages = ReadonlyMap<string, readonly string[]>;

const workspaces = (): Packages =>
  new Map(
    globSync('{services/*,shared/*,deploy/*,contracts}/package.json', { cwd: ROOT }).map((path) => {
      const { name, dependencies } = Manifest.parse(JSON.parse(readFileSync(join(ROOT, path), 'utf8')));
      return [name, Object.keys(dependencies)];
    }),
  );

/** Everything that an install of `name` brings, through our own packages. */
const installedBy = (packages: Packages, name: string): ReadonlySet<string> => {
  const found = new Set<string>();
  const visit = (dependency: string) => {
    if (found.has(dependency)) return;
    found.add(dependency);
    for (const next of packages.get(dependency) ?? []) visit(next);
  };
  for (const dependency of packages.get(name) ?? []) visit(dependency);
  return found;
};

const NOT_IN_THE_GATEWAY = ['mongodb', 'amqplib', 'mingo', 'bson', 'node-cron'];
const EMBEDDED = '@bubbles/store-embedded';

describe('what a package installs', () => {
  it('is followed through packages of ours', () => {
    const packages = new Map([
      ['a', ['b', 'zod']],
      ['b', ['c']],
      ['c', ['b', 'mongodb']],
    ]);
    expect([...installedBy(packages, 'a')].sort()).toEqual(['b', 'c', 'mongodb', 'zod']);
  });

  it('is no store, broker or scheduler for the gateway', () => {
    const installed = installedBy(workspaces(), '@bubbles/gateway');
    expect(installed).toContain('@bubbles/http');
    expect(NOT_IN_THE_GATEWAY.filter((name) => installed.has(name))).toEqual([]);
  });

  it('is the embedded engine for the sandbox and for tests alone', () => {
    const packages = workspaces();
    const bringers = [...packages.keys()].filter((name) => installedBy(packages, name).has(EMBEDDED));
    expect(bringers.sort()).toEqual(['@bubbles/sandbox', '@bubbles/testing']);
  });
});
