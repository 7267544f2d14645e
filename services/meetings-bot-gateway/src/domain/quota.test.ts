import { describe, expect, it } from '@jest/globals';
import { later, NOON } from '../../test/builders.ts';
import { freeAgain, hourlyQuota, weeklyQuota } from './quota.ts';

const LIMITS = { perUserAndHour: 20, perFreeTeamAndWeek: 5 };

describe('quotas', () => {
  it('[MEET-04] of an hour are free again an hour after the oldest dispatch', () => {
    const quota = hourlyQuota('ada', LIMITS, NOON);
    expect(quota).toMatchObject({ limit: 20, freeUntil: later(-3600) });
    expect(freeAgain(quota, later(-600))).toEqual(later(3000));
  });

  it.each([
    ['2026-03-02T00:00:00.000Z', '2026-03-09T00:00:00.000Z'],
    ['2026-03-08T23:59:59.999Z', '2026-03-09T00:00:00.000Z'],
    ['2026-03-09T00:00:00.000Z', '2026-03-16T00:00:00.000Z'],
  ])('[MEET-04] of the week of %s are free again on %s', (at, monday) => {
    expect(freeAgain(weeklyQuota('team', LIMITS, new Date(at)), NOON)).toEqual(new Date(monday));
  });

  it('are of one week each', () => {
    const keyAt = (text: string) => weeklyQuota('team', LIMITS, new Date(text)).key;
    expect(keyAt('2026-03-02T00:00:00.000Z')).toBe(keyAt('2026-03-08T23:59:59.999Z'));
    expect(keyAt('2026-03-08T23:59:59.999Z')).not.toBe(keyAt('2026-03-09T00:00:00.000Z'));
  });
});
