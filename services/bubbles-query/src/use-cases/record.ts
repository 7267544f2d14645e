import type { Clock } from '@bubbles/kernel/clock.ts';
import { type Bubble, type Details, type Media, type Notes, peopleIn, tombstone, withFacts } from '../domain/bubble.ts';
import { accountIds, type Directory } from '../domain/person.ts';
import { becomesReady } from '../domain/readiness.ts';
import type { Transcript } from '../domain/transcript.ts';
import type { BubbleReady, BubbleStore, CommentStore, PeopleStore, TranscriptStore } from '../ports.ts';
import { type CardPorts, writeCard } from './cards.ts';

interface Ports extends CardPorts {
  readonly bubbles: BubbleStore;
  readonly people: PeopleStore;
  readonly transcripts: TranscriptStore;
  readonly comments: CommentStore;
  readonly clock: Clock;
  readonly bubbleReady: BubbleReady;
}

/** The bubble with what an event says; null when it says nothing new. */
type Merge = (bubble: Bubble) => Bubble | null;

/**
 * Every fact about a bubble is recorded here; answers the bubble as it is then. Readiness is decided on the merged state, whatever came last, and its
 * event is part of the same write: once, and never lost. The people that the event names are looked up before that write, which is then tried again.
 */
const recorder = ({ bubbles, people, clock, bubbleReady }: Pick<Ports, 'bubbles' | 'people' | 'clock' | 'bubbleReady'>) => {
  return async (id: string, merge: Merge): Promise<Bubble> => {
    const asked = new Set<string>();
    let directory: Directory = new Map();
    for (;;) {
      let unasked: readonly string[] = [];
      const stored = await bubbles.change(id, (before) => {
        const state = merge(before);
        const readyAt = clock.now();
        const ready = state !== null && becomesReady(state, readyAt);
        unasked = ready ? accountIds(peopleIn(state)).filter((account) => !asked.has(account)) : [];
        if (state === null || unasked.length > 0) return null;
        return ready ? { state: { ...state, readyAt }, events: [bubbleReady(state, directory, readyAt)] } : { state, events: [] };
      });
      if (unasked.length === 0) return stored;
      for (const account of unasked) asked.add(account);
      directory = await people.byIds([...asked]);
    }
  };
};

/** The bubble first, its card second; an event that the bubble knows already finishes the card. */
export const recordDetails = (ports: Ports) => {
  const [record, write] = [recorder(ports), writeCard(ports)];
  return async (id: string, details: Details): Promise<void> => {
    await write(await record(id, (bubble) => withFacts(bubble, 'details', details)));
  };
};

export const recordMedia = (ports: Ports) => {
  const record = recorder(ports);
  return async (id: string, media: Media): Promise<void> => {
    await record(id, (bubble) => withFacts(bubble, 'media', media));
  };
};

export const recordNotes = (ports: Ports) => {
  const [record, write] = [recorder(ports), writeCard(ports)];
  return async (id: string, notes: Notes): Promise<void> => {
    await write(await record(id, (bubble) => withFacts(bubble, 'notes', notes)));
  };
};

/** The segments first, the mark second; a mark that meets a tombstone takes the segments away again. */
export const recordTranscript = (ports: Ports) => {
  const record = recorder(ports);
  return async (transcript: Transcript): Promise<void> => {
    const { bubbleId, revision } = transcript;
    await ports.transcripts.put(transcript);
    const { removed } = await record(bubbleId, (bubble) => withFacts(bubble, 'transcript', { revision }));
    if (removed) await ports.transcripts.purge(bubbleId);
  };
};

export interface CapturedRecording {
  readonly details: Details;
  readonly media: Media;
  readonly transcript: Transcript | null;
}

/** A recorded meeting. Details last: once they are known the bubble is shown, with all that was captured. */
export const recordCaptured = (ports: Ports) => {
  const [details, media, transcript] = [recordDetails(ports), recordMedia(ports), recordTranscript(ports)];
  return async (id: string, captured: CapturedRecording): Promise<void> => {
    if (captured.transcript !== null) await transcript(captured.transcript);
    await media(id, captured.media);
    await details(id, captured.details);
  };
};

/** The tombstone first: what comes late meets it. The purge is done again when the event comes again. */
export const removeBubble = (ports: Ports) => {
  const [record, write] = [recorder(ports), writeCard(ports)];
  return async (id: string): Promise<void> => {
    await write(await record(id, (bubble) => (bubble.removed ? null : tombstone(bubble))));
    await ports.transcripts.purge(id);
    await ports.comments.purge(id);
  };
};
