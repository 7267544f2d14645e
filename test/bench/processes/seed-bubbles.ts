import { setImmediate } from 'node:timers/promises';
import { openStores } from '@bubbles/bubbles-query/adapters/store/stores.ts';
import { type Bubble, type Details, withFacts } from '@bubbles/bubbles-query/domain/bubble.ts';
import { runInSlices } from '@bubbles/bubbles-query/search/time-slices.ts';
import { writeCard } from '@bubbles/bubbles-query/use-cases/cards.ts';
import { createFeed } from '@bubbles/bubbles-query/use-cases/feed.ts';
import type { Infra } from '@bubbles/host/service.ts';
import { createCorpus } from '../../../services/bubbles-query/test/search/corpus.ts';

export interface SeedPlan {
  readonly bubbles: number;
  /** `user-0`, `user-1`…; each bubble has `readersEach` of them as participants. */
  readonly users: number;
  readonly readersEach: number;
  /** Also what search needs. */
  readonly cards: boolean;
}

export interface SeededBubbles {
  /** Some, spread over all. */
  readonly ids: readonly string[];
}

const SAMPLE = 200;
/** Cards are read again by every search for a minute after they were written: these are older. */
const WRITTEN_BEFORE_MS = 600_000;
/** So that a row with its notes is as long as those of real meetings. */
const NOTES_CHARACTERS = 640;

const participant = (n: number) => ({ userId: `user-${n}`, name: `Person ${n}`, email: `person${n}@acme.test`, isExternal: false });

interface Written {
  readonly id: string;
  readonly title: string | null;
  readonly summary: string | null;
  readonly authorName: string | null;
  readonly createdMs: number;
  readonly channelId: string | null;
}

const detailsOf = ({ title, createdMs, authorName, channelId }: Written, readers: readonly number[]): Details => ({
  revision: 1,
  type: 'meeting_recording',
  title,
  teamId: 'team-1',
  channelId,
  channelName: 'General',
  createdAt: new Date(createdMs),
  author: { userId: null, name: authorName, email: null, isExternal: false },
  creatorId: `user-${readers[0] ?? 0}`,
  participants: readers.map(participant),
  isPublic: false,
  archived: false,
  draft: false,
  template: false,
  hasMedia: true,
  expiresAt: null,
  responseRequired: false,
  embedCode: '<iframe src="https://media.test/embed"></iframe>',
  meeting: { platform: 'google_meet', startTime: new Date(createdMs) },
});

const mediaOf = (id: string) => ({
  revision: 1,
  isProcessed: true,
  hasAudio: true,
  videoUrl: `https://media.test/${id}/video.mp4`,
  thumbnailUrl: `https://media.test/${id}/thumbnail.jpg`,
  screenshotUrl: null,
  durationSeconds: 1834.5,
});

const stateOf = (bubble: Bubble, written: Written, readers: readonly number[]): Bubble => {
  const detailed = withFacts(bubble, 'details', detailsOf(written, readers)) ?? bubble;
  const processed = withFacts(detailed, 'media', mediaOf(written.id)) ?? detailed;
  const summary = (written.summary ?? written.title ?? '').repeat(20).slice(0, NOTES_CHARACTERS);
  return withFacts(processed, 'notes', { revision: 1, summary, actionItems: 'Send the numbers.' }) ?? processed;
};

/** A generated world, the same for the same plan. */
export const seedBubbles = async (infra: Infra, { bubbles, users, readersEach, cards }: SeedPlan): Promise<SeededBubbles> => {
  const stores = openStores({ ...infra, source: 'bench', onCommit: () => undefined });
  await stores.ensureIndexes();
  const earlier = { ...infra.clock, now: () => new Date(infra.clock.now().getTime() - WRITTEN_BEFORE_MS) };
  const eventLoop = { elapsedMs: () => infra.clock.monotonic(), nextTurn: () => setImmediate() };
  const write = writeCard({ ...stores, runInSlices: (work) => runInSlices(work, eventLoop), feed: createFeed(earlier) });
  const corpus = createCorpus(bubbles);
  const ids: string[] = [];
  for (let n = 0; n < bubbles; n += 1) {
    const [written] = corpus.bubbles(n, n + 1);
    if (written === undefined) throw new Error('the corpus is too small');
    const readers = Array.from({ length: readersEach }, (_, k) => (n + k) % users);
    const state = await stores.bubbles.change(written.id, (bubble) => ({ state: stateOf(bubble, written, readers), events: [] }));
    if (cards) await write(state);
    if (n % Math.max(1, Math.floor(bubbles / SAMPLE)) === 0) ids.push(written.id);
  }
  return { ids };
};
