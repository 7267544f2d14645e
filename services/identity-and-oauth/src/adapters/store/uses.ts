import type { IndexSpec } from '@bubbles/store/collection.ts';
import type { OpenCollection } from '@bubbles/store/indexed-collections.ts';
import type { Uses } from '../../ports.ts';

interface UseDoc {
  /** The id of what was used. */
  readonly _id: string;
  readonly lastUsedAt: Date;
}

export interface BufferedUses extends Uses {
  /** Stores what was noted; what could not be stored is kept for the next flush. */
  flush(): Promise<void>;
}

/** Few enough to leave the store's connections to requests. */
const CONCURRENT_WRITES = 8;

const INDEXES: readonly IndexSpec[] = [{ name: 'last_used_at', keys: { lastUsedAt: 1 } }];

export const openUses = (open: OpenCollection, collection: string): BufferedUses => {
  const documents = open<UseDoc>(collection, INDEXES);
  let noted = new Map<string, Date>();

  const note = (id: string, at: Date) => {
    const known = noted.get(id);
    if (!known || known < at) noted.set(id, at);
  };
  const store = async (id: string, at: Date): Promise<void> => {
    const result = await documents.updateOne({ _id: id }, { $max: { lastUsedAt: at } }, { upsert: true });
    // Another replica inserted the document in between, so that the second update finds it.
    if (result === 'duplicate') await documents.updateOne({ _id: id }, { $max: { lastUsedAt: at } });
  };
  const storeAll = async (uses: MapIterator<[string, Date]>): Promise<void> => {
    for (const [id, at] of uses) {
      try {
        await store(id, at);
      } catch (error) {
        note(id, at);
        throw error;
      }
    }
  };

  return {
    note,
    lastUsed: async (ids) => {
      const uses = await documents.find({ _id: { $in: [...ids] } });
      return new Map(uses.map(({ _id, lastUsedAt }) => [_id, lastUsedAt]));
    },
    forget: async (ids) => {
      await documents.deleteMany({ _id: { $in: [...ids] } });
    },
    forgetUsedBefore: (at) => documents.deleteMany({ lastUsedAt: { $lt: at } }),
    flush: async () => {
      const queue = noted.entries();
      noted = new Map();
      try {
        await Promise.all(Array.from({ length: CONCURRENT_WRITES }, () => storeAll(queue)));
      } finally {
        for (const [id, at] of queue) note(id, at);
      }
    },
  };
};
