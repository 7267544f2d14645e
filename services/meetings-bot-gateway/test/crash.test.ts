import { setImmediate } from 'node:timers/promises';
import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { type MortalDatabase, mortalDatabase } from '@bubbles/testing/mortal-database.ts';
import { afterEach, describe, expect, it } from '@jest/globals';
import { bubbleIdOf } from '../src/domain/join.ts';
import { TEAM } from './builders.ts';
import { fakeIdentity, MEETING, startGateway, type TestGateway } from './gateway.ts';

const LEASE_SECONDS = 60;
/** More than the flow has. */
const MOST_STEPS = 300;

const started: TestGateway[] = [];
afterEach(async () => {
  for (const one of started.splice(0)) await one.stop();
});

/** A team on plan free, so that each join takes a place of both quotas. */
const freeTeam = (): ReturnType<typeof fakeIdentity> => {
  const identity = fakeIdentity();
  identity.teams.set(TEAM, { id: TEAM, known: true, plan: 'free', archived: false, channel_ids: [] });
  return identity;
};

/** Until all that is due is done, or the process is dead. */
const workedOff = async (doomed: TestGateway, database: MortalDatabase): Promise<void> => {
  let ended = false;
  const settled = doomed.settle().then(() => {
    ended = true;
  });
  while (!ended && !database.isDead()) await setImmediate();
  if (!database.isDead()) await settled;
};

const ask = ({ call }: TestGateway) => call('POST', '/v1/meetings/join', MEETING, { idempotencyKey: 'once' });
const tell = ({ call }: TestGateway, id: string, status: string) => call('POST', `/internal/v1/admin/notetakers/${id}`, { status });

interface Flow {
  /** What the doomed one does, each time one step shorter of its end. */
  readonly work: (doomed: TestGateway, settle: () => Promise<void>) => Promise<void>;
  readonly judge: (survivor: TestGateway, told: TestGateway['captured']) => Promise<void>;
}

/** Runs the flow again and again on new stores, dying one step later each time, until it gets through; answers how many deaths there were. */
const dieEverywhere = async ({ work, judge }: Flow): Promise<number> => {
  for (let step = 1; step < MOST_STEPS; step += 1) {
    const data = memoryDatabase();
    const database = mortalDatabase(data);
    const doomed = await startGateway({ database, identity: freeTeam() });
    database.dieAt(step);
    await work(doomed, () => workedOff(doomed, database));
    const died = database.isDead();
    const gone = doomed.stop();
    const survivor = await startGateway({ database: data, clock: doomed.clock, identity: doomed.identity });
    started.push(survivor);
    await survivor.pass(LEASE_SECONDS);
    await gone;
    await survivor.settle();
    await judge(survivor, [...doomed.captured, ...survivor.captured]);
    await started.pop()?.stop();
    if (!died) return step - 1;
  }
  throw new Error('the flow never got through');
};

describe('dying between any two steps of the store', () => {
  it('[MEET-10][MEET-11] of a request and its dispatch: one notetaker is sent, whoever asks again', async () => {
    const deaths = await dieEverywhere({
      async work(doomed, settle) {
        await ask(doomed);
        await settle();
      },
      async judge(survivor) {
        const { status, body } = await ask(survivor);
        await survivor.settle();
        expect(status).toBe(201);
        expect((await survivor.runs()).map(({ join_id }) => join_id)).toEqual([body.id]);
        expect((await survivor.status(body.id)).body.status).toBe('dispatched');
      },
    });
    expect(deaths).toBeGreaterThan(15);
  });

  it('[MEET-09] of a report and the capture: the recording is told, under one id', async () => {
    const deaths = await dieEverywhere({
      async work(doomed, settle) {
        const { body } = await ask(doomed);
        await settle();
        if (body.id === undefined) return;
        await tell(doomed, body.id, 'done');
        await settle();
      },
      async judge(survivor, told) {
        const { body } = await ask(survivor);
        await survivor.settle();
        await tell(survivor, body.id, 'done');
        await survivor.settle();
        expect((await survivor.status(body.id)).body.status).toBe('done');
        const ids = [...told, ...survivor.captured].map(({ bubble_id }) => bubble_id);
        expect(new Set(ids)).toEqual(new Set([bubbleIdOf(body.id)]));
        expect(await survivor.runs()).toHaveLength(1);
      },
    });
    expect(deaths).toBeGreaterThan(30);
  });

  it('[MEET-04] of a request and its end: no place is lost, none is given back twice', async () => {
    const deaths = await dieEverywhere({
      async work(doomed, settle) {
        const { body } = await ask(doomed);
        await settle();
        if (body.id === undefined) return;
        await tell(doomed, body.id, 'fatal');
        await settle();
      },
      async judge(survivor) {
        const first = await ask(survivor);
        await survivor.settle();
        await tell(survivor, first.body.id, 'fatal');
        await survivor.settle();
        // Beyond the age at which a reservation without a join is given back.
        await survivor.pass(400);
        await survivor.runJob('sweep-quotas');
        const statuses: number[] = [];
        for (let n = 0; n < 6; n += 1) {
          const meeting_url = `https://meet.google.com/aaa-aaaa-aa${String.fromCharCode(97 + n)}`;
          statuses.push((await survivor.join({ meeting_url })).status);
        }
        expect(statuses).toEqual([201, 201, 201, 201, 201, 429]);
      },
    });
    expect(deaths).toBeGreaterThan(30);
  });
});
