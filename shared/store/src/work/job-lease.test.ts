import { openEmbedded } from '@bubbles/store-embedded/open-embedded.ts';
import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { memoryLog } from '@bubbles/testing/memory-log.ts';
import { describe, expect, it } from '@jest/globals';
import { jobLease, type LeaseDoc } from './run-jobs.ts';

const HOUR_MS = 3_600_000;

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
