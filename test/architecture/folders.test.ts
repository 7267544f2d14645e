import { dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { packageOf, productSources, type Source } from './sources.ts';
import { importsOf } from './syntax.ts';

/** `services/x/src/adapters/http/a.ts` is in `adapters`; a file that lies beside the folders is in none. */
const folderOf = (path: string): string | null => /^(?:[^/]+\/)?[^/]+\/src\/([^/]+)\//.exec(path)?.[1] ?? null;

/** The folders of one package that each folder imports from. */
const importsOfFolders = (sources: readonly Source[]): ReadonlyMap<string, ReadonlySet<string>> => {
  const edges = new Map<string, Set<string>>();
  for (const source of sources) {
    const from = folderOf(source.path);
    for (const { from: specifier } of from === null ? [] : importsOf(source)) {
      const to = specifier.startsWith('.') ? folderOf(join(dirname(source.path), specifier)) : null;
      if (from !== null && to !== null && to !== from) edges.set(from, (edges.get(from) ?? new Set()).add(to));
    }
  }
  return edges;
};

/** The folders that lead back to themselves. */
const ringsOf = (sources: readonly Source[]): readonly string[] => {
  const edges = importsOfFolders(sources);
  const reach = (from: string, seen: Set<string>): Set<string> => {
    for (const next of edges.get(from) ?? []) if (!seen.has(next)) reach(next, seen.add(next));
    return seen;
  };
  return [...edges.keys()].filter((folder) => reach(folder, new Set()).has(folder)).sort();
};

describe('the folders of a package', () => {
  it('are noticed when they import each other', () => {
    const files = [
      { path: 'services/x/src/edge/a.ts', text: "import { b } from '../rules/b.ts';" },
      { path: 'services/x/src/rules/b.ts', text: "import type { C } from '../pages/deep/c.ts';" },
      { path: 'services/x/src/pages/deep/c.ts', text: "import { a } from '../../edge/a.ts';" },
      { path: 'services/x/src/apart/d.ts', text: "import { a } from '../edge/a.ts'; import { e } from '../e.ts';" },
      { path: 'services/x/src/e.ts', text: "import { d } from './apart/d.ts';" },
    ];
    expect(ringsOf(files)).toEqual(['edge', 'pages', 'rules']);
  });

  const packages = Map.groupBy(productSources(), packageOf);
  it.each([...packages.keys()])('stand in layers without a ring: %s', (name) => {
    expect(ringsOf(packages.get(name) ?? [])).toEqual([]);
  });
});
