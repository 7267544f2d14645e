import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from '@jest/globals';
import { ROOT } from './sources.ts';

const BREACHES = {
  push: 'all.push(...more)',
  unshift: 'all.unshift(1, ...more)',
  splice: 'all.splice(0, 0, ...more)',
  max: 'Math.max(...more)',
  points: 'String.fromCodePoint(...more)',
};
const HARMLESS = {
  concat: 'all.concat([...more])',
  one: 'all.push(more.length)',
  rest: 'give(...more)',
  fields: 'all.push({ ...one })',
  list: 'all.push([...more])',
};

const folder = mkdtempSync(join(tmpdir(), 'spreads-'));
afterAll(() => rmSync(folder, { recursive: true }));

it('a list that is spread into a call, which overflows the stack when it is long, is refused by the lint', () => {
  const { plugins } = JSON.parse(readFileSync(join(ROOT, 'biome.json'), 'utf8'));
  const rules = { root: true, linter: { rules: { preset: 'none' } }, plugins: plugins.map((path: string) => join(ROOT, path)) };
  writeFileSync(join(folder, 'biome.json'), JSON.stringify(rules));
  for (const [name, call] of Object.entries({ ...BREACHES, ...HARMLESS }))
    writeFileSync(join(folder, `${name}.js`), `export const made = (all, more, one, give) => ${call};\n`);
  const { status, stderr, stdout } = spawnSync(join(ROOT, 'node_modules', '.bin', 'biome'), ['lint', '.'], {
    cwd: folder,
    encoding: 'utf8',
  });
  const refused = (stdout + stderr).matchAll(/(\w+)\.js:\d+:\d+ plugin/g);
  expect([...refused].map(([, name]) => name).toSorted()).toEqual(Object.keys(BREACHES).toSorted());
  expect(status).not.toBe(0);
});
