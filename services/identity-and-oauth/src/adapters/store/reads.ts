import type { Collection, Doc, Filter } from '@bubbles/store/collection.ts';
import type { Page } from '../../ports.ts';

export interface Reads<S> {
  get(id: string): Promise<S | null>;
  byIds(ids: readonly string[]): Promise<ReadonlyMap<string, S>>;
  /** In order of id. */
  page(page: Page): Promise<S[]>;
}

/** How documents are read by their id, whatever they hold. */
export const readsOf = <D extends Doc, S>(collection: Collection<D>, stateOf: (doc: D) => S): Reads<S> => {
  // The driver's type cannot see that every document has a string id while D is open.
  const idIs = (condition: string | { readonly $in: readonly string[] } | { readonly $gt: string }) => ({ _id: condition }) as Filter<D>;
  return {
    get: async (id) => {
      const doc = await collection.findOne(idIs(id));
      return doc && stateOf(doc);
    },
    byIds: async (ids) => {
      if (ids.length === 0) return new Map();
      const docs = await collection.find(idIs({ $in: [...new Set(ids)] }));
      return new Map(docs.map((doc) => [doc._id, stateOf(doc)]));
    },
    page: async ({ after, limit }) => {
      const docs = await collection.find(after === null ? {} : idIs({ $gt: after }), { sort: { _id: 1 }, limit });
      return docs.map(stateOf);
    },
  };
};
