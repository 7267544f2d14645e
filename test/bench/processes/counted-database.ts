import type { Collection, Database, Doc } from '@bubbles/store/collection.ts';

/** How often a store was read. */
export interface Reads {
  count: number;
}

const counted = <T extends Doc>(collection: Collection<T>, reads: Reads): Collection<T> => ({
  ...collection,
  find: (filter, options) => {
    reads.count += 1;
    return collection.find(filter, options);
  },
  findOne: (filter, options) => {
    reads.count += 1;
    return collection.findOne(filter, options);
  },
});

export const countedDatabase = (database: Database, reads: Reads): Database => ({
  ...database,
  collection: <T extends Doc>(name: string) => counted<T>(database.collection<T>(name), reads),
});
