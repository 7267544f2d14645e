import { basename } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { KIN, NAMESAKES } from './lists.ts';
import { allSources, packageOf, places, productSources, type Source } from './sources.ts';
import { castsOf, functionsExportedBy, type Shape, shapesOf } from './syntax.ts';

const MAX_LINES = 300;
const MAX_KEYS_IN_COMMON = 4;

const product = productSources();
const fileOf = ({ at }: Shape) => at.slice(0, at.indexOf('#'));

const inCommon = (left: Shape, right: Shape): readonly string[] => left.keys.filter((key) => right.keys.includes(key));

const pairsOf = <T>(items: readonly T[]): readonly (readonly [T, T])[] =>
  items.flatMap((left, index) => items.slice(index + 1).map((right) => [left, right] as const));

/** What a function is given to work with; it names what it uses, and so do its callers. */
const BAG = /#\w*(Ports|Options|Settings|Infra)$/;

/** Most of the smaller one is in the other too. */
const areTwins = (left: Shape, right: Shape): boolean => {
  const common = inCommon(left, right).length;
  return common > MAX_KEYS_IN_COMMON && common > Math.min(left.keys.length, right.keys.length) / 2;
};

const twins = (sources: readonly Source[]): readonly (readonly [Shape, Shape])[] => {
  const shapes = sources.flatMap((source) => shapesOf(source)).filter(({ at }) => !BAG.test(at));
  return pairsOf(shapes.filter(({ keys }) => keys.length > MAX_KEYS_IN_COMMON)).filter(
    ([left, right]) => fileOf(left) !== fileOf(right) && areTwins(left, right),
  );
};

const lendsToAll = (owner: string): boolean => owner.startsWith('shared/') || owner === 'contracts';

/** Functions that a package which lends to all has under the same name as another: one of them is a copy, or will be taken for the other. */
const namesakes = (sources: readonly Source[]): ReadonlyMap<string, ReadonlySet<string>> => {
  const packages = new Map<string, Set<string>>();
  for (const source of sources)
    for (const name of functionsExportedBy(source)) packages.set(name, (packages.get(name) ?? new Set()).add(packageOf(source)));
  return new Map([...packages].filter(([, owners]) => owners.size > 1 && [...owners].some(lendsToAll)));
};

/** A comment on the line or just above the statement. */
const isExplained = ({ text }: Source, line: number): boolean =>
  text
    .split('\n')
    .slice(Math.max(0, line - 3), line)
    .some((near) => /\/\/|\*\/|^\s*\*/.test(near));

describe('a file', () => {
  it(`has at most ${MAX_LINES} lines`, () => {
    const long = allSources().filter(({ text }) => text.trimEnd().split('\n').length > MAX_LINES);
    expect(long.map(({ path }) => path)).toEqual([]);
  });

  it('is named after what it holds, not after a family', () => {
    const family = /(^|-)(utils?|helpers?|manager)\.|^(common|base-.*|misc|types|index)\.ts$|-v\d+\./;
    const named = allSources().filter(
      ({ path }) => family.test(basename(path)) || (path.startsWith('shared/') && /-service\.ts$/.test(path)),
    );
    expect(named.map(({ path }) => path)).toEqual([]);
  });

  it('says why it casts', () => {
    expect(castsOf({ path: 'a.ts', text: '// é\nconst a = b as const, e = [] as string[];\nconst c =\n  d as string;\n' })).toEqual([4]);
    const unexplained = product.flatMap((source) =>
      castsOf(source)
        .filter((line) => !isExplained(source, line))
        .map((line) => `${source.path}:${line}`),
    );
    expect(unexplained).toEqual([]);
  });
});

describe('one shape is written once', () => {
  const kin = Object.values(KIN);

  it('notices a twin', () => {
    const keys = '{ readonly id: string; readonly name: string; readonly team: string; readonly state: string; readonly role: string }';
    const schema = 'z.object({ id: a, name: a, team: a, state: a, role: a, extra: a })';
    const found = twins([
      { path: 'a.ts', text: `export interface Left ${keys}` },
      { path: 'b.ts', text: `const Right = ${schema}.meta({ id: 'Right' });` },
      { path: 'c.ts', text: `type Third = Readonly<${keys}>;` },
    ]);
    expect(found.map((pair) => pair.map(({ at }) => at))).toEqual([
      ['a.ts#Left', 'b.ts#Right'],
      ['a.ts#Left', 'c.ts#Third'],
      ['b.ts#Right', 'c.ts#Third'],
    ]);
  });

  it('but for the kin that are listed', () => {
    const strangers = twins(product).filter(
      ([left, right]) => !kin.some((family) => family.includes(left.at) && family.includes(right.at)),
    );
    expect(strangers.map(([left, right]) => `${left.at} ~ ${right.at}: ${inCommon(left, right).join(' ')}`)).toEqual([]);
  });

  it('and no listed one is gone', () => {
    const present = new Set(twins(product).flatMap((pair) => pair.map(({ at }) => at)));
    expect(kin.flat().filter((at) => !present.has(at))).toEqual([]);
  });
});

describe('a function of shared or contracts', () => {
  it('is noticed when it has a namesake', () => {
    const found = namesakes([
      { path: 'shared/x/src/a.ts', text: 'export const thing = () => 1; export type Own = string; export const LIMIT = 1;' },
      {
        path: 'services/x/src/b.ts',
        text: 'export function thing() {} export class Own {} export const LIMIT = 2; export const role = () => 1;',
      },
      { path: 'services/y/src/b.ts', text: 'export const role = () => 2;' },
    ]);
    expect([...found.keys()]).toEqual(['thing']);
  });

  it('has none', () => {
    const found = [...namesakes(product)].filter(([name]) => !NAMESAKES.has(name));
    expect(found.map(([name, owners]) => `${name}: ${[...owners].join(', ')}`)).toEqual([]);
  });
});

describe('tests', () => {
  const tests = allSources().filter(({ path }) => path.endsWith('.test.ts'));

  it('are neither left out nor put off', () => {
    expect(places(tests, /\b(it|test|describe)(\.\w+)*\.(skip|only|todo|failing)\b|\b(xit|xtest|xdescribe|fit|fdescribe)\(/)).toEqual([]);
  });

  it('fake ports, not modules', () => {
    expect(places(tests, /\bjest\.(mock|doMock|unstable_mockModule|setMock|createMockFromModule)\b/)).toEqual([]);
  });
});
