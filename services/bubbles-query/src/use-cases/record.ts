import type { OutgoingEvent } from '@bubbles/shared/bus/outgoing.ts';
import type { Clock } from '@bubbles/shared/clock.ts';
import { type Bubble, type Details, derived, type Media, type Notes, tombstone, withFacts } from '../domain/bubble.ts';
import type { Directory, Person } from '../domain/person.ts';
import { becomesReady } from '../domain/readiness.ts';
import type { Transcript } from '../domain/transcript.ts';
import type { BubbleStore, Change, CommentStore, PeopleStore, TranscriptStore } from '../ports.ts';

interface Ports {
  readonly bubbles: BubbleStore;
  readonly transcripts: TranscriptStore;
  readonly comments: CommentStore;
  readonly people: PeopleStore;
  readonly clock: Clock;
  /** The ready event of a bubble, as a participant reads it. */
  readonly bubbleReady: (bubble: Bubble, directory: Directory, readyAt: Date) => OutgoingEvent;
}

type Fact =
  | { readonly details: Details }
  | { readonly media: Media }
  | { readonly notes: Notes }
  | { readonly transcript: { readonly revision: number } };

const factsOf = (bubble: Bubble, fact: Fact): Bubble | null => {
  if ('details' in fact) return withFacts(bubble, 'details', fact.details);
  if ('media' in fact) return withFacts(bubble, 'media', fact.media);
  if ('notes' in fact) return withFacts(bubble, 'notes', fact.notes);
  return withFacts(bubble, 'transcript', fact.transcript);
};

const peopleOf = (details: Details | null): Person[] =>
  details === null ? [] : [...details.participants, ...(details.author ? [details.author] : [])];

/**
 * Takes in one group of facts. Readiness is decided on what is then known, whatever came last, and told in the same write: once, and never lost. An
 * event that was taken in before changes nothing.
 */
const recordFact = ({ bubbles, people, clock, bubbleReady }: Ports) => {
  const directoryOf = async (id: string, fact: Fact): Promise<Directory> => {
    const details = 'details' in fact ? fact.details : ((await bubbles.get(id))?.details ?? null);
    return people.byIds(peopleOf(details).flatMap(({ userId }) => userId ?? []));
  };
  return async (id: string, fact: Fact): Promise<Bubble> => {
    const directory = await directoryOf(id, fact);
    return bubbles.change(id, (before): Change | null => {
      const bubble = factsOf(before, fact);
      if (bubble === null) return null;
      const now = clock.now();
      if (!becomesReady(bubble, now)) return { bubble, events: [] };
      return { bubble: { ...bubble, readyAt: now }, events: [bubbleReady(bubble, directory, now)] };
    });
  };
};

export const recordDetails = (ports: Ports) => {
  const record = recordFact(ports);
  return async (id: string, details: Details): Promise<void> => {
    await record(id, { details });
  };
};

export const recordMedia = (ports: Ports) => {
  const record = recordFact(ports);
  return async (id: string, media: Media): Promise<void> => {
    await record(id, { media });
  };
};

export const recordNotes = (ports: Ports) => {
  const record = recordFact(ports);
  return async (id: string, notes: Notes): Promise<void> => {
    await record(id, { notes });
  };
};

/** The segments first, the mark second; a mark that meets a tombstone takes the segments away again. */
export const recordTranscript = (ports: Ports) => {
  const record = recordFact(ports);
  return async (transcript: Transcript): Promise<void> => {
    await ports.transcripts.put(transcript);
    const bubble = await record(transcript.bubbleId, { transcript: { revision: transcript.revision } });
    if (bubble.removed) await ports.transcripts.purge(transcript.bubbleId);
  };
};

/** The tombstone first: what comes late meets it. The purge is done again when the event comes again. */
export const removeBubble =
  ({ bubbles, transcripts, comments }: Pick<Ports, 'bubbles' | 'transcripts' | 'comments'>) =>
  async (id: string): Promise<void> => {
    await bubbles.change(id, (bubble) => (bubble.removed ? null : { bubble: tombstone(id), events: [] }));
    await transcripts.purge(id);
    await comments.purge(id);
  };

/** The count of an epoch is stored only while that epoch lasts: whoever changed comments meanwhile counts them all. */
export const recount =
  ({ bubbles, comments }: Pick<Ports, 'bubbles' | 'comments'>) =>
  async (bubbleId: string): Promise<void> => {
    const { commentsEpoch, removed } = await bubbles.change(bubbleId, (bubble) =>
      bubble.removed ? null : { bubble: { ...bubble, commentsEpoch: bubble.commentsEpoch + 1 }, events: [] },
    );
    if (removed) return comments.purge(bubbleId);
    const commentCount = await comments.count(bubbleId);
    await bubbles.change(bubbleId, (bubble) =>
      bubble.removed || bubble.commentsEpoch !== commentsEpoch ? null : { bubble: derived({ ...bubble, commentCount }), events: [] },
    );
  };
