import { StartRefused } from '../run-process.ts';
import type { IndexSpec } from './collection.ts';

/** An index as the store has it, with the options that no `IndexSpec` can have. */
export interface PresentIndex extends IndexSpec {
  readonly others?: Readonly<Record<string, unknown>>;
}

/** The order of the keys is part of what an index is. */
const definitionOf = ({ keys, unique = false, sparse = false, others }: PresentIndex): string =>
  JSON.stringify({ keys, ...(unique && { unique }), ...(sparse && { sparse }), ...others });

const haveSameKeys = (one: IndexSpec, other: IndexSpec): boolean => JSON.stringify(one.keys) === JSON.stringify(other.keys);

const remedy = (space: string, name: string): string => {
  const collection = space.slice(space.indexOf('/') + 1);
  return `Drop that one (db.getCollection('${collection}').dropIndex('${name}')), then start again.`;
};

const conflictOf = (space: string, wanted: IndexSpec, present: readonly PresentIndex[]): string | null => {
  const namesake = present.find(({ name }) => name === wanted.name);
  if (namesake) {
    if (definitionOf(namesake) === definitionOf(wanted)) return null;
    return `The index ${wanted.name} of ${space} is ${definitionOf(namesake)} and this version needs ${definitionOf(wanted)}. ${remedy(space, wanted.name)}`;
  }
  const twin = present.find((index) => haveSameKeys(index, wanted));
  return twin
    ? `The index ${wanted.name} of ${space} has the keys of the index ${twin.name} that is there. ${remedy(space, twin.name)}`
    : null;
};

/** What stands against the indexes that are wanted, in one line that names index, collection and remedy. `space` is `database/collection`. */
export const indexConflict = (space: string, wanted: readonly IndexSpec[], present: readonly PresentIndex[]): StartRefused | null => {
  const conflicts = wanted.map((spec, at) => conflictOf(space, spec, [...present, ...wanted.slice(0, at)]));
  const found = conflicts.filter((conflict) => conflict !== null);
  return found.length > 0 ? new StartRefused(found.join(' ')) : null;
};

export const repeatedKey = (space: string, name: string, cause?: unknown): StartRefused =>
  new StartRefused(
    `The index ${name} of ${space} is unique and documents that are there repeat its key. Remove those, then start again.`,
    cause,
  );
