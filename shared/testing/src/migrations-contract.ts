import { randomUUID } from 'node:crypto';
import type { Collection, Database, Doc, IndexSpec } from '@bubbles/store/collection.ts';
import type { Migration } from '@bubbles/store/migration-step.ts';
import { openMigrations } from '@bubbles/store/migrations.ts';
import { describe, expect, it } from '@jest/globals';
import { type FakeClock, fakeClock } from './fake-clock.ts';
import { fakeIds } from './fake-ids.ts';
import { memoryLog } from './memory-log.ts';
import { mortalDatabase } from './mortal-database.ts';

interface Thing extends Doc {
  readonly n: number;
  /** By the step; absent before it. */
  readonly doubled?: number;
  readonly times?: number;
}

const THINGS = 7;
/** A store that is shared by tests, seen by one of them alone. */
const ownDatabase = (database: Database): Database => {
  const prefix = `m${randomUUID().slice(0, 8)}`;
  return { ...database, collection: <T extends Doc>(name: string): Collection<T> => database.collection<T>(`${prefix}_${name}`) };
};

const double: Migration = {
  number: 1,
  name: 'double',
  phase: 'expand',
  batch: async ({ database }, position) => {
    const things = database.collection<Thing>('things');
    const page = await things.find(position === null ? {} : { _id: { $gt: position } }, { sort: { _id: 1 }, limit: 2 });
    await things.updateEach(page.map(({ _id, n }) => ({ filter: { _id }, update: { $set: { doubled: n * 2 }, $inc: { times: 1 } } })));
    return page.at(-1)?._id ?? null;
  },
};
const LARGE: IndexSpec = { name: 'n', keys: { n: 1 } };
const index: Migration = { number: 2, name: 'index_n', phase: 'expand', collection: 'things', indexes: [LARGE], dropped: [] };
const drop: Migration = { number: 3, name: 'drop_n', phase: 'contract', collection: 'things', indexes: [], dropped: ['n'] };
const STEPS = [double, index, drop];

const NEVER = new AbortController().signal;
const BEFORE = { contract: false, stopping: NEVER };
const AFTER = { contract: true, stopping: NEVER };
/** Longer than the lease of a job that died. */
const LEASE_ENDED_MS = 16_000;

const world = async (shared: Database) => {
  const database = ownDatabase(shared);
  const things = database.collection<Thing>('things');
  await things.insertEach(Array.from({ length: THINGS }, (_, n) => ({ _id: `thing-${n}`, n })));
  const clock = fakeClock();
  const log = memoryLog();
  const job = (steps: readonly Migration[] = STEPS, seen: Database = database, by: FakeClock = clock) =>
    openMigrations({ database: seen, service: 'sample', steps, clock: by, ids: { ...fakeIds(), uuid: randomUUID }, log });
  const all = () => things.find({}, { sort: { _id: 1 } });
  return { database, things, clock, log, job, all };
};
const DOUBLED = Array.from({ length: THINGS }, (_, n) => n * 2);
const doubledOf = (things: readonly Thing[]) => things.map(({ doubled }) => doubled);

