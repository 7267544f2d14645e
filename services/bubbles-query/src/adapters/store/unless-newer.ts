import type { Collection, Doc, Filter, UpdateFilter } from '@bubbles/store/collection.ts';

/** Writes what is newer than the document that `older` matches, or the first there is. A first one of somebody else, written at the same time, may be older too. */
export const putUnlessNewer = async <T extends Doc>(
  collection: Collection<T>,
  older: Filter<T>,
  update: UpdateFilter<T>,
): Promise<void> => {
  const outcome = await collection.updateOne(older, update, { upsert: true });
  if (outcome === 'duplicate') await collection.updateOne(older, update);
};
