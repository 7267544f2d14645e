import { describe, expect, it } from '@jest/globals';
import { hourlyQuota, weeklyQuota } from '../src/domain/quota.ts';
import type { QuotaStore } from '../src/ports.ts';
import { later, NOON, TEAM } from './builders.ts';

const LIMITS = { perUserAndHour: 2, perFreeTeamAndWeek: 2 };

export const describeQuotaStore = (engine: string, make: () => Promise<QuotaStore>): void =>
  describe(`QuotaStore on ${engine}`, () => {
    const hourly = (seconds = 0) => hourlyQuota('ada', LIMITS, later(seconds));
    const weekly = weeklyQuota(TEAM, LIMITS, NOON);

    it.each([
      ['an hour', hourly()],
      ['a week', weekly],
    ])('[MEET-04] gives no more places of %s than there are, ten at once too, and says when the oldest was taken', async (_, quota) => {
      const quotas = await make();
      const results = await Promise.all(Array.from({ length: 10 }, (__, n) => quotas.reserve(quota, `mj_${n}`, NOON)));
      expect(results.filter((result) => result === 'reserved')).toHaveLength(2);
      expect(results.filter((result) => result !== 'reserved')).toEqual(Array.from({ length: 8 }, () => ({ oldest: NOON })));
    });

    it('gives a join one place', async () => {
      const quotas = await make();
      for (const id of ['mj_1', 'mj_1', 'mj_2']) expect(await quotas.reserve(weekly, id, NOON)).toBe('reserved');
      expect(await quotas.reserve(weekly, 'mj_3', later(1))).toEqual({ oldest: NOON });
      expect(await quotas.reserve(weekly, 'mj_1', later(1))).toBe('reserved');
    });

    it('has room again when a place is given back, or an hour after it was taken', async () => {
      const quotas = await make();
      for (const id of ['mj_1', 'mj_2']) await quotas.reserve(hourly(), id, NOON);
      await quotas.release([hourly().key, null], 'mj_1');
      expect(await quotas.reserve(hourly(10), 'mj_3', later(10))).toBe('reserved');
      expect(await quotas.reserve(hourly(3599), 'mj_4', later(3599))).toEqual({ oldest: NOON });
      expect(await quotas.reserve(hourly(3600), 'mj_4', later(3600))).toBe('reserved');
      expect(await quotas.reserve(hourly(3600), 'mj_5', later(3600))).toEqual({ oldest: later(10) });
    });

    it('has room at once when the clock was set back, and none more for a clock that is a little behind', async () => {
      const quotas = await make();
      for (const id of ['mj_1', 'mj_2']) await quotas.reserve(hourly(), id, NOON);
      expect(await quotas.reserve(hourly(-600), 'mj_3', later(-600))).toEqual({ oldest: later(-600) });
      expect(await quotas.reserve(hourly(-7200), 'mj_3', later(-7200))).toBe('reserved');
      expect(await quotas.reserve(hourly(-7200), 'mj_4', later(-7200))).toBe('reserved');
      expect(await quotas.reserve(hourly(-7200), 'mj_5', later(-7200))).toEqual({ oldest: later(-7200) });
    });

    it('gives places back whose joins never came to be', async () => {
      const quotas = await make();
      for (const id of ['mj_1', 'mj_2']) await quotas.reserve(weekly, id, NOON);
      const asked: (readonly string[])[] = [];
      const known = (ids: readonly string[]) => {
        asked.push(ids);
        return Promise.resolve(new Set(['mj_1']));
      };
      await quotas.releaseOrphans(later(-1), known);
      expect(await quotas.reserve(weekly, 'mj_3', later(1))).toEqual({ oldest: NOON });
      await quotas.releaseOrphans(later(1), known);
      await quotas.releaseOrphans(later(1), known);
      expect(asked).toEqual([[], ['mj_1', 'mj_2'], []]);
      expect(await quotas.reserve(weekly, 'mj_3', later(2))).toBe('reserved');
      expect(await quotas.reserve(weekly, 'mj_4', later(2))).toEqual({ oldest: NOON });
    });

    it('drops quotas that have ended', async () => {
      const quotas = await make();
      for (const id of ['mj_1', 'mj_2']) await quotas.reserve(weekly, id, NOON);
      await quotas.sweep(later(8 * 86_400));
      expect(await quotas.reserve(weekly, 'mj_3', NOON)).toBe('reserved');
    });
  });
