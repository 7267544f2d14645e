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
