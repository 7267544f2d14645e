import { describe, expect, it } from '@jest/globals';
import { productSources } from './sources.ts';
import { impuritiesOf } from './syntax.ts';

describe('the domain of a service', () => {
  it.each([
    ['async', 'export const load = async () => 1;'],
    ['async', 'export async function* rows() {}'],
    ['async', 'export const store = { async get() {} };'],
    ['await', 'for await (const row of rows) use(row);'],
    ['Promise', 'export interface Store { get(): Promise<string>; }'],
    ['Promise', 'export const later = Promise.resolve();'],
    ['state', 'let last = 0;'],
    ['state', 'export const cache = new Map<string, string>();'],
    ['state', 'export const counter = () => { let count = 0; return () => { count += 1; return count; }; };'],
    ['state', 'export function cache() { const seen = new Set(); return { add(id: string) { seen.add(id); } }; }'],
    ['state', 'export const cache = () => { const seen = new Map(); return { get: (id: string) => seen.get(id) }; };'],
  ])('is noticed with %s: %s', (impurity, text) => {
    expect(impuritiesOf({ path: 'a.ts', text })).toContain(impurity);
  });

  it.each([
    "const WORDS = new Set(['a', 'an']);",
    'export const sum = (numbers: readonly number[]) => { let total = 0; numbers.forEach((n) => { total += n; }); return total; };',
    'export function* words(text: string) { const seen = new Set(); for (const word of text) if (!seen.has(word)) yield word; }',
    'export const priced = (price: number) => { const half = price / 2; return { at: (count: number) => count * half }; };',
  ])('may compute: %s', (text) => {
    expect(impuritiesOf({ path: 'a.ts', text })).toEqual([]);
  });

  it('holds rules only: no promise, no cache, no state', () => {
    const domain = productSources().filter(({ path }) => /^services\/[^/]+\/src\/domain\//.test(path));
    expect(domain.length).toBeGreaterThan(20);
    expect(domain.flatMap((source) => impuritiesOf(source).map((impurity) => `${source.path}: ${impurity}`))).toEqual([]);
  });
});
