import type { Clock } from '@bubbles/kernel/clock.ts';
import type {
  BubbleReady,
  BubbleStore,
  CardStore,
  CommentStore,
  Identity,
  PeopleStore,
  RunInSlices,
  SearchIndex,
  TranscriptStore,
} from './ports.ts';
import { analyseCardsAgain, dropRemovedCards } from './use-cases/cards.ts';
import { recordComment, recordThread } from './use-cases/comments.ts';
import type { Feed } from './use-cases/feed.ts';
import { fillPeople, rebuildPeople, recordPerson } from './use-cases/people.ts';
import { getBubble, getTranscript, listBubbles, listComments, readability } from './use-cases/read.ts';
import { recordCaptured, recordDetails, recordMedia, recordNotes, recordTranscript, removeBubble } from './use-cases/record.ts';
import { searchBubbles } from './use-cases/search.ts';
import { withdrawExpired } from './use-cases/withdraw.ts';

interface AppPorts {
  readonly bubbles: BubbleStore;
  readonly transcripts: TranscriptStore;
  readonly comments: CommentStore;
  readonly people: PeopleStore;
  readonly cards: CardStore;
  readonly identity: Identity;
  readonly index: SearchIndex;
  readonly feed: Feed;
  readonly runInSlices: RunInSlices;
  readonly clock: Clock;
  readonly bubbleReady: BubbleReady;
}

/** What bubbles-query can do. */
export const createApp = (ports: AppPorts) => ({
  listBubbles: listBubbles(ports),
  searchBubbles: searchBubbles(ports),
  getBubble: getBubble(ports),
  getTranscript: getTranscript(ports),
  listComments: listComments(ports),
  readability: readability(ports),

  recordDetails: recordDetails(ports),
  recordMedia: recordMedia(ports),
  recordTranscript: recordTranscript(ports),
  recordNotes: recordNotes(ports),
  recordCaptured: recordCaptured(ports),
  removeBubble: removeBubble(ports),
  recordComment: recordComment(ports),
  recordThread: recordThread(ports),
  recordPerson: recordPerson(ports),
  rebuildPeople: rebuildPeople(ports),
  fillPeople: fillPeople(ports),

  withdrawExpired: withdrawExpired(ports),
  analyseCardsAgain: analyseCardsAgain(ports),
  dropRemovedCards: dropRemovedCards(ports),
});
export type App = ReturnType<typeof createApp>;
