import type { Collection } from '@bubbles/store/collection.ts';
import { openEmbedded } from '@bubbles/store-embedded/open-embedded.ts';
import { memoryLog } from '@bubbles/testing/memory-log.ts';
import { describe, expect, it } from '@jest/globals';
import { putUnlessNewer } from './unless-newer.ts';

interface Thing {
  readonly _id: string;
  readonly revision: number;
}

const things = () => openEmbedded({ path: ':memory:', log: memoryLog() }).database('test').collection<Thing>('things');

/** An engine on which somebody else's first document comes between the look for an older one and the insert. */
const overtaken = (collection: Collection<Thing>, first: Thing): Collection<Thing> => {
  const updateOne: Collection<Thing>['updateOne'] = async (filter, update, options) => {
    if (options?.upsert !== true) return collection.updateOne(filter, update);
    await collection.insert(first);
    return 'duplicate';
  };
  return { ...collection, updateOne };
};

const put = (collection: Collection<Thing>, revision: number) =>
  putUnlessNewer(collection, { _id: 'one', revision: { $lt: revision } }, { $set: { revision } });

describe('the newer of two first documents stays', () => {
  it.each([
    ['the other was older', 1, 2],
    ['the other was newer', 3, 3],
  ])('%s', async (_title, others, expected) => {
    const collection = things();
    await put(overtaken(collection, { _id: 'one', revision: others }), 2);
    expect(await collection.findOne({ _id: 'one' })).toEqual({ _id: 'one', revision: expected });
  });
});
