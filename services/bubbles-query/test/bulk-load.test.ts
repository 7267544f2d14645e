import type { Database, Doc } from '@bubbles/store/collection.ts';
import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { startBubbles, type TestBubbles } from './bubbles-query.ts';
import { account, bubbleId, changed, created } from './builders.ts';
import { idsIn, searchAs } from './search-scene.ts';

const MANY = 1500;

/** The documents that were read of a collection. */
const counted = () => {
  const reads: Record<string, number> = {};
  const database = memoryDatabase();
  const counting: Database = {
    ...database,
    collection: <T extends Doc>(name: string) => {
      const collection = database.collection<T>(name);
      return {
        ...collection,
        async find(...query: Parameters<typeof collection.find>) {
          const docs = await collection.find(...query);
          reads[name] = (reads[name] ?? 0) + docs.length;
          return docs;
        },
      };
    },
  };
  return {
    database: counting,
    take: (name: string): number => {
      const count = reads[name] ?? 0;
      reads[name] = 0;
      return count;
    },
  };
};

describe(`within the minute after ${MANY} bubbles and accounts came at once`, () => {
  const { database, take } = counted();
  let bubbles: TestBubbles;
  beforeEach(async () => {
    bubbles = await startBubbles({ database });
    for (let n = 1; n <= MANY; n++) await bubbles.tell(created({ bubble_id: bubbleId(n) }), account({ user_id: `user-${n}` }));
  });
  afterEach(() => bubbles.stop());

  it('[SRCH-04] [LIST-10] each search reads few cards and names again, and misses nothing', async () => {
    const search = async (q: string) => idsIn(await searchAs(bubbles, 'ada', { q, limit: 100 }));
    expect(await search('weekly')).toHaveLength(100);
    take('bubble_cards');
    await search('weekly');
    take('people');
    for (let again = 0; again < 5; again++) await search('weekly');
    expect([take('bubble_cards') <= 6 * 256, take('people') <= 5 * 256]).toEqual([true, true]);
    await bubbles.tell(changed({ bubble_id: bubbleId(7), title: 'Renamed' }));
    expect(await search('renamed')).toEqual([bubbleId(7)]);
  });
});
