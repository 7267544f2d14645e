import { basename } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { KIN, NAMESAKES } from './lists.ts';
import { allSources, packageOf, places, productSources, type Source } from './sources.ts';
import { castsOf, functionsExportedBy, namesExportedBy, type Shape, shapesOf } from './syntax.ts';

const MAX_LINES = 300;
const MAX_KEYS_IN_COMMON = 4;
/** A file below it is small; few are. */
const SMALL_LINES = 20;
const MAX_SMALL_SHARE = 0.05;
const MAX_EXPORTS_PER_1000_LINES = 42;

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

/** Where a consumer writes down what it reads of another's events, answers and claims, so that no edit of the publisher's moves it. */
const READS =
  /^services\/[^/]+\/src\/adapters\/(bus|services)\/|^services\/gateway\/src\/admission\/|^shared\/auth\/src\/|^deploy\/admin\/src\//;
const reads = (shape: Shape): boolean => READS.test(shape.at);

/** What is read beside what is published, or what two packages read of the same. */
const arePublishedAndRead = (left: Shape, right: Shape): boolean => {
  const [one, other] = [left, right].map(({ at }) => packageOf({ path: at, text: '' }));
  return one !== other && (reads(left) || reads(right)) && [left, right].every((shape) => reads(shape) || /^contracts\//.test(shape.at));
};

const twins = (sources: readonly Source[]): readonly (readonly [Shape, Shape])[] => {
  const shapes = sources.flatMap((source) => shapesOf(source)).filter(({ at }) => !BAG.test(at));
  return pairsOf(shapes.filter(({ keys }) => keys.length > MAX_KEYS_IN_COMMON)).filter(
    ([left, right]) => fileOf(left) !== fileOf(right) && !arePublishedAndRead(left, right) && areTwins(left, right),
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

const linesOf = ({ text }: Source): number => text.trimEnd().split('\n').length;
const totalOf = (sources: readonly Source[], count: (source: Source) => number): number =>
  sources.reduce((sum, source) => sum + count(source), 0);

describe('modules are few and deep', () => {
  const exportsPer1000Lines = (sources: readonly Source[]) =>
    (1000 * totalOf(sources, (source) => namesExportedBy(source).size)) / totalOf(sources, linesOf);

  it('counts what a file exports, a schema and its type once', () => {
    const text =
      "export const A = 1;\nexport type A = number;\nexport { b, c as d } from './b.ts';\nexport function e() {}\nconst f = 1;\n";
    expect([...namesExportedBy({ path: 'a.ts', text })].sort()).toEqual(['A', 'b', 'd', 'e']);
    expect(exportsPer1000Lines([{ path: 'a.ts', text }])).toBe(800);
  });

  it(`export at most ${MAX_EXPORTS_PER_1000_LINES} names per 1,000 lines`, () => {
    expect(exportsPer1000Lines(product)).toBeLessThanOrEqual(MAX_EXPORTS_PER_1000_LINES);
  });

  it(`have ${SMALL_LINES} lines at least, but for ${100 * MAX_SMALL_SHARE} in a hundred`, () => {
    const small = product.filter((source) => linesOf(source) < SMALL_LINES).map(({ path }) => path);
    expect(small.length <= MAX_SMALL_SHARE * product.length ? [] : small).toEqual([]);
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

  it('passes over what a consumer reads of what another publishes', () => {
    const keys = 'z.object({ id: a, name: a, team: a, state: a, role: a })';
    const at = (path: string) => ({ path, text: `const Account = ${keys};` });
    const published = at('contracts/src/internal/a.ts');
    const readers = [at('services/a/src/adapters/services/a.ts'), at('services/b/src/adapters/bus/a.ts')];
    expect(twins([published, ...readers])).toEqual([]);
    expect(twins([...readers, at('services/b/src/domain/a.ts')])).toHaveLength(2);
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
