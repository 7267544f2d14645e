import { isDeepStrictEqual } from 'node:util';
import { type BubbleDoc, bubbleIn } from '@bubbles/bubbles-query/adapters/store/bubbles.ts';
import type { CardDoc } from '@bubbles/bubbles-query/adapters/store/cards.ts';
import type { CommentDoc } from '@bubbles/bubbles-query/adapters/store/comments.ts';
import type { PersonDoc } from '@bubbles/bubbles-query/adapters/store/people.ts';
import { atOnce, type SearchCard, searchCard } from '@bubbles/bubbles-query/domain/search-card.ts';
import type { Collection, Database, Doc } from '@bubbles/store/collection.ts';
import type { Bubble } from '../../services/bubbles-query/src/domain/bubble.ts';
import type { Stated } from './outside.ts';

export interface PersonFacts {
  readonly id: string;
  readonly name: string | null;
  readonly email: string | null;
}

/** What bubbles-query has made of what it was told, seen in its database: what has not arrived yet, in words. */
export interface ReadModel {
  missing(ids: readonly string[], stated: Stated): Promise<readonly string[]>;
  missingComments(ids: readonly string[], stated: Stated): Promise<readonly string[]>;
  missingPeople(people: readonly PersonFacts[]): Promise<readonly string[]>;
}

const GROUPS = ['details', 'media', 'transcript', 'notes'] as const;

const byId = async <T extends Doc>(collection: Collection<T>, ids: readonly string[]): Promise<ReadonlyMap<string, T>> => {
  // `_id` is a key of every document; the driver's filter type cannot tell for a T that is not known.
  const filter = { _id: { $in: [...ids] } } as Parameters<Collection<T>['find']>[0];
  return new Map((await collection.find(filter)).map((doc) => [doc._id, doc]));
};

type StatedBubble = Awaited<ReturnType<Stated['bubbles']['find']>>[number];

/** The group of facts that is not there in its newest revision; null when all are. */
const lateGroup = ({ revisions, removed }: StatedBubble, bubble: Bubble | null): string | null => {
  if (removed) return bubble?.removed === true ? null : 'removal';
  // Of a meeting that was captured they come from elsewhere.
  if (!bubble?.details) return 'details';
  return GROUPS.find((group) => (bubble[group]?.revision ?? 0) < revisions[group]) ?? null;
};

/** Search finds the bubble by what is stored of it. Who reads an expired one is a matter of when it was looked at. */
const isCarded = (bubble: Bubble, card: CardDoc | undefined): boolean => {
  const wanted = atOnce(searchCard(bubble));
  if (wanted === null) return true;
  if (card === undefined) return false;
  const { id, changeCount, removed, readers, hideAtMs, ...texts } = wanted;
  const sameReaders = bubble.details?.expiresAt ? true : isDeepStrictEqual(readers, card.readers);
  return removed ? card.removedAt !== undefined : sameReaders && isDeepStrictEqual(texts, textsOf(card));
};

const textsOf = (card: CardDoc): Omit<SearchCard, 'id' | 'changeCount' | 'removed' | 'readers' | 'hideAtMs'> => {
  const { createdAt = null, teamId, channelId, type, authorId, title, notes } = card;
  return { createdAt, teamId, channelId, type, authorId, title, notes };
};

export const readModel = (database: Database): ReadModel => {
  const bubbles = database.collection<BubbleDoc>('bubbles');
  const cards = database.collection<CardDoc>('bubble_cards');
  const comments = database.collection<CommentDoc>('comments');
  const people = database.collection<PersonDoc>('people');
  const stateIn = (docs: ReadonlyMap<string, BubbleDoc>, id: string): Bubble | null => {
    const doc = docs.get(id);
    return doc === undefined ? null : bubbleIn(doc);
  };

  return {
    async missing(ids, stated) {
      const told = await byId(stated.bubbles, ids);
      const [stored, carded] = await Promise.all([byId(bubbles, ids), byId(cards, ids)]);
      return [...told.values()].flatMap((wanted) => {
        const bubble = stateIn(stored, wanted._id);
        const late = lateGroup(wanted, bubble);
        if (late !== null) return [`${late} of bubble ${wanted._id}`];
        return bubble !== null && isCarded(bubble, carded.get(wanted._id)) ? [] : [`card of bubble ${wanted._id}`];
      });
    },
    async missingComments(ids, stated) {
      const told = await byId(stated.comments, ids);
      const late: string[] = [];
      const stored = await byId(comments, ids);
      const bubbleIds = [...new Set([...told.values()].map(({ bubbleId }) => bubbleId))];
      const [counted, purged] = await Promise.all([byId(bubbles, bubbleIds), byId(stated.bubbles, bubbleIds)]);
      for (const { _id, bubbleId } of told.values()) {
        if (purged.get(bubbleId)?.removed === true) continue;
        const comment = stored.get(_id);
        const thread = comment && (await stated.threads.findOne({ _id: comment.threadId }));
        if (!comment) late.push(`comment ${_id}`);
        else if (!thread || comment.threadRevision < thread.revision) late.push(`thread ${comment.threadId} of comment ${_id}`);
      }
      for (const bubbleId of bubbleIds) {
        const shown = await comments.count({ bubbleId, shown: true, threadShown: true });
        if (purged.get(bubbleId)?.removed !== true && counted.get(bubbleId)?.commentCount !== shown) late.push(`count of ${bubbleId}`);
      }
      return late;
    },
    async missingPeople(wanted) {
      const known = await byId(
        people,
        wanted.map(({ id }) => id),
      );
      return wanted
        .filter(({ id, name, email }) => known.get(id)?.name !== name || known.get(id)?.email !== email)
        .map(({ id }) => `account ${id}`);
    },
  };
};
