import { setTimeout as pause } from 'node:timers/promises';
import { isDomainError } from '@bubbles/kernel/errors.ts';
import type { Outside } from '../../support/outside.ts';
import type { ReadModel } from '../../support/read-model.ts';
import { scaled } from './scale.ts';
import { untilSo, within } from './within.ts';

export interface FactsLoad {
  /** Recordings that are made, by several at a time; each waits until the broker holds its facts. */
  readonly count: number;
  readonly participants: readonly string[];
  /** What one takes at least. */
  readonly paceMs?: number;
  /** Told how many are done. */
  readonly onProgress?: (done: number) => void;
}

/** What the load stated, for the comparison with what came of it. */
export interface StatedFacts {
  readonly events: number;
  readonly bubbleIds: readonly string[];
  readonly removedIds: readonly string[];
  readonly commentIds: readonly string[];
}

const CONCURRENT_WORKERS = 16;
const REMOVED_EVERY = 10;
const TYPES = ['meeting_recording', 'screen_recording', 'custom_image'] as const;
const EVENTS_OF_COMMENT = 2;

/** Recordings in one go and step by step, changed, commented on and some of them removed. */
export const stateFacts = async (outside: Outside, { count, participants, paceMs = 0, onProgress }: FactsLoad): Promise<StatedFacts> => {
  const stated = { bubbleIds: [] as string[], removedIds: [] as string[], commentIds: [] as string[] };
  const { actions } = outside;
  const one = async (n: number) => {
    const author = participants[n % participants.length] ?? '';
    const fields = { type: TYPES[n % TYPES.length] ?? TYPES[0], participant_ids: [...participants], author_id: author };
    const { id } = await actions.createBubble({ ...fields, title: `Recording ${n}`, stage: n % 2 === 0 ? 'ready' : 'created' });
    stated.bubbleIds.push(id);
    if (n % 2 === 1) for (const stage of ['processed', 'transcribed', 'ready'] as const) await actions.moveBubble(id, { stage });
    stated.commentIds.push((await actions.comment(id, aComment(author))).id);
    await actions.changeBubble(id, { title: `Recording ${n}, renamed`, stage: 'created' });
    if (n % REMOVED_EVERY === REMOVED_EVERY - 1) {
      await actions.removeBubble(id);
      stated.removedIds.push(id);
    }
    await untilHandedOver(outside, id);
  };
  let next = 0;
  let done = 0;
  const worker = async () => {
    for (let n = next++; n < count; n = next++) {
      await Promise.all([one(n), pause(paceMs)]);
      done += 1;
      onProgress?.(done);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT_WORKERS }, worker));
  await within({ what: 'the broker holds all facts', state: () => [waitingIn(outside)] }, outside.settle);
  return { ...stated, events: await countEvents(outside, stated) };
};

const aComment = (author: string) => ({
  author_id: author,
  kind: 'text' as const,
  video_url: null,
  image_url: null,
  timestamp_seconds: null,
  draft: false,
  archived: false,
});

const untilHandedOver = (outside: Outside, id: string): Promise<void> =>
  untilSo({ what: `the broker holds the facts of ${id}`, state: () => [waitingIn(outside)] }, async () => {
    const told = await outside.stated.bubbles.findOne({ _id: id });
    return (told?.outbox.length ?? 0) === 0;
  });

const countEvents = async (
  { stated }: Outside,
  { commentIds, removedIds }: Pick<StatedFacts, 'commentIds' | 'removedIds'>,
): Promise<number> => {
  const bubbles = await stated.bubbles.find({});
  const ofBubbles = bubbles.flatMap(({ revisions }) => Object.values(revisions)).reduce((sum, revision) => sum + revision, 0);
  return ofBubbles + removedIds.length + commentIds.length * EVENTS_OF_COMMENT;
};

/** Resolves when everything that was stated has arrived, with the milliseconds it took. */
export const awaitFacts = async (outside: Outside, model: ReadModel, { bubbleIds, commentIds }: StatedFacts): Promise<number> => {
  const began = performance.now();
  for (;;) {
    const late = [...(await missingOf(bubbleIds, (ids) => model.missing(ids, outside.stated)))];
    for (const one of await missingOf(commentIds, (ids) => model.missingComments(ids, outside.stated))) late.push(one);
    if (late.length === 0) return performance.now() - began;
    if (performance.now() - began > ARRIVAL_LIMIT_MS)
      throw new Error(`${late.length} not there: ${late.slice(0, 5).join(', ')}; ${await waitingIn(outside)}`);
    await pause(SLOW_LOOK_MS);
  }
};

const ARRIVAL_LIMIT_MS = scaled({ short: 2 * 60_000, long: 10 * 60_000 });
const SLOW_LOOK_MS = 250;
const IDS_PER_LOOK = 200;

/** What never left the pipeline. */
const waitingIn = async ({ stated }: Outside): Promise<string> => {
  const counts = await Promise.all(
    Object.entries(stated).map(async ([name, docs]) => `${name} ${await docs.count({ outboxAt: { $exists: true } })}`),
  );
  return `in outboxes: ${counts.join(', ')}`;
};

type Look = (ids: readonly string[]) => Promise<readonly string[]>;

const missingOf = async (ids: readonly string[], look: Look): Promise<string[]> => {
  const late: string[] = [];
  for (let from = 0; from < ids.length && late.length === 0; from += IDS_PER_LOOK)
    for (const one of await seen(ids.slice(from, from + IDS_PER_LOOK), look)) late.push(one);
  return late;
};

/** A store that is busy with what arrives has no answer in time for who looks on either: nothing is seen then. */
const seen = async (ids: readonly string[], look: Look): Promise<readonly string[]> => {
  try {
    return await look(ids);
  } catch (error) {
    if (!isDomainError(error) || error.kind !== 'unavailable') throw error;
    return ids;
  }
};
