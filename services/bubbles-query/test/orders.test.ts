import type { Database } from '@bubbles/store/collection.ts';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readyOn, startBubbles, type TestBubbles, tellTo } from './bubbles-query.ts';
import {
  account,
  anOutsider,
  aPerson,
  aSegment,
  BUBBLE,
  changed,
  created,
  day,
  edited,
  noted,
  posted,
  processed,
  removed,
  type Told,
  threaded,
  transcribed,
} from './builders.ts';

const PATHS = [
  '/v1/bubbles',
  '/v1/bubbles/search?q=renamed',
  ...['', '/transcript', '/transcript?format=text', '/comments'].map((below) => `/v1/bubbles/${BUBBLE}${below}`),
];

/** What a caller sees of everything. */
const shown = async ({ read }: TestBubbles) => {
  const answers: unknown[] = [];
  for (const user of ['ada', 'eve']) for (const path of PATHS) answers.push((await read(user, path)).text);
  return answers;
};

/** Every document but for what a run leaves to chance: versions, leases, the epoch of a count. */
const kept = (database: Database) => {
  const of = async (name: string) =>
    (await database.collection<{ readonly _id: string }>(name).find({}, { sort: { _id: 1 } })).map((doc) => ({
      ...doc,
      version: null,
      rev: null,
      seq: null,
      ever: null,
      commentsEpoch: null,
      outboxAt: null,
      relayUntil: null,
      relayBy: null,
    }));
  return Promise.all(['bubbles', 'transcripts', 'comments', 'threads', 'people', 'bubble_cards'].map(of));
};

const outcome = async (told: readonly Told[], concurrently = false) => {
  const bubbles = await startBubbles();
  try {
    if (concurrently) await Promise.all(told.map((one) => tellTo(bubbles.service, [one])));
    else await bubbles.tell(...told);
    await bubbles.service.settle();
    return { seen: await shown(bubbles), kept: await kept(bubbles.database), ready: readyOn(bubbles.bus).map(({ id }) => id) };
  } finally {
    await bubbles.stop();
  }
};

const facts: readonly Told[] = [
  created(),
  changed({ participants: [aPerson(), aPerson({ user_id: 'eve' }), anOutsider()], title: 'Renamed', created_at: day(7) }),
  processed({ is_processed: false }),
  processed({ revision: 2 }),
  transcribed(),
  transcribed({ revision: 2, segments: [aSegment({ text: 'Better heard.' })] }),
  noted(),
  noted({ revision: 2, summary: 'Better.' }),
  threaded(),
  threaded({ revision: 1, pinned: true }),
  posted(),
  edited(),
  posted({ comment_id: 'comment-2', draft: true }),
  edited({ comment_id: 'comment-2' }),
  posted({ comment_id: 'comment-3', thread_id: 'thread-2' }),
  threaded({ thread_id: 'thread-2', archived: true }),
  threaded({ thread_id: 'thread-2', revision: 1 }),
  account(),
  account({ user_id: 'eve', name: 'Eve', email: 'eve@acme.test' }),
  account({ revision: 2, name: 'Ada Lovelace' }),
];

/** Every fact once or up to three times, in any order. */
const deliveries = (of: readonly Told[]) =>
  fc
    .array(fc.nat({ max: of.length - 1 }), { maxLength: of.length })
    .chain((again) => {
      const indices = [...of.keys(), ...again];
      return fc.shuffledSubarray(
        indices.map((index, at) => ({ index, at })),
        { minLength: indices.length, maxLength: indices.length },
      );
    })
    .map((order) => order.flatMap(({ index }) => of[index] ?? []));

describe('[MESSAGING-02] facts in any order, twice and late', () => {
  it('[EVT-01] [BUB-01] [COM-03] [TRN-02] give the same bubble and one ready event', async () => {
    const expected = await outcome(facts);
    expect(expected.ready).toEqual([`ready-${BUBBLE}`]);
    expect(expected.seen.join()).toContain('Ada Lovelace: Better heard.');
    expect(JSON.parse(String(expected.seen[0])).data).toMatchObject([{ title: 'Renamed', comment_count: 3, summary: 'Better.' }]);
    await fc.assert(
      fc.asyncProperty(deliveries(facts), fc.boolean(), async (told, concurrently) => {
        expect(await outcome(told, concurrently)).toEqual(expected);
      }),
      { numRuns: 60 },
    );
  });

  it('[EVT-01] [BUB-03] with the removal among them, a tombstone is all that is left', async () => {
    const withRemoval = [...facts, removed()];
    await fc.assert(
      fc.asyncProperty(deliveries(withRemoval), fc.boolean(), async (told, concurrently) => {
        const { seen, kept: left, ready } = await outcome(told, concurrently);
        const [bubbles, transcripts, comments, threads] = left;
        expect(bubbles).toMatchObject([
          { _id: BUBBLE, removed: true, details: null, media: null, notes: null, transcript: null, row: null },
        ]);
        expect([transcripts, comments, threads]).toEqual([[], [], []]);
        expect(seen.filter((text) => String(text).includes('"error"'))).toHaveLength(8);
        expect(ready.length).toBeLessThanOrEqual(1);
      }),
      { numRuns: 60 },
    );
  });

  it('[EVT-01] every order of the facts that a meeting needs tells it once, with the last of them', async () => {
    const needed = [created(), processed(), transcribed(), noted()];
    const orders = (rest: readonly Told[]): Told[][] =>
      rest.length === 0 ? [[]] : rest.flatMap((one) => orders(rest.filter((other) => other !== one)).map((order) => [one, ...order]));
    for (const order of orders(needed)) {
      const bubbles = await startBubbles();
      await bubbles.tell(...order.slice(0, -1), ...order.slice(0, -1));
      expect(await bubbles.ready()).toEqual([]);
      await bubbles.tell(...order.slice(-1), ...order);
      expect(await bubbles.ready()).toHaveLength(1);
      await bubbles.stop();
    }
  });
});
