import type { Clock } from '@bubbles/kernel/clock.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import { type Bubble, type Details, isReadable, mayRead, participates, peopleIn } from '../domain/bubble.ts';
import type { ShownComment } from '../domain/comment.ts';
import { accountIds, type Directory } from '../domain/person.ts';
import { bubbleIdOf } from '../domain/short-id.ts';
import { type Segment, speakerIds, withCurrentNames } from '../domain/transcript.ts';
import type { BubbleStore, CommentQuery, CommentStore, Identity, ListRow, PeopleStore, RowQuery, TranscriptStore } from '../ports.ts';

interface Ports {
  readonly bubbles: BubbleStore;
  readonly transcripts: TranscriptStore;
  readonly comments: CommentStore;
  readonly people: PeopleStore;
  readonly clock: Clock;
}

/** Absent and unreadable bubbles are refused alike, in one place. */
const readableBubble =
  ({ bubbles, clock }: Pick<Ports, 'bubbles' | 'clock'>) =>
  async (userId: string, text: string): Promise<Bubble> => {
    const id = bubbleIdOf(text);
    const bubble = id === null ? null : await bubbles.get(id);
    if (bubble === null || !mayRead(bubble, userId, clock.now())) throw new DomainError('not_found', 'No such bubble.');
    return bubble;
  };

export const listBubbles =
  ({ bubbles, clock }: Pick<Ports, 'bubbles' | 'clock'>) =>
  (query: Omit<RowQuery, 'now'>): Promise<ListRow[]> =>
    bubbles.rows({ ...query, now: clock.now() });

interface BubbleView {
  readonly bubble: Bubble;
  readonly directory: Directory;
  /** Addresses are for those who take part or belong to the team. */
  readonly seesAddresses: boolean;
}

export const getBubble = (ports: Ports & { readonly identity: Pick<Identity, 'belongs'> }) => {
  const readable = readableBubble(ports);
  const seesAddresses = async (bubble: Bubble, userId: string): Promise<boolean> => {
    if (participates(bubble, userId)) return true;
    const teamId = bubble.details?.teamId ?? null;
    return teamId !== null && (await ports.identity.belongs(userId, teamId));
  };
  return async (userId: string, text: string): Promise<BubbleView> => {
    const bubble = await readable(userId, text);
    const [directory, sees] = await Promise.all([ports.people.byIds(accountIds(peopleIn(bubble))), seesAddresses(bubble, userId)]);
    return { bubble, directory, seesAddresses: sees };
  };
};

interface TranscriptView {
  readonly bubbleId: string;
  readonly title: string | null;
  readonly segments: readonly Segment[];
}

export const getTranscript = (ports: Ports) => {
  const readable = readableBubble(ports);
  return async (userId: string, text: string): Promise<TranscriptView> => {
    const { id, details, transcript: mark } = await readable(userId, text);
    const transcript = mark === null ? null : await ports.transcripts.get(id);
    if (transcript === null) throw new DomainError('not_found', 'No such bubble.');
    const directory = await ports.people.byIds(speakerIds(transcript.segments));
    return { bubbleId: id, title: details?.title ?? null, segments: withCurrentNames(transcript.segments, directory) };
  };
};

export const listComments = (ports: Ports) => {
  const readable = readableBubble(ports);
  return async (
    userId: string,
    text: string,
    page: Omit<CommentQuery, 'bubbleId'>,
  ): Promise<{ readonly comments: readonly ShownComment[]; readonly directory: Directory }> => {
    const { id } = await readable(userId, text);
    const comments = await ports.comments.page({ ...page, bubbleId: id });
    return { comments, directory: await ports.people.byIds(comments.map(({ author }) => author.id)) };
  };
};

interface Readability {
  readonly participates: boolean;
  /** Null when the bubble may not be read. */
  readonly details: Details | null;
}

/** For services that act later on a bubble that was readable once: may it still be read, what does it belong to, does this user still take part? */
export const readability =
  ({ bubbles, clock }: Pick<Ports, 'bubbles' | 'clock'>) =>
  async (pairs: readonly { readonly userId: string; readonly bubbleId: string }[]): Promise<Readability[]> => {
    const found = new Map((await bubbles.byIds([...new Set(pairs.map(({ bubbleId }) => bubbleId))])).map((bubble) => [bubble.id, bubble]));
    const now = clock.now();
    return pairs.map(({ userId, bubbleId }) => {
      const bubble = found.get(bubbleId);
      if (bubble === undefined || !isReadable(bubble, now)) return { participates: false, details: null };
      return { participates: participates(bubble, userId), details: bubble.details };
    });
  };
