import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '../..');

export interface Source {
  /** From the root of the repository, with slashes. */
  readonly path: string;
  readonly text: string;
}

const SKIPPED = ['**/node_modules/**', 'test/bench/**'];

const read = (patterns: readonly string[]): readonly Source[] =>
  globSync([...patterns], { cwd: ROOT, exclude: SKIPPED })
    .sort()
    .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));

const isTest = ({ path }: Source): boolean => /\.test\.ts$|\.contract\.ts$|^shared\/testing\//.test(path);

/** What runs in production, and the sandbox. */
export const productSources = (): readonly Source[] =>
  read(['{services/*,shared/*,contracts,deploy/*}/src/**/*.ts']).filter((source) => !isTest(source));
export const testSources = (): readonly Source[] => read(['{services,shared,contracts,deploy,test}/**/*.test.ts']);
/** All that people write. */
export const allSources = (): readonly Source[] => read(['{services,shared,contracts,deploy,test}/**/*.ts']);
export const documents = (): readonly Source[] => read(['*.md', '{docs,services,shared,contracts,deploy,test}/**/*.md']);

/** `services/gateway`, `shared/http`, `contracts`, … */
export const packageOf = ({ path }: Source): string => /^((?:services|shared|deploy)\/[^/]+|[^/]+)/.exec(path)?.[0] ?? path;

/** `path:line` of each match, for a failure that can be clicked. */
export const places = (sources: readonly Source[], pattern: RegExp): readonly string[] =>
  sources.flatMap(({ path, text }) =>
    text.split('\n').flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : [])),
  );
