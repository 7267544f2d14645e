import type { Collection, Doc, Filter, UpdateFilter } from '@bubbles/store/collection.ts';
import type { FedDoc } from './feeds.ts';

/** Updates the document that `older` matches, or inserts the first one. When another writer inserts at the same time, that one may be older too. */
export const putUnlessNewer = async <T extends Doc>(
  collection: Collection<T>,
  older: Filter<T>,
  update: UpdateFilter<T>,
): Promise<void> => {
  const outcome = await collection.updateOne(older, update, { upsert: true });
  if (outcome === 'duplicate') await collection.updateOne(older, update);
};

interface FeedWrite<T extends FedDoc> {
  /** Matches the document with this id unless it is newer. */
  readonly older: Filter<T>;
  readonly update: UpdateFilter<T>;
  readonly seq: number;
}

/** Inserts the document, or replaces one that is not newer, and gives it a higher feed number, by which followers notice it. */
export const putIntoFeed = async <T extends FedDoc>(collection: Collection<T>, { older, update, seq }: FeedWrite<T>): Promise<void> => {
  for (let next = seq; ; ) {
    // A filter and an update of T, with a field that every T has.
    const filter = { ...older, seq: { $lt: next } } as Filter<T>;
    const numbered = { ...update, $set: { ...update.$set, seq: next } } as UpdateFilter<T>;
    if ((await collection.updateOne(filter, numbered, { upsert: true })) !== 'duplicate') return;
    const stored = await collection.findOne(older, { projection: { seq: 1 } });
    if (stored === null) return;
    next = Math.max(next, stored.seq + 1);
  }
};