/** Contract of migration steps, for any number of jobs and any crash. */
export const describeMigrations = (engine: string, make: () => Database): void =>
  describe(`migrations on ${engine}`, () => {
    it('run once, batch by batch, and leave what contracts until it is said that nobody of before is there', async () => {
      const { job, all, log } = await world(make());
      expect(await job().run(BEFORE)).toBe(true);
      const things = await all();
      expect([doubledOf(things), things.map(({ times }) => times)]).toEqual([DOUBLED, Array(THINGS).fill(1)]);
      const [first, second, third] = await job().status();
      expect(first?.record).toMatchObject({ number: 1, name: 'double', position: 'thing-6', batches: 5, finishedAt: expect.any(Date) });
      expect([second?.record?.finishedAt, third?.record]).toEqual([expect.any(Date), null]);
      expect(await job().run(AFTER)).toBe(true);
      expect(await Promise.all([1, 2, 3].map(job().hasRun))).toEqual([true, true, true]);
      const done = log.lines.filter(({ message }) => message === 'step is done');
      expect(done.map(({ fields }) => fields['step'])).toEqual([1, 2, 3]);
    });

    it('that are stopped go on where they were', async () => {
      const { job, all, database } = await world(make());
      const stopping = new AbortController();
      let batches = 0;
      const stopped: Migration = {
        ...double,
        batch: async (context, position) => {
          batches += 1;
          if (batches === 2) stopping.abort();
          return await double.batch(context, position);
        },
      };
      expect(await job([stopped]).run({ contract: false, stopping: stopping.signal })).toBe(false);
      expect((await all()).map(({ times }) => times)).toEqual([1, 1, 1, 1, undefined, undefined, undefined]);
      expect(await job([stopped]).run(BEFORE)).toBe(true);
      expect((await all()).map(({ times }) => times)).toEqual(Array(THINGS).fill(1));
      expect(await database.collection('migrations').count({})).toBe(1);
    });

    it('of a job that dies between any two calls of the store are done by the next job', async () => {
      let died = 0;
      for (let step = 1; ; step += 1) {
        const { database, clock, job, all } = await world(make());
        const mortal = mortalDatabase(database);
        mortal.dieAt(step);
        const outcome = await job(STEPS, mortal).run(AFTER).catch(String);
        if (!mortal.isDead()) {
          expect(outcome).toBe(true);
          break;
        }
        died += 1;
        await clock.advance(LEASE_ENDED_MS);
        expect(await job().run(AFTER)).toBe(true);
        expect([step, doubledOf(await all())]).toEqual([step, DOUBLED]);
        expect(await job().hasRun(3)).toBe(true);
      }
      expect(died).toBeGreaterThan(30);
    });

    it('of four jobs at once are done by one of them', async () => {
      const { job, all } = await world(make());
      expect(await Promise.all([1, 2, 3, 4].map(() => job().run(AFTER)))).toEqual([true, true, true, true]);
      expect((await all()).map(({ times }) => times)).toEqual(Array(THINGS).fill(1));
    });

    it('are left by a job that stood still for longer than its lease to the one that took over', async () => {
      const { job, all, clock, log } = await world(make());
      const reached = Promise.withResolvers<void>();
      const released = Promise.withResolvers<void>();
      let isFirst = true;
      const stalling: Migration = {
        ...double,
        batch: async (context, position) => {
          if (position !== null && isFirst) {
            isFirst = false;
            reached.resolve();
            await released.promise;
          }
          return await double.batch(context, position);
        },
      };
      // A clock of its own, on which its lease is never renewed.
      const slow = job([stalling], undefined, fakeClock()).run(BEFORE);
      await reached.promise;
      await clock.advance(LEASE_ENDED_MS);
      expect(await job([stalling]).run(BEFORE)).toBe(true);
      released.resolve();
      expect(await slow).toBe(true);
      expect(doubledOf(await all())).toEqual(DOUBLED);
      expect(log.lines.map(({ message }) => message)).toContain('another job has taken over');
    });

    it('that ran are refused with another definition, and nothing is changed', async () => {
      const { job, all } = await world(make());
      await job([double]).run(BEFORE);
      const other: Migration = { ...double, batch: () => Promise.resolve(null) };
      const faults = /^step 1 \(double\) of sample has run as another one \(double, checksum [0-9a-f]{16}, now [0-9a-f]{16}\)/;
      for (const refused of [job([other]).run(BEFORE), job([other]).check(), job([other]).status()])
        await expect(refused).rejects.toMatchObject({ name: 'StartupError', message: expect.stringMatching(faults) });
      await expect(job([{ ...double, name: 'renamed' }]).check()).rejects.toMatchObject({ name: 'StartupError' });
      expect(doubledOf(await all())).toEqual(DOUBLED);
    });

    it('of a newer release are named and left alone, and keep an older one out once they have removed something', async () => {
      const { job, log } = await world(make());
      await job().run(BEFORE);
      expect(await job([double]).run(AFTER)).toBe(true);
      await job([double]).check();
      expect(log.lines.find(({ level }) => level === 'warn')?.fields).toMatchObject({ newer: ['step 2 (index_n)'] });
      expect((await job([double]).status()).map(({ migration }) => migration === null)).toEqual([false, true]);
      await job().run(AFTER);
      for (const refused of [() => job([double]).run(BEFORE), () => job([double]).check()])
        await expect(refused()).rejects.toMatchObject({
          name: 'StartupError',
          message: expect.stringContaining('the database of sample is of a newer release: its step 3 (drop_n) has removed'),
        });
    });

    it('keep a process from starting until what expands is done', async () => {
      const { job } = await world(make());
      const waits = { name: 'DomainError', kind: 'unavailable', message: expect.stringContaining('step 1 (double) of sample') };
      await expect(job().check()).rejects.toMatchObject(waits);
      expect(await job().hasRun(1)).toBe(false);
      await job().run(BEFORE);
      await expect(job().check()).resolves.toBeUndefined();
    });

    it('make the indexes that are theirs, which a start leaves alone', async () => {
      const { job, database } = await world(make());
      const unique: IndexSpec = { name: 'n', keys: { n: 1 }, unique: true };
      const small: IndexSpec = { name: 'small', keys: { n: 1, doubled: 1 }, unique: true };
      const owner = job([{ number: 1, name: 'index', phase: 'expand', collection: 'things', indexes: [unique], dropped: [] }]);
      const seenByStores = owner.database.collection<Thing>('things');
      await seenByStores.ensureIndexes([unique, small]);
      const insert = (id: string) => database.collection<Thing>('things').insert({ _id: id, n: 0, doubled: 1 });
      expect([await insert('a'), await insert('b')]).toEqual([true, false]);
      await database.collection<Thing>('things').deleteOne({ _id: 'a' });
      await owner.run(BEFORE);
      expect(await insert('a')).toBe(false);
    });

    it('have numbers from 1 without a gap', async () => {
      const { job } = await world(make());
      for (const steps of [[index], [double, drop], [double, double]])
        expect(() => job(steps)).toThrow(/step \d \(\w+\) is out of order: steps are numbered from 1 without a gap/);
    });
  });
