import { setImmediate } from 'node:timers/promises';
import { failEverywhere, falteringWorld } from '@bubbles/testing/faltering-world.ts';
import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { type MortalDatabase, mortalDatabase } from '@bubbles/testing/mortal-database.ts';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type CalendarWorld, fakeAccounts, startCalendarWorld } from './calendar-world.ts';
import { type FakeProvider, startFakeProvider } from './fake-calendar-provider.ts';

const LEASE_SECONDS = 60;
/** More than the flow has. */
const MOST_STEPS = 50;

let provider: FakeProvider;
const running: CalendarWorld[] = [];
beforeEach(async () => {
  provider = await startFakeProvider();
});
afterEach(async () => {
  for (const one of running.splice(0)) await one.stop();
  await provider.stop();
});

/** Until the work is done, or the process is dead. */
const workedOff = async (database: MortalDatabase, work: () => Promise<unknown>): Promise<void> => {
  let ended = false;
  const done = Promise.allSettled([work()]).then(() => {
    ended = true;
  });
  while (!ended && !database.isDead()) await setImmediate();
  if (!database.isDead()) await done;
};

interface Flow {
  readonly before?: (world: CalendarWorld) => Promise<void>;
  /** What the doomed one does, each time one step shorter of its end. */
  readonly work: (doomed: CalendarWorld) => Promise<unknown>;
  readonly judge: (survivor: CalendarWorld) => Promise<void>;
}

/** Runs the flow again and again on new stores, dying one step later each time, until it gets through; answers how many deaths there were. */
const dieEverywhere = async ({ before, work, judge }: Flow): Promise<number> => {
  for (let step = 1; step < MOST_STEPS; step += 1) {
    const data = memoryDatabase();
    const database = mortalDatabase(data);
    const accounts = fakeAccounts();
    const doomed = await startCalendarWorld(provider, { database, accounts });
    await before?.(doomed);
    database.dieAt(step);
    await workedOff(database, () => work(doomed));
    const died = database.isDead();
    const gone = doomed.stop();
    const survivor = await startCalendarWorld(provider, { database: data, clock: doomed.clock, accounts });
    running.push(survivor);
    await survivor.pass(LEASE_SECONDS);
    await gone;
    await judge(survivor);
    await running.pop()?.stop();
    if (!died) return step - 1;
  }
  throw new Error('the flow never got through');
};

const connected = async (world: CalendarWorld): Promise<void> => {
  await world.connect(world.linksOf().google);
  await world.settle();
};

describe('dying between any two steps of the store', () => {
  it('[SIGN-08] of a consent: the link goes on, and ends in one grant', async () => {
    const deaths = await dieEverywhere({
      work: connected,
      async judge(survivor) {
        const { google } = survivor.linksOf();
        expect((await survivor.connect(google)).status).toBe(200);
        await survivor.settle();
        expect(await survivor.grants()).toMatchObject([{ userId: 'ada', isChecked: true, life: 1 }]);
        expect((await survivor.get(google)).text).toContain('is connected');
      },
    });
    expect(deaths).toBeGreaterThan(4);
  });

  it('[SIGN-08] of the end of an account: its grant is revoked and erased', async () => {
    const deaths = await dieEverywhere({
      before: connected,
      async work(doomed) {
        provider.revoked.length = 0;
        await doomed.accountChanges('ada', { state: 'disabled', life: 1 });
      },
      async judge(survivor) {
        // What was not acknowledged is told again.
        await survivor.accountChanges('ada', { state: 'disabled', life: 1 });
        expect([provider.revoked.length, await survivor.grants()]).toEqual([1, []]);
      },
    });
    expect(deaths).toBeGreaterThan(2);
  });

  it('[SIGN-08] of a revocation that fails: it is tried again', async () => {
    const deaths = await dieEverywhere({
      async before(doomed) {
        await connected(doomed);
        provider.revoked.length = 0;
        provider.answerRevocation = (res) => void res.writeHead(503).end();
      },
      work: (doomed) => doomed.accountChanges('ada', { state: 'disabled', life: 1 }),
      async judge(survivor) {
        await survivor.accountChanges('ada', { state: 'disabled', life: 1 });
        expect(await survivor.grants()).toHaveLength(1);
        provider.answerRevocation = null;
        await survivor.pass(600);
        expect([provider.revoked.length, await survivor.grants()]).toEqual([1, []]);
      },
    });
    expect(deaths).toBeGreaterThan(2);
  });
});

describe('a store or identity that is away for one step', () => {
  it('[SIGN-08] of a consent and the end of its account: the browser can go on, and nothing is left', async () => {
    const { database, port, failing } = falteringWorld();
    const accounts = fakeAccounts();
    const world = await startCalendarWorld(provider, {
      database: database(memoryDatabase()),
      accounts: { ...accounts, client: port(accounts.client, ['post']) },
    });
    running.push(world);
    const failures = await failEverywhere(async (step) => {
      const userId = `user-${step}`;
      accounts.accounts.set(userId, { state: 'active', life: 1 });
      const { google } = world.linksOf(userId, `flow-${step}`, world.clock.now());
      const { hasFailed } = await failing(step, async () => {
        // The code of a consent that was cut off is spent: the link begins another one.
        let page = await world.connect(google);
        for (let tries = 0; tries < 3 && page.status !== 200; tries += 1) page = await world.connect(google);
        await world.settle();
        accounts.accounts.set(userId, { state: 'deleted', life: 1 });
        await world.tellOf(userId).catch(() => world.tellOf(userId));
        await world.pass(LEASE_SECONDS / 2);
        await world.pass(LEASE_SECONDS / 2);
      });
      expect([provider.revoked.length, await world.grants()]).toEqual([step, []]);
      return hasFailed;
    });
    expect(failures).toBeGreaterThan(8);
  });
});
