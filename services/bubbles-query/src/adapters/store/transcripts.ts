import type { Collection } from '@bubbles/shared/store/collection.ts';
import type { Transcript } from '../../domain/transcript.ts';
import type { TranscriptStore } from '../../ports.ts';
import { putUnlessNewer } from './unless-newer.ts';

export interface TranscriptDoc extends Omit<Transcript, 'bubbleId'> {
  readonly _id: string;
}

export const transcriptStore = (collection: Collection<TranscriptDoc>): TranscriptStore => ({
  async get(bubbleId) {
    const doc = await collection.findOne({ _id: bubbleId });
    return doc && { bubbleId, revision: doc.revision, segments: doc.segments };
  },
  async put({ bubbleId, revision, segments }) {
    await putUnlessNewer(collection, { _id: bubbleId, revision: { $lt: revision } }, { $set: { revision, segments } });
  },
  async purge(bubbleId) {
    await collection.deleteOne({ _id: bubbleId });
  },
});
