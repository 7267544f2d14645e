import { type EmbeddedStore, openEmbedded } from '@bubbles/store-embedded/open-embedded.ts';
import { type FakeClock, fakeClock } from '@bubbles/testing/fake-clock.ts';
import { fakeIds } from '@bubbles/testing/fake-ids.ts';
import { type MemoryLog, memoryLog } from '@bubbles/testing/memory-log.ts';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Database } from '../collection.ts';
import { jobLease, type LeaseDoc, lastSuccesses, releaseJobs, runJobs } from './run-jobs.ts';

const HOUR_MS = 3_600_000;

describe('runJobs', () => {
  let store: EmbeddedStore;
  let database: Database;
  let clock: FakeClock;
  let log: MemoryLog;
  let ended: unknown[];
  beforeEach(() => {
    ended = [];
    store = openEmbedded({ path: ':memory:', log: memoryLog() });
    database = store.database('test');
    clock = fakeClock();
    log = memoryLog();
  });
  afterEach(() => store.close());

  const start = (run: () => Promise<void>, replica = 'one', cron = '0 * * * *') => {
    const jobs = [{ name: 'sweep', cron, run }];
    return runJobs({ jobs, database, clock, ids: fakeIds(replica), log, metrics: { ended: (...run) => void ended.push(run) } });
  };

  it('runs a job at each of its times, and not before', async () => {
    const ran: string[] = [];
    const jobs = start(() => {
      ran.push(clock.now().toISOString());
      return Promise.resolve();
    });
    await clock.advance(HOUR_MS - 1);
    expect(ran).toEqual([]);
    await clock.advance(1);
    await jobs.idle();
    await clock.advance(HOUR_MS);
    await jobs.idle();
    expect(ran).toEqual(['2026-01-01T01:00:00.000Z', '2026-01-01T02:00:00.000Z']);
    await jobs.stop();
  });

  it('a job whose times were passed runs once', async () => {
    let runs = 0;
    const jobs = start(() => {
      runs += 1;
      return Promise.resolve();
    });
    await clock.advance(30 * HOUR_MS);
    await jobs.idle();
    expect(runs).toBe(1);
    await jobs.stop();
  });

  it('one of three replicas runs it at each time', async () => {
    const ran: string[] = [];
    const replicas = ['one', 'two', 'three'].map((name) =>
      start(() => {
        ran.push(name);
        return Promise.resolve();
      }, name),
    );
    for (let hour = 0; hour < 3; hour += 1) {
      await clock.advance(HOUR_MS);
      await Promise.all(replicas.map((jobs) => jobs.idle()));
    }
    expect(ran).toHaveLength(3);
    await Promise.all(replicas.map((jobs) => jobs.stop()));
  });

  it('[F22] its times are those of the expression in UTC, also when clocks elsewhere are put forward, and none comes after stop', async () => {
    await clock.set(new Date('2026-03-29T00:58:30.000Z'));
    const ran: string[] = [];
    const note = () => {
      ran.push(clock.now().toISOString());
      return Promise.resolve();
    };
    const jobs = start(note, 'one', '*/30 * * * *');
    for (let minute = 0; minute < 120; minute += 1) await clock.advance(30_000);
    await jobs.idle();
    expect(ran).toEqual(['2026-03-29T01:00:00.000Z', '2026-03-29T01:30:00.000Z']);
    await jobs.stop();
    await clock.advance(HOUR_MS);
    expect(ran).toHaveLength(2);
  });

  it('a job never runs twice at once', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    let begun = 0;
    const slow = () => {
      begun += 1;
      return promise;
    };
    const jobs = start(slow, 'one', '* * * * *');
    for (let minute = 0; minute < 5; minute += 1) await clock.advance(60_000);
    expect(begun).toBe(1);
    resolve();
    await jobs.stop();
  });

  it('what last succeeded is told by the store, of a job that never has since when it was due', async () => {
    const lastSuccess = async () => (await lastSuccesses(database, [{ name: 'sweep' }])).get('sweep')?.toISOString();
    let isAway = true;
    const jobs = start(() => (isAway ? Promise.reject(new Error('a fault')) : Promise.resolve()));
    expect(await lastSuccess()).toBeUndefined();
    for (let hour = 0; hour < 2; hour += 1) await clock.advance(HOUR_MS);
    await jobs.idle();
    expect(await lastSuccess()).toBe('2026-01-01T01:00:00.000Z');
    isAway = false;
    await clock.advance(HOUR_MS);
    await jobs.idle();
    expect(await lastSuccess()).toBe('2026-01-01T03:00:00.000Z');
    isAway = true;
    await clock.advance(HOUR_MS);
    await jobs.idle();
    expect(await lastSuccess()).toBe('2026-01-01T03:00:00.000Z');
    expect(ended.map((run) => [run].flat()[1])).toEqual(['failed', 'failed', 'succeeded', 'failed']);
    await jobs.stop();
  });

  it.each(['61 * * * *', '0 0 31 2 *'])('refuses the expression %s at once', (cron) => {
    expect(() => start(() => Promise.resolve(), 'one', cron)).toThrow(/cron/);
  });

  it('a job that throws is logged and comes again', async () => {
    let runs = 0;
    const jobs = start(() => {
      runs += 1;
      return Promise.reject(new Error('a fault'));
    });
    await clock.advance(HOUR_MS);
    await jobs.idle();
    await clock.advance(HOUR_MS);
    await jobs.idle();
    expect(runs).toBe(2);
    expect(log.lines.filter((line) => line.level === 'error')).toHaveLength(2);
    expect(ended).toEqual([
      ['sweep', 'failed', 0],
      ['sweep', 'failed', 0],
    ]);
    await jobs.stop();
  });

  it('stop waits for the job in progress', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    let over = false;
    const jobs = start(async () => {
      await promise;
      over = true;
    });
    await clock.advance(HOUR_MS);
    const stopping = jobs.stop();
    resolve();
    await stopping;
    expect(over).toBe(true);
  });

  it('what a process that is gone had leased is taken over at once when asked for', async () => {
    const leases = database.collection<LeaseDoc>('leases');
    const gone = jobLease({ leases, job: 'sweep', by: 'gone', clock, log });
    await clock.advance(HOUR_MS - 1_000);
    expect(await gone.acquire(clock.now())).toBe(true);
    let runs = 0;
    const count = () => {
      runs += 1;
      return Promise.resolve();
    };
    const patient = start(count, 'patient');
    await clock.advance(1_000);
    await patient.idle();
    expect(runs).toBe(0);
    await patient.stop();
    await releaseJobs(database, clock.now());
    const sole = start(count, 'sole');
    await clock.advance(HOUR_MS);
    await sole.idle();
    expect(runs).toBe(1);
    await sole.stop();
  });
});

