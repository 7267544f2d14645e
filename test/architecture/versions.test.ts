import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { ROOT } from './sources.ts';

const Lock = z.object({ packages: z.record(z.string(), z.object({ version: z.string().optional(), dev: z.boolean().default(false) })) });
const { packages } = Lock.parse(JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')));

/** What tests alone use serves nobody. */
const versionsOf = (name: string): readonly string[] =>
  Object.entries(packages).flatMap(([path, { version, dev }]) =>
    path.endsWith(`node_modules/${name}`) && version !== undefined && !dev ? [version] : [],
  );

const numbers = (version: string): readonly number[] => version.split('-')[0]?.split('.').map(Number) ?? [];

const isAtLeast = (version: string, least: string): boolean => {
  const wanted = numbers(least);
  const first = numbers(version)
    .map((part, index) => part - (wanted[index] ?? 0))
    .find((difference) => difference !== 0);
  return (first ?? 0) >= 0;
};

/** Below these a fault is known that we would feel. */
const LEAST: Readonly<Record<string, string>> = {
  amqplib: '2.3.0',
  'path-to-regexp': '8.4.0',
};

describe('the lock', () => {
  it.each(Object.entries(LEAST))('%s is at least %s', (name, least) => {
    const found = versionsOf(name);
    expect(found).not.toEqual([]);
    expect(found.filter((version) => !isAtLeast(version, least))).toEqual([]);
  });

  it('compares by number', () => {
    expect(isAtLeast('2.10.0', '2.3.0')).toBe(true);
    expect(isAtLeast('2.3.0', '2.3.0')).toBe(true);
    expect(isAtLeast('2.2.9', '2.3.0')).toBe(false);
    expect(isAtLeast('1.9.9', '2.3.0')).toBe(false);
  });
});
