import { errorCode } from '@bubbles/kernel/errors.ts';
import { StartupError } from '@bubbles/kernel/run-process.ts';
import type { Abortable, Document, Collection as DriverCollection, IndexDescriptionInfo, OperationOptions } from 'mongodb';
import type { IndexSpec } from './collection.ts';
import { type IndexPlan, indexWork, type PresentIndex, repeatedKey } from './indexes.ts';
import { isDuplicateKey } from './mongo-errors.ts';

type Deadline = OperationOptions & Abortable;

type Indexed = Pick<DriverCollection<Document>, 'dbName' | 'collectionName' | 'createIndexes' | 'dropIndex' | 'listIndexes'>;

const NO_COLLECTION = 26;
const NO_INDEX = 27;
const CONFLICTS: readonly unknown[] = [85, 86];
const ID_INDEX = '_id_';

const unlessAbsent = async <R>(work: Promise<R>, absent: R): Promise<R> => {
  try {
    return await work;
  } catch (error) {
    const code = errorCode(error);
    if (code === NO_COLLECTION || code === NO_INDEX) return absent;
    throw error;
  }
};

/** `v`, `ns` and `background` are not part of the definition. */
const toPresent = ({ name = '', key, unique, sparse, v, ns, background, ...others }: IndexDescriptionInfo & Document): PresentIndex => ({
  name,
  // A key that no `IndexSpec` can have, like 'text', differs from all of them.
  keys: key as PresentIndex['keys'],
  ...(unique && { unique }),
  ...(sparse && { sparse }),
  others,
});

const presentIndexes = async (collection: Indexed, deadline: Deadline): Promise<readonly PresentIndex[]> => {
  const listed = await unlessAbsent(collection.listIndexes(deadline).toArray(), []);
  return listed.map(toPresent).filter(({ name }) => name !== ID_INDEX);
};

const refusalOf = (space: string, missing: readonly IndexSpec[], error: unknown): StartupError | null => {
  const names = missing.map(({ name }) => name).join(' or ');
  if (isDuplicateKey(error)) return repeatedKey(space, names, error);
  if (!CONFLICTS.includes(errorCode(error))) return null;
  return new StartupError(
    `The server refuses the index ${names} of ${space} beside one that is there. Drop that one (getIndexes() shows it), then start again.`,
    error,
  );
};

/**
 * Drops old indexes and makes missing ones; answers the conflict with an index that is there, or null. Conflicts are found by comparison, since not every
 * engine that speaks MongoDB's protocol refuses them.
 */
export const makeIndexes = async (collection: Indexed, plan: IndexPlan, deadline: Deadline): Promise<StartupError | null> => {
  const space = `${collection.dbName}/${collection.collectionName}`;
  const { going, missing, conflict } = indexWork(space, plan, await presentIndexes(collection, deadline));
  if (conflict) return conflict;
  for (const name of going) await unlessAbsent(collection.dropIndex(name, deadline), {});
  if (missing.length === 0) return null;
  try {
    const specs = missing.map(({ keys, ...rest }) => ({ key: { ...keys }, ...rest }));
    await collection.createIndexes(specs, deadline);
    return null;
  } catch (error) {
    const refused = refusalOf(space, missing, error);
    if (!refused) throw error;
    // Another process may have made one of them with another definition meanwhile.
    return indexWork(space, plan, await presentIndexes(collection, deadline)).conflict ?? refused;
  }
};
