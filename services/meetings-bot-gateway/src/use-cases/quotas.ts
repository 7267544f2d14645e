import type { Clock } from '@bubbles/kernel/clock.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import { type Join, refunds, workedOff } from '../domain/join.ts';
import { freeAgain, hourlyQuota, type Quota, type QuotaLimits, weeklyQuota } from '../domain/quota.ts';
import type { JoinStore, MeetingMetrics, QuotaStore } from '../ports.ts';
import { endWork, type WorkPorts } from './work.ts';

export interface QuotaPorts {
  readonly quotas: QuotaStore;
  readonly quotaLimits: QuotaLimits;
  readonly clock: Clock;
  readonly metrics: Pick<MeetingMetrics, 'quotaRefused'>;
}

interface Reservation {
  readonly joinId: string;
  readonly userId: string;
  /** Null for a team without a cap. */
  readonly teamId: string | null;
}

const refuse = (freeAt: readonly Date[], now: Date): never => {
  const waitMs = freeAt.reduce((longest, at) => Math.max(longest, at.getTime() - now.getTime()), 0);
  throw new DomainError('rate_limited', 'Too many notetakers were sent. Retry-After says when there is room again.', {
    retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)),
  });
};

/** Takes a place of both quotas or of none; answers their keys. */
export const reserveQuotas =
  ({ quotas, quotaLimits, clock, metrics }: QuotaPorts) =>
  async ({ joinId, userId, teamId }: Reservation): Promise<{ readonly userQuota: string; readonly teamQuota: string | null }> => {
    const now = clock.now();
    const hourly = hourlyQuota(userId, quotaLimits, now);
    const weekly = teamId === null ? null : weeklyQuota(teamId, quotaLimits, now);
    const taken: Quota[] = [];
    const freeAt: Date[] = [];
    for (const quota of weekly === null ? [hourly] : [hourly, weekly]) {
      const result = await quotas.reserve(quota, joinId, now);
      if (result === 'reserved') taken.push(quota);
      else {
        freeAt.push(freeAgain(quota, result.oldest));
        metrics.quotaRefused(quota.kind);
      }
    }
    if (freeAt.length > 0) {
      await quotas.release(
        taken.map(({ key }) => key),
        joinId,
      );
      refuse(freeAt, now);
    }
    return { userQuota: hourly.key, teamQuota: weekly?.key ?? null };
  };

/** What a fatal join took and is to give back. Done again after a crash, it gives nothing back twice. */
export const refundJoin = (ports: Pick<WorkPorts, 'joins' | 'joinAdvanced' | 'clock'> & Pick<QuotaPorts, 'quotas'>) => {
  const end = endWork(ports);
  return async (join: Join): Promise<void> => {
    await ports.quotas.release(refunds(join), join.id);
    await end(join, (before) => workedOff(before, ports.clock.now()));
  };
};

/** A request that died between its reservation and its join is older than this. */
const ORPHAN_AGE_MS = 300_000;

export const sweepQuotas =
  ({ quotas, joins, clock }: Pick<QuotaPorts, 'quotas' | 'clock'> & { readonly joins: JoinStore }) =>
  async (): Promise<void> => {
    const now = clock.now();
    await quotas.releaseOrphans(new Date(now.getTime() - ORPHAN_AGE_MS), async (ids) => new Set((await joins.byIds(ids)).keys()));
    await quotas.sweep(now);
  };
