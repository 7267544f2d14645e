import { type IndexSpec, storeUnavailable } from '@bubbles/store/collection.ts';
import type { OpenCollection } from '@bubbles/store/indexed-collections.ts';
import type { Segment, Transcript } from '../../domain/transcript.ts';
import type { TranscriptStore } from '../../ports.ts';
import { putUnlessNewer } from './unless-newer.ts';

interface TranscriptDoc extends Omit<Transcript, 'bubbleId'> {
  readonly _id: string;
  /** Parts beside this one, of the same revision; absent when it holds all segments. */
  readonly more?: number;
}

/** A later part of a transcript that is too long for one document. */
interface TranscriptPartDoc extends Transcript {
  readonly _id: string;
}

const PART_INDEXES: readonly IndexSpec[] = [{ name: 'bubble', keys: { bubbleId: 1 } }];

/** Far below the 16 MiB of a document, whatever the characters. */
const CHARACTERS_PER_PART = 2 ** 21;
/** Room for the fields of a segment beside its texts. */
const CHARACTERS_BESIDE = 128;
/** While parts are read they may be replaced by those of a newer revision. */
const MAX_READS = 5;

const lengthOf = ({ speaker, text }: Segment): number =>
  text.length + (speaker?.id?.length ?? 0) + (speaker?.name?.length ?? 0) + CHARACTERS_BESIDE;

/** The segments in order, at least one part. */
const partsOf = (segments: readonly Segment[]): readonly (readonly Segment[])[] => {
  const parts: Segment[][] = [[]];
  let room = CHARACTERS_PER_PART;
  for (const segment of segments) {
    const last = parts.at(-1);
    room -= lengthOf(segment);
    if (last !== undefined && (room >= 0 || last.length === 0)) last.push(segment);
    else {
      parts.push([segment]);
      room = CHARACTERS_PER_PART - lengthOf(segment);
    }
  }
  return parts;
};

const partId = ({ bubbleId, revision }: Omit<Transcript, 'segments'>, number: number): string => `${bubbleId}/${revision}/${number}`;

export const openTranscripts = (open: OpenCollection): TranscriptStore => {
  const transcripts = open<TranscriptDoc>('transcripts');
  const laterParts = open<TranscriptPartDoc>('transcript_parts', PART_INDEXES);
  const withLaterParts = async (bubbleId: string, { revision, segments, more = 0 }: TranscriptDoc): Promise<Transcript | null> => {
    if (more === 0) return { bubbleId, revision, segments };
    const ids = Array.from({ length: more }, (_, n) => partId({ bubbleId, revision }, n + 1));
    const parts = new Map((await laterParts.find({ _id: { $in: ids } })).map((part) => [part._id, part.segments]));
    const found = ids.map((id) => parts.get(id)).filter((part) => part !== undefined);
    return found.length < more ? null : { bubbleId, revision, segments: [segments, ...found].flat() };
  };
  /** Drops the parts that are older than the stored transcript. */
  const dropOlderParts = async (bubbleId: string): Promise<void> => {
    const stored = await transcripts.findOne({ _id: bubbleId }, { projection: { revision: 1 } });
    if (stored !== null) await laterParts.deleteMany({ bubbleId, revision: { $lt: stored.revision } });
  };
  return {
    async get(bubbleId) {
      for (let read = 0; read < MAX_READS; read += 1) {
        const doc = await transcripts.findOne({ _id: bubbleId });
        const transcript = doc && (await withLaterParts(bubbleId, doc));
        if (doc === null || transcript !== null) return transcript;
      }
      throw storeUnavailable(new Error(`The parts of a transcript were replaced ${MAX_READS} times.`));
    },
    /** Writes the later parts first, so that a reader of the first part finds all of them. */
    async put({ bubbleId, revision, segments }) {
      const [first = [], ...later] = partsOf(segments);
      const before = await transcripts.findOne({ _id: bubbleId }, { projection: { more: 1 } });
      for (const [n, part] of later.entries())
        await laterParts.replaceOne(
          { _id: partId({ bubbleId, revision }, n + 1) },
          { _id: partId({ bubbleId, revision }, n + 1), bubbleId, revision, segments: part },
          { upsert: true },
        );
      const fields = { revision, segments: first, more: later.length };
      await putUnlessNewer(transcripts, { _id: bubbleId, revision: { $lt: revision } }, { $set: fields });
      if (later.length > 0 || (before?.more ?? 0) > 0) await dropOlderParts(bubbleId);
    },
    async purge(bubbleId) {
      await transcripts.deleteOne({ _id: bubbleId });
      await laterParts.deleteMany({ bubbleId });
    },
  };
};
