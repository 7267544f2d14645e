import type { Database } from '@bubbles/store/collection.ts';
import { crashPoints } from '@bubbles/testing/crash-points.ts';
import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { recordingBus } from '@bubbles/testing/recording-bus.ts';
import { watchedWorld } from '@bubbles/testing/watched-world.ts';
import { describe, expect, it } from '@jest/globals';
import type { CardDoc } from '../src/adapters/store/cards.ts';
import { readyOn, startBubbles, type TestBubbles } from './bubbles-query.ts';
import { account, BUBBLE, changed, created, edited, posted, readyFacts, removed, type Told, threaded, transcribed } from './builders.ts';

const LEASES_OVER_MS = 60_000;
/** More than any of the flows has. */
const MOST_STEPS = 200;
const PATHS = [
  '/v1/bubbles',
  '/v1/bubbles/search?q=weekly',
  ...['', '/transcript', '/comments'].map((below) => `/v1/bubbles/${BUBBLE}${below}`),
];

const shown = async ({ read }: TestBubbles) => {
  const answers: string[] = [];
  for (const path of PATHS) answers.push((await read('ada', path)).text);
  return answers;
};
const left = async (database: Database) => {
  const of = async (name: string) => (await database.collection<{ readonly _id: string }>(name).find({})).map(({ _id }) => _id);
  return { transcripts: await of('transcripts'), comments: await of('comments'), threads: await of('threads') };
};

/** The card of the one bubble there is. */
const cardIn = async (database: Database) => {
  const card = await database.collection<CardDoc>('bubble_cards').findOne({ _id: BUBBLE });
  return card && { readers: card.readers, ever: card.ever, title: card.title, notes: card.notes, isKept: card.removedAt === undefined };
};

interface Flow {
  readonly before: readonly Told[];
  readonly told: readonly Told[];
}

/** A process that dies at step `dieAt` takes in what is told; what it had not acknowledged is told again to the one that lives on. */
const run = async ({ before, told }: Flow, dieAt: number) => {
  const database = memoryDatabase();
  const survivor = await startBubbles({ database });
  await survivor.tell(...before);
  await survivor.service.settle();

  const world = watchedWorld();
  const bus = recordingBus();
  const doomed = await startBubbles({
    database: world.database(database),
    bus: world.port(bus, ['publish']),
    clock: survivor.clock,
  });
  await doomed.service.settle();
  const crash = crashPoints(dieAt);
  world.watchBy(crash);
  const unacknowledged: Told[] = [];
  for (const one of told) await doomed.tell(one).catch(() => unacknowledged.push(one));
  await doomed.service.settle();
  await doomed.stop();

  const meanwhile = await shown(survivor);
  await survivor.clock.advance(LEASES_OVER_MS);
  await survivor.tell(...unacknowledged);
  await survivor.service.settle();
  const outcome = { seen: await shown(survivor), left: await left(database), card: await cardIn(database) };
  await survivor.stop();
  return { outcome, meanwhile, ready: [...readyOn(survivor.bus), ...readyOn(bus)], died: crash.steps() >= dieAt };
};

/** Runs the flow again and again in new worlds, dying one step later each time, until it gets through; answers how many deaths there were. */
const dieEverywhere = async (flow: Flow, judge: (world: Awaited<ReturnType<typeof run>>) => void) => {
  const { outcome } = await run(flow, Number.POSITIVE_INFINITY);
  for (let dieAt = 1; dieAt < MOST_STEPS; dieAt += 1) {
    const world = await run(flow, dieAt);
    expect([dieAt, world.outcome]).toEqual([dieAt, outcome]);
    judge(world);
    if (!world.died) return dieAt - 1;
  }
  throw new Error('the flow never got through');
};

describe('dying between any two steps of the store or the broker', () => {
  it('[EVT-01] facts: nothing is lost, and the bubble is told ready once', async () => {
    const deaths = await dieEverywhere({ before: [account()], told: readyFacts() }, ({ meanwhile, ready }) => {
      const [, , bubble, transcript] = meanwhile.map((text) => JSON.parse(text));
      if (bubble.has_transcript) expect(transcript.segments).toHaveLength(1);
      // A relay that dies before it could clear its outbox tells the same event again: the same id, which fan-out knows.
      expect(new Set(ready.map(({ id }) => id))).toEqual(new Set([`ready-${BUBBLE}`]));
      expect(new Set(ready.map(({ data }) => JSON.stringify(data)))).toHaveProperty('size', 1);
      expect(ready.length).toBeLessThanOrEqual(2);
    });
    expect(deaths).toBeGreaterThan(20);
  });

  it('[EVT-01] facts of a bubble that is ready already: not told again', async () => {
    const flow = { before: readyFacts(), told: [changed({ title: 'Renamed' }), transcribed({ revision: 2, segments: [] })] };
    const deaths = await dieEverywhere(flow, ({ ready }) => expect(ready).toHaveLength(1));
    expect(deaths).toBeGreaterThan(5);
  });

  it('[COM-03] comments and threads: shown and counted alike', async () => {
    const told = [
      posted(),
      threaded(),
      edited(),
      posted({ comment_id: 'comment-2', thread_id: 'thread-2' }),
      threaded({ thread_id: 'thread-2' }),
      threaded({ revision: 1, archived: true }),
    ];
    const deaths = await dieEverywhere({ before: [created()], told }, ({ outcome }) => {
      const [, , bubble, , comments] = outcome.seen.map((text) => JSON.parse(text));
      expect([bubble.comment_count, comments.data.length]).toEqual([1, 1]);
    });
    expect(deaths).toBeGreaterThan(30);
  });

  it('[BUB-03] removal: a tombstone, and nothing beside it', async () => {
    const before = [...readyFacts(), threaded(), posted()];
    const deaths = await dieEverywhere({ before, told: [removed()] }, ({ outcome }) => {
      expect(outcome.left).toEqual({ transcripts: [], comments: [], threads: [] });
      expect(outcome.card).toEqual({ readers: [], ever: ['ada'], title: '', notes: '', isKept: false });
    });
    expect(deaths).toBeGreaterThan(5);
  });

  it('[BUB-03] what comes for a removed bubble leaves nothing behind', async () => {
    const told = [transcribed({ revision: 9 }), posted({ comment_id: 'late' }), threaded({ revision: 9 })];
    const deaths = await dieEverywhere({ before: [created(), removed()], told }, ({ outcome }) => {
      expect(outcome.left).toEqual({ transcripts: [], comments: [], threads: [] });
    });
    expect(deaths).toBeGreaterThan(10);
  });
});
