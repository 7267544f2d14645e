import { describe, expect, it } from '@jest/globals';
import { bubbleIdOf } from '../src/domain/join.ts';
import { ask, dieEverywhere, tell } from './dying.ts';

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