describe('jobLease', () => {
  it('is kept while the work runs, however long, and free afterwards; of a replica that died it ends by the clock', async () => {
    const store = openEmbedded({ path: ':memory:', log: memoryLog() });
    const leases = store.database('test').collection<LeaseDoc>('leases');
    const clock = fakeClock();
    const lease = (by: string) => jobLease({ leases, job: 'sweep', by, clock, log: memoryLog() });
    const at = () => clock.now();

    expect(await lease('one').acquire(at())).toBe(true);
    const { promise, resolve } = Promise.withResolvers<void>();
    const holding = lease('one').hold(() => promise);
    for (let minute = 0; minute < 10; minute += 1) {
      for (let part = 0; part < 3; part += 1) await clock.advance(20_000);
      expect(await lease('two').acquire(at())).toBe(false);
    }
    resolve();
    await holding;
    expect(await lease('two').acquire(at())).toBe(true);
    expect(await lease('one').acquire(at())).toBe(false);
    await clock.advance(59_999);
    expect(await lease('one').acquire(at())).toBe(false);
    await clock.advance(1);
    expect(await lease('one').acquire(at())).toBe(true);
    await store.close();
  });

  it('a renewal that fails is tried again, and the work goes on', async () => {
    const store = openEmbedded({ path: ':memory:', log: memoryLog() });
    const leases = store.database('test').collection<LeaseDoc>('leases');
    const clock = fakeClock();
    const log = memoryLog();
    let away = false;
    const flaky = {
      ...leases,
      updateOne: (...args: Parameters<typeof leases.updateOne>) => (away ? Promise.reject(new Error('away')) : leases.updateOne(...args)),
    };
    const lease = jobLease({ leases: flaky, job: 'sweep', by: 'one', clock, log });
    expect(await lease.acquire(clock.now())).toBe(true);
    const { promise, resolve } = Promise.withResolvers<void>();
    const holding = lease.hold(() => promise);
    away = true;
    await clock.advance(20_000);
    away = false;
    await clock.advance(20_000);
    expect((await leases.findOne({ _id: 'sweep' }))?.until).toEqual(new Date(clock.now().getTime() + 60_000));
    expect(log.lines).toHaveLength(1);
    resolve();
    await holding;
    await store.close();
  });

  it('is given once for each time of the job', async () => {
    const store = openEmbedded({ path: ':memory:', log: memoryLog() });
    const leases = store.database('test').collection<LeaseDoc>('leases');
    const clock = fakeClock();
    const lease = (by: string) => jobLease({ leases, job: 'sweep', by, clock, log: memoryLog() });
    const at = clock.now();
    expect(await lease('one').acquire(at)).toBe(true);
    await lease('one').hold(() => Promise.resolve());
    expect(await lease('two').acquire(at)).toBe(false);
    expect(await lease('two').acquire(new Date(at.getTime() + 60_000))).toBe(true);
    await store.close();
  });

  it('is given again after a clock that was ahead has been set right, and not over the few seconds by which clocks differ', async () => {
    const store = openEmbedded({ path: ':memory:', log: memoryLog() });
    const leases = store.database('test').collection<LeaseDoc>('leases');
    const clock = fakeClock();
    const lease = (by: string) => jobLease({ leases, job: 'sweep', by, clock, log: memoryLog() });
    const rightAt = clock.now();
    await clock.set(new Date(rightAt.getTime() + 24 * HOUR_MS));
    expect(await lease('one').acquire(clock.now())).toBe(true);
    await lease('one').hold(() => Promise.resolve());
    await clock.set(rightAt);
    expect(await lease('two').acquire(rightAt)).toBe(true);
    await lease('two').hold(() => Promise.resolve());
    await clock.set(new Date(rightAt.getTime() - 5000));
    expect(await lease('one').acquire(clock.now())).toBe(false);
    await store.close();
  });

  describe('of a store that says no more what became of a write', () => {
    const faltering = () => {
      const store = openEmbedded({ path: ':memory:', log: memoryLog() });
      const leases = store.database('test').collection<LeaseDoc>('leases');
      let lost: 'request' | 'answer' | null = null;
      const updateOne: typeof leases.updateOne = async (...args) => {
        const how = lost;
        lost = null;
        const outcome = how === 'request' ? null : await leases.updateOne(...args);
        if (how !== null || outcome === null) throw new Error('away');
        return outcome;
      };
      return {
        leases: { ...leases, updateOne },
        lose: (what: 'request' | 'answer') => {
          lost = what;
        },
      };
    };

    it('is held when it was taken all the same, and not when it was not', async () => {
      const { leases, lose } = faltering();
      const clock = fakeClock();
      const lease = (by: string) => jobLease({ leases, job: 'sweep', by, clock, log: memoryLog() });
      lose('request');
      await expect(lease('one').acquire(clock.now())).rejects.toThrow('away');
      lose('answer');
      expect(await lease('one').acquire(clock.now())).toBe(true);
      lose('answer');
      await expect(lease('two').acquire(clock.now())).rejects.toThrow('away');
    });

    it('ends by the clock when it could not be given back, and the job has run', async () => {
      const { leases, lose } = faltering();
      const clock = fakeClock();
      const log = memoryLog();
      const lease = jobLease({ leases, job: 'sweep', by: 'one', clock, log });
      expect(await lease.acquire(clock.now())).toBe(true);
      lose('request');
      await lease.hold(() => Promise.resolve());
      expect(log.lines.map(({ level }) => level)).toEqual(['warn']);
      await clock.advance(60_000);
      expect(await lease.acquire(clock.now())).toBe(true);
      lose('request');
      await expect(lease.hold(() => Promise.reject(new Error('a fault')))).rejects.toThrow('a fault');
    });
  });
});
