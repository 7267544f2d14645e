import type { OpenCollection } from '@bubbles/store/indexed-collections.ts';
import type { KeyUses } from '../../ports.ts';

interface KeyUseDoc {
  /** The id of the key. */
  readonly _id: string;
  readonly lastUsedAt: Date;
}

export interface BufferedKeyUses extends KeyUses {
  /** Stores what was noted; what could not be stored is kept for the next flush. */
  flush(): Promise<void>;
}

/** Few enough to leave the store's connections to requests. */
const CONCURRENT_WRITES = 8;

export const openKeyUses = (open: OpenCollection): BufferedKeyUses => {
  const documents = open<KeyUseDoc>('key_uses');
  let noted = new Map<string, Date>();

  const note = (keyId: string, at: Date) => {
    const known = noted.get(keyId);
    if (!known || known < at) noted.set(keyId, at);
  };
  const store = async (keyId: string, at: Date): Promise<void> => {
    const result = await documents.updateOne({ _id: keyId }, { $max: { lastUsedAt: at } }, { upsert: true });
    // Another replica inserted the document in between, so that the second update finds it.
    if (result === 'duplicate') await documents.updateOne({ _id: keyId }, { $max: { lastUsedAt: at } });
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
      const uses = await documents.find({ _id: { $in: [...keyIds] } });
      return new Map(uses.map(({ _id, lastUsedAt }) => [_id, lastUsedAt]));
    },
    forget: async (keyIds) => {
      await documents.deleteMany({ _id: { $in: [...keyIds] } });
    },
    flush: async () => {
      const queue = noted.entries();
      noted = new Map();
      try {
        await Promise.all(Array.from({ length: CONCURRENT_WRITES }, () => storeAll(queue)));
      } finally {
        for (const [keyId, at] of queue) note(keyId, at);
      }
    },
  };
};
