import type { ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { SubscriptionDoc } from '../src/adapters/store/subscriptions.ts';
import type { TestDispatcher } from './dispatcher.ts';
import { dieEverywhere, endWorlds, LEASE_SECONDS, type World, workedOff, world } from './dying.ts';

afterEach(endWorlds);

/** Whether the bus may forget the message; one that a dead process could not take is still the broker's. */
const told = async (here: World): Promise<boolean> => {
  await here.doomed.ready();
  await workedOff(here);
  return here.doomed.bus.deadLetters().length === 0;
};
const tellAgain = (survivor: TestDispatcher) => survivor.ready();
const kept = async ({ database }: TestDispatcher, { id }: World): Promise<SubscriptionDoc> => {
  const doc = await database.collection<SubscriptionDoc>('subscriptions').findOne({ _id: id });
  if (doc === null) throw new Error('the subscription is gone');
  return doc;
};
/** A crash costs one more POST at most, and it comes under the same id. */
const expectPosts = ({ receiver }: World, least: number) => {
  expect(receiver.received.length).toBeGreaterThanOrEqual(least);
  expect(receiver.received.length).toBeLessThanOrEqual(least + 1);
  expect(new Set(receiver.ids()).size).toBe(1);
};

/** Everything up to the last retry. */
const exhaust = async (survivor: TestDispatcher) => {
  for (const seconds of [60, 120, 240, 480, 60]) await survivor.pass(seconds);
};

describe('dying between any two steps of the store', () => {
  it('[DLV-05] [HOOK-09] of a fan-out and its delivery: it arrives, under one id', async () => {
    const deaths = await dieEverywhere({
      behaviour: 204,
      work: told,
      again: tellAgain,
      async judge(survivor, here) {
        expectPosts(here, 1);
        expect(await survivor.deliveries(here.id)).toMatchObject([{ status: 'succeeded', attempts: [{ outcome: '2xx' }] }]);
        expect((await kept(survivor, here)).lastSuccessAt).not.toBeNull();
      },
    });
    expect(deaths).toBeGreaterThan(14);
  });

  it('[DLV-05] [HOOK-08] of a failed attempt: five are recorded, each counts once', async () => {
    const deaths = await dieEverywhere({
      behaviour: 500,
      work: told,
      again: tellAgain,
      async judge(survivor, here) {
        await exhaust(survivor);
        expectPosts(here, 5);
        const [delivery] = await survivor.deliveries(here.id);
        expect(delivery).toMatchObject({ status: 'exhausted', attempts: { length: 5 } });
        expect(await kept(survivor, here)).toMatchObject({ fails: 5, status: 'active' });
      },
    });
    expect(deaths).toBeGreaterThan(20);
  });

  it('[DLV-05] [HOOK-08] of the 20th failure: it disables all the same', async () => {
    const deaths = await dieEverywhere({
      behaviour: 500,
      async before({ database, id }) {
        await database.collection<SubscriptionDoc>('subscriptions').updateOne({ _id: id }, { $set: { fails: 19 } });
      },
      work: told,
      again: tellAgain,
      async judge(survivor, here) {
        expect(await kept(survivor, here)).toMatchObject({ status: 'disabled', disabledReason: 'delivery_failures' });
        await exhaust(survivor);
        expectPosts(here, 1);
        expect(await survivor.deliveries(here.id)).toMatchObject([{ status: 'cancelled', cancelled_reason: 'subscription_disabled' }]);
      },
    });
    expect(deaths).toBeGreaterThan(20);
  });

  it('[DLV-05] [HOOK-07] of asking for a test: one that was answered arrives', async () => {
    const deaths = await dieEverywhere({
      behaviour: 204,
      async work(here) {
        const { status } = await here.doomed.call('POST', `/${here.id}/test`);
        await workedOff(here);
        return status === 202;
      },
      judge(_survivor, here, done) {
        if (done) expectPosts(here, 1);
        expect(here.receiver.received.length).toBeLessThanOrEqual(2);
        return Promise.resolve();
      },
    });
    expect(deaths).toBeGreaterThan(10);
  });

  it('[DLV-05] of asking for a redelivery: one that was answered arrives', async () => {
    const deaths = await dieEverywhere({
      behaviour: 204,
      async before({ doomed }) {
        await doomed.ready();
        await doomed.settle();
      },
      async work(here) {
        const [delivery] = here.receiver.ids();
        const { status } = await here.doomed.call('POST', `/${here.id}/deliveries/${delivery}/redeliver`);
        await workedOff(here);
        return status === 202;
      },
      async judge(survivor, here, done) {
        expectPosts(here, done ? 2 : 1);
        expect(await survivor.deliveries(here.id)).toMatchObject([{ status: 'succeeded' }]);
      },
    });
    expect(deaths).toBeGreaterThan(10);
  });

  it('[DLV-05] [HOOK-06] of deleting: what answered is gone, what did not is there or gone', async () => {
    const deaths = await dieEverywhere({
      behaviour: 204,
      work: async ({ doomed, id }) => (await doomed.call('DELETE', `/${id}`)).status === 204,
      async judge(survivor, here, done) {
        const before = (await survivor.call('GET', `/${here.id}`)).status;
        if (done) expect(before).toBe(404);
        await survivor.ready();
        await survivor.settle();
        expect(here.receiver.received).toHaveLength(before === 200 ? 1 : 0);
      },
    });
    expect(deaths).toBeGreaterThan(1);
  });
});

describe('dying again and again', () => {
  it('[DLV-05] a claim that is lost three times uses up an attempt, which nobody is charged for', async () => {
    const held: ServerResponse[] = [];
    const here = await world((response) => held.push(response));
    await here.doomed.ready();
    for (let claims = 1; claims <= 3; claims += 1) {
      await here.receiver.reached(claims);
      await here.doomed.clock.set(new Date(here.doomed.clock.now().getTime() + LEASE_SECONDS * 1000));
    }
    const attempts = async () => (await here.doomed.deliveries(here.id))[0].attempts;
    while ((await attempts()).length === 0) await setImmediate();
    expect(await attempts()).toMatchObject([{ number: 1, outcome: 'worker_lost', status: null }]);
    expect((await kept(here.doomed, here)).lastFailureAt).toBeNull();
    here.receiver.answer(204);
    for (const response of held) response.end();
    const survivor = await here.survive();
    expect(await survivor.deliveries(here.id)).toMatchObject([{ status: 'succeeded', attempts: [{ number: 1 }, { number: 2 }] }]);
    expect(here.receiver.received).toHaveLength(4);
    expect(new Set(here.receiver.ids()).size).toBe(1);
  });
});
