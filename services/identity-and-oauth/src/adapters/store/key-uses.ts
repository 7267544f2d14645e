import type { Collection } from '@bubbles/store/collection.ts';
import type { KeyUses } from '../../ports.ts';

export interface KeyUseDoc {
  /** The id of the key. */
  readonly _id: string;
  readonly lastUsedAt: Date;
}

export interface BufferedKeyUses extends KeyUses {
  /** Stores what was noted; what could not be stored is kept for the next time. */
  flush(): Promise<void>;
}

/** Writes at a time: few enough to leave the store's connections to requests. */
const WRITES_AT_ONCE = 8;

export function keyUses(collection: Collection<KeyUseDoc>): BufferedKeyUses {
  let noted = new Map<string, Date>();

  const note = (keyId: string, at: Date) => {
    const known = noted.get(keyId);
    if (!known || known < at) noted.set(keyId, at);
  };

  const store = async (keyId: string, at: Date): Promise<void> => {
    const outcome = await collection.updateOne({ _id: keyId }, { $max: { lastUsedAt: at } }, { upsert: true });
    // Another replica inserted it in between: now there is a document to raise.
    if (outcome === 'duplicate') await collection.updateOne({ _id: keyId }, { $max: { lastUsedAt: at } });
  };

  const storeAll = async (uses: MapIterator<[string, Date]>): Promise<void> => {
    for (const [keyId, at] of uses) {
      try {
        await store(keyId, at);
      } catch (error) {
        note(keyId, at);
        throw error;
      }
    }
  };

  return {
    note,
    lastUsed: async (keyIds) => {
      const uses = await collection.find({ _id: { $in: [...keyIds] } });
      return new Map(uses.map(({ _id, lastUsedAt }) => [_id, lastUsedAt]));
    },
    forget: async (keyIds) => {
      await collection.deleteMany({ _id: { $in: [...keyIds] } });
    },
    flush: async () => {
      const uses = noted;
      noted = new Map();
      const queue = uses.entries();
      try {
        await Promise.all(Array.from({ length: WRITES_AT_ONCE }, () => storeAll(queue)));
      } finally {
        for (const [keyId, at] of queue) note(keyId, at);
      }
    },
  };
}
