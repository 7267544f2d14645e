import { OUTBOX_INDEX, type OutboxDoc, UNCLAIMED } from '@bubbles/store/aggregates.ts';
import type { Collection, Database, Doc } from '@bubbles/store/collection.ts';

/** The outboxes of all services, seen from outside: whatever relays there are, or are not. */
export interface Outboxes {
  /** The same database, whose collections of aggregates are watched from the moment that they declare the index of outboxes. */
  watched(name: string, database: Database): Database;
  /** Events that wait, by their ids: where each lies, and its type. */
  waiting(): Promise<ReadonlyMap<string, string>>;
}

/** Aggregates looked at in one collection; one is enough to know that something waits. */
const AGGREGATES_LOOKED_AT = 100;

export const outboxes = (): Outboxes => {
  const collections = new Map<string, Collection<OutboxDoc>>();
  const watch = <T extends Doc>(place: string, collection: Collection<T>): Collection<T> => ({
    ...collection,
    ensureIndexes: (indexes, dropped) => {
      // Who declares the index of outboxes keeps documents that have one.
      if (indexes.some(({ name }) => name === OUTBOX_INDEX.name)) collections.set(place, collection as unknown as Collection<OutboxDoc>);
      return collection.ensureIndexes(indexes, dropped);
    },
  });
  return {
    watched: (name, database) => ({
      ...database,
      collection: <T extends Doc>(collection: string) => watch(`${name}/${collection}`, database.collection<T>(collection)),
    }),
    async waiting() {
      const found = new Map<string, string>();
      for (const [place, collection] of collections) {
        const documents = await collection.find({ outboxAt: { $gt: UNCLAIMED.relayUntil } }, { limit: AGGREGATES_LOOKED_AT });
        for (const { id, type } of documents.flatMap(({ outbox }) => outbox)) found.set(id, `${type} in ${place}`);
      }
      return found;
    },
  };
};
