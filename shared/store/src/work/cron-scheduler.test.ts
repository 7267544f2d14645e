import { memoryLog } from '@bubbles/testing/memory-log.ts';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { cronScheduler } from './cron-scheduler.ts';

describe('cronScheduler', () => {
  beforeEach(() => {
    jest.useFakeTimers({ now: new Date('2026-03-29T00:58:30.000Z') });
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('ticks at the minutes of the expression in UTC, also when clocks elsewhere are put forward, and not after stop', async () => {
    const ticks: string[] = [];
    const scheduled = cronScheduler(memoryLog()).schedule({
      name: 'half-hourly',
      cron: '*/30 * * * *',
      tick: (at) => {
        ticks.push(at.toISOString());
        return Promise.resolve();
      },
    });
    await jest.advanceTimersByTimeAsync(3_600_000);
    await scheduled.idle();
    expect(ticks).toEqual(['2026-03-29T01:00:00.000Z', '2026-03-29T01:30:00.000Z']);
    await scheduled.stop();
    await jest.advanceTimersByTimeAsync(3_600_000);
    expect(ticks).toHaveLength(2);
  });

  it('never runs a job twice at once', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    let begun = 0;
    const scheduled = cronScheduler(memoryLog()).schedule({
      name: 'slow',
      cron: '* * * * *',
      tick: () => {
        begun += 1;
        return promise;
      },
    });
    await jest.advanceTimersByTimeAsync(5 * 60_000);
    expect(begun).toBe(1);
    resolve();
    await scheduled.stop();
  });

  it('refuses a wrong expression at once', () => {
    expect(() => cronScheduler(memoryLog()).schedule({ name: 'x', cron: '61 * * * *', tick: () => Promise.resolve() })).toThrow(/cron/);
  });
});
