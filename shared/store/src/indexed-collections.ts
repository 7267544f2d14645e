import type { Collection, Database, Doc, IndexSpec } from './collection.ts';

/** Opens a collection with the indexes that serve its queries. */
export type OpenCollection = <T extends Doc>(
  name: string,
  indexes?: readonly IndexSpec[],
  /** Names that earlier releases gave indexes which are no longer wanted. */
  dropped?: readonly string[],
) => Collection<T>;

/** The collections of a service. Each store opens its own with their indexes, and all indexes are made together. */
export const indexedCollections = (database: Database): { readonly open: OpenCollection; ensureIndexes(): Promise<void> } => {
  const makers: (() => Promise<void>)[] = [];
  return {
    open<T extends Doc>(name: string, indexes: readonly IndexSpec[] = [], dropped: readonly string[] = []) {
      const collection = database.collection<T>(name);
      if (indexes.length + dropped.length > 0) makers.push(() => collection.ensureIndexes(indexes, dropped));
      return collection;
    },
    async ensureIndexes() {
      await Promise.all(makers.map((make) => make()));
    },
  };
};
