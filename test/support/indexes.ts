import { readFileSync } from 'node:fs';
import type { Collection, Database, Doc, IndexSpec } from '@bubbles/store/collection.ts';
import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { openTestService } from '@bubbles/testing/service-under-test.ts';
import { PRODUCT } from '../../deploy/services/src/product.ts';

/** What a service asks of one collection at its start. */
export interface DeclaredIndexes {
  readonly wanted: readonly IndexSpec[];
  readonly dropped: readonly string[];
}

/** By `service/collection`. */
export type Declarations = ReadonlyMap<string, DeclaredIndexes>;
/** The definitions by `service/collection`, then by name. */
export type ReleasedIndexes = Readonly<Record<string, Readonly<Record<string, Omit<IndexSpec, 'name'>>>>>;

export const RELEASED_FILE = new URL('../architecture/released-indexes.json', import.meta.url);
// Written by test/scripts/indexes.ts alone.
export const releasedIndexes = (): ReleasedIndexes => JSON.parse(readFileSync(RELEASED_FILE, 'utf8')) as ReleasedIndexes;

type Declare = (collection: string, indexes: DeclaredIndexes) => void;

const listening = (database: Database, declare: Declare): Database => ({
  ...database,
  collection: <T extends Doc>(name: string): Collection<T> => {
    const collection = database.collection<T>(name);
    return {
      ...collection,
      ensureIndexes(wanted, dropped = []) {
        declare(name, { wanted, dropped });
        return collection.ensureIndexes(wanted, dropped);
      },
    };
  },
});

/** Steps of a service and its start make indexes of one collection. */
const together = (before: DeclaredIndexes = { wanted: [], dropped: [] }, { wanted, dropped }: DeclaredIndexes): DeclaredIndexes => ({
  wanted: [...new Map([...before.wanted, ...wanted].map((index) => [index.name, index])).values()],
  dropped: [...new Set([...before.dropped, ...dropped])],
});

/** Starts every service on an empty store and listens to what it asks for. */
export const declaredIndexes = async (): Promise<Declarations> => {
  const declared = new Map<string, DeclaredIndexes>();
  for (const definition of PRODUCT.definitions) {
    const { name } = definition;
    const database = listening(memoryDatabase(), (collection, indexes) => {
      const space = `${name}/${collection}`;
      declared.set(space, together(declared.get(space), indexes));
    });
    const { service } = openTestService(definition, { database });
    await service.start();
    await service.stop();
  }
  return declared;
};

/** One line for each fault, with what to do. */
export const indexFaults = (declared: Declarations, released: ReleasedIndexes): readonly string[] => [
  ...declared.entries().flatMap(([space, indexes]) => declaredFaults(space, indexes, released[space] ?? {})),
  ...Object.keys(released)
    .filter((space) => !declared.has(space))
    .map((space) => `${space}: was released with indexes and none is asked for: drop them there by name.`),
];

const definitionOf = ({ keys, unique = false, sparse = false }: Omit<IndexSpec, 'name'>): string =>
  JSON.stringify({ keys, unique, sparse });

const declaredFaults = (space: string, { wanted, dropped }: DeclaredIndexes, released: ReleasedIndexes[string]): readonly string[] => {
  const changed = wanted.flatMap(({ name, ...definition }) => {
    const before = released[name];
    if (before === undefined) return [`${space}.${name}: is new: write it down with \`npm run indexes\`.`];
    if (definitionOf(before) === definitionOf(definition)) return [];
    return [`${space}.${name}: was released with another definition: give this one the next version (${nextName(name)}) and drop ${name}.`];
  });
  const names = wanted.map(({ name }) => name);
  const left = Object.keys(released).filter((name) => !names.includes(name) && !dropped.includes(name));
  const both = dropped.filter((name) => names.includes(name));
  return [
    ...changed,
    ...names
      .filter((name) => !/^[a-zA-Z._]+(_v([2-9]|[1-9]\d+))?$/.test(name))
      .map((name) => `${space}.${name}: a version is written _v2.`),
    ...left.map((name) => `${space}.${name}: was released and is asked for no more: list it among the dropped ones.`),
    ...both.map((name) => `${space}.${name}: is asked for and dropped: a name that was dropped is used never again.`),
  ];
};

const nextName = (name: string): string => {
  const [, base = name, version = '1'] = /^(.*?)(?:_v(\d+))?$/.exec(name) ?? [];
  return `${base}_v${Number(version) + 1}`;
};
