import type { IndexSpec } from '@bubbles/store/collection.ts';
import type { OpenCollection } from '@bubbles/store/indexed-collections.ts';
import { ANALYSER_VERSION } from '../../domain/analyser.ts';
import { createdMsOf, NEAR_END_MS, UNDATED } from '../../domain/bubble.ts';
import type { CardRow, SearchCard } from '../../domain/search-card.ts';
import type { CardFeed, CardStore } from '../../ports.ts';
import { type FedDoc, feedSource } from './feeds.ts';
import { putIntoFeed } from './unless-newer.ts';

export interface CardDoc extends Omit<SearchCard, 'id' | 'changeCount' | 'removed' | 'createdAt'>, FedDoc {
  /** The `changeCount` of the bubble. */
  readonly rev: number;
  /** Absent from a card that an earlier release wrote. */
  readonly createdAt?: Date | null;
  /** For earlier releases: limited to the years 1970 to 2286, 0 without a date. */
  readonly createdMs: number;
  /** The version of the analyser of its texts. */
  readonly analyser: number;
  /** Readers now and before: the index of a former reader must learn that the card has gone. */
  readonly ever: readonly string[];
  /** Absent while the bubble is there, so that a sparse index holds the removed alone. */
  readonly removedAt?: Date;
}

const INDEXES: readonly IndexSpec[] = [
  { name: 'ever', keys: { ever: 1, seq: 1 } },
  { name: 'removed', keys: { removedAt: 1 }, sparse: true },
  { name: 'analyser', keys: { analyser: 1 } },
];

/** Above every version of the analyser. */
const ANALYSER_VERSIONS = 64;

/** A card whose bubble is unchanged but whose texts were analysed again is a newer row too. */
export const rowVersionOf = ({ rev, analyser }: Pick<CardDoc, 'rev' | 'analyser'>): number => rev * ANALYSER_VERSIONS + analyser;

const nearMs = (createdAt: Date | null): number => (createdAt === null ? 0 : Math.min(Math.max(createdAt.getTime(), 1), NEAR_END_MS - 1));
const createdMsIn = ({ createdAt, createdMs }: CardDoc): number =>
  createdAt === undefined ? createdMs || UNDATED : createdMsOf(createdAt);

const rowFor =
  (userId: string) =>
  (card: CardDoc): CardRow => ({
    id: card._id,
    rowVersion: rowVersionOf(card),
    seq: card.seq,
    readable: card.readers.includes(userId),
    createdMs: createdMsIn(card),
    hideAtMs: card.hideAtMs,
    teamId: card.teamId,
    channelId: card.channelId,
    type: card.type,
    authorId: card.authorId,
    title: card.title,
    notes: card.notes,
  });

export const openCards = (open: OpenCollection, analyser: number = ANALYSER_VERSION): CardStore & CardFeed => {
  const collection = open<CardDoc>('bubble_cards', INDEXES);
  return {
    async put({ id, changeCount: rev, removed, ...fields }, { seq, at }) {
      await putIntoFeed(collection, {
        older: { _id: id, rev: { $lte: rev } },
        update: {
          $set: { ...fields, rev, createdMs: nearMs(fields.createdAt), analyser, ...(removed ? { removedAt: at } : {}) },
          $addToSet: { ever: { $each: [...fields.readers] } },
        },
        seq,
      });
    },
    of: (userId) =>
      feedSource(collection, {
        filter: { ever: userId },
        projection: { ever: 0 },
        lengthOf: ({ title, notes }) => title.length + notes.length,
        rowOf: rowFor(userId),
      }),
    async idsAnalysedBefore(limit) {
      const docs = await collection.find({ analyser: { $lt: analyser } }, { limit, projection: { _id: 1 } });
      return docs.map(({ _id }) => _id);
    },
    dropRemovedBefore: (at) => collection.deleteMany({ removedAt: { $lt: at } }),
  };
};
