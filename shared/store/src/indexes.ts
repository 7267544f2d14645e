import { StartupError } from '@bubbles/kernel/run-process.ts';
import type { IndexSpec } from './collection.ts';

/** An index as the store has it, with the options that no `IndexSpec` can have. */
export interface PresentIndex extends IndexSpec {
  readonly others?: Readonly<Record<string, unknown>>;
}

/** The order of the keys is part of the definition. */
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

export interface IndexPlan {
  readonly wanted: readonly IndexSpec[];
  /** Names of indexes of earlier versions that are to be dropped. */
  readonly dropped: readonly string[];
}

interface IndexWork {
  readonly going: readonly string[];
  readonly missing: readonly IndexSpec[];
  /** Why the index cannot be made, in one line that names index, collection and remedy. */
  readonly conflict: StartupError | null;
}

/**
 * What a start has to do. An index of an earlier version whose definition has not changed is kept under its old name: nothing is built again, and a replica
 * of that version finds it when it starts beside this one. `space` is `database/collection`.
 */
export const indexWork = (space: string, { wanted, dropped }: IndexPlan, present: readonly PresentIndex[]): IndexWork => {
  const older = present.filter(({ name }) => dropped.includes(name));
  const named = new Set(present.map(({ name }) => name));
  const predecessors = new Map(
    wanted
      .filter(({ name }) => !named.has(name))
      .map((spec) => [spec.name, older.find((index) => definitionOf(index) === definitionOf(spec))?.name]),
  );
  const serving = new Set(predecessors.values());
  const going = older.filter(({ name }) => !serving.has(name)).map(({ name }) => name);
  const staying = present.filter(({ name }) => !going.includes(name));
  const conflicts = wanted
    .map((spec, at) => (predecessors.get(spec.name) === undefined ? conflictOf(space, spec, [...staying, ...wanted.slice(0, at)]) : null))
    .filter((conflict) => conflict !== null);
  return {
    going,
    missing: wanted.filter(({ name }) => !named.has(name) && predecessors.get(name) === undefined),
    conflict: conflicts.length > 0 ? new StartupError(conflicts.join(' ')) : null,
  };
};

export const repeatedKey = (space: string, name: string, cause?: unknown): StartupError =>
  new StartupError(
    `The index ${name} of ${space} is unique and documents that are there repeat its key. Remove those, then start again.`,
    cause,
  );
