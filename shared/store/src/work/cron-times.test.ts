import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createTask } from 'node-cron';
import { cronTimes, longestIntervalMs } from './cron-times.ts';

const next = (cron: string, after: string) => cronTimes(cron)(new Date(after)).toISOString();

describe('cronTimes', () => {
  it.each([
    ['*/15 * * * *', '2026-01-01T00:00:00.000Z', '2026-01-01T00:15:00.000Z'],
    ['30 2 * * *', '2026-03-28T02:30:00.000Z', '2026-03-29T02:30:00.000Z'],
    ['0 0 1 * *', '2026-12-05T10:00:00.000Z', '2027-01-01T00:00:00.000Z'],
    ['0 12 * * 1', '2026-01-01T00:00:00.000Z', '2026-01-05T12:00:00.000Z'],
    ['0 0 29 2 *', '2026-01-01T00:00:00.000Z', '2028-02-29T00:00:00.000Z'],
  ])('%s after %s is %s', (cron, after, expected) => {
    expect(next(cron, after)).toBe(expected);
  });

  it.each(['* * * * * *', '0 0 31 2 *', 'every day', '0 0 L * *'])('refuses %s', (cron) => {
    expect(() => next(cron, '2026-01-01T00:00:00.000Z')).toThrow();
  });

  it.each([
    ['*/10 * * * *', 10],
    ['5,7 * * * *', 58],
    ['17 3 * * *', 24 * 60],
    ['0 0 1 * *', 31 * 24 * 60],
  ])('%s leaves at most %d minutes between two runs', (cron, minutes) => {
    expect(longestIntervalMs(cron, new Date('2026-01-01T00:00:00.000Z'))).toBe(minutes * 60_000);
  });

  it('agrees with node-cron on which minutes are named', async () => {
    for (const cron of ['*/7 3,5 * * *', '0 */6 1-10 * 1-5', '59 23 13 * 5', '5 0 * 3 0']) {
      const task = createTask(cron, () => undefined, { timezone: 'UTC' });
      fc.assert(
        fc.property(fc.date({ min: new Date('2026-01-01'), max: new Date('2027-12-31'), noInvalidDate: true }), (after) => {
          const at = cronTimes(cron)(after);
          expect(task.match(at)).toBe(true);
          const between = after.getTime() + (at.getTime() - after.getTime()) / 2;
          const minute = new Date(Math.ceil(between / 60_000) * 60_000);
          if (minute < at && minute > after) expect(task.match(minute)).toBe(false);
        }),
      );
      await task.destroy();
    }
  });
});
