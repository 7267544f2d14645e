import type { Collection, Doc } from '@bubbles/store/collection.ts';
import type { FillProgress, FillStore } from '../../ports.ts';
import { putUnlessNewer } from './unless-newer.ts';

export interface FillDoc extends Doc, FillProgress {}

const PEOPLE = { _id: 'people' } as const;
const NOT_BEGUN: FillProgress = { after: null, done: false };

export const fillStore = (collection: Collection<FillDoc>): FillStore => ({
  async get() {
    const doc = await collection.findOne(PEOPLE);
    return doc ? { after: doc.after, done: doc.done } : NOT_BEGUN;
  },
  put: ({ after, done }) => putUnlessNewer(collection, PEOPLE, { $set: { after, done } }),
});
