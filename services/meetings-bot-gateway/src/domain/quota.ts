const HOUR_MS = 3_600_000;
const WEEK_MS = 7 * 24 * HOUR_MS;
/** 1970-01-05, a Monday. */
const FIRST_MONDAY_MS = 4 * 24 * HOUR_MS;

export interface QuotaLimits {
  /** Dispatches of one user in every hour. */
  readonly perUserAndHour: number;
  /** Recordings of one team on plan free in a week that begins on Monday, 00:00 UTC. */
  readonly perFreeTeamAndWeek: number;
}

/** What one join takes a place of. */
export interface Quota {
  readonly kind: 'user_hour' | 'team_week';
  readonly key: string;
  readonly limit: number;
  /** Places taken until then are free again; null when they stay taken until the quota ends. */
  readonly freeUntil: Date | null;
  /** When the whole quota is free again: this long after its oldest place, or at this time. */
  readonly frees: { readonly afterMs: number } | { readonly at: Date };
}

export const hourlyQuota = (userId: string, { perUserAndHour }: QuotaLimits, now: Date): Quota => ({
  kind: 'user_hour',
  key: `user ${userId}`,
  limit: perUserAndHour,
  freeUntil: new Date(now.getTime() - HOUR_MS),
  frees: { afterMs: HOUR_MS },
});

export const weeklyQuota = (teamId: string, { perFreeTeamAndWeek }: QuotaLimits, now: Date): Quota => {
  const week = Math.floor((now.getTime() - FIRST_MONDAY_MS) / WEEK_MS);
  const end = new Date(FIRST_MONDAY_MS + (week + 1) * WEEK_MS);
  return { kind: 'team_week', key: `team ${teamId} week ${week}`, limit: perFreeTeamAndWeek, freeUntil: null, frees: { at: end } };
};

/** When there is room again in a quota whose oldest place was taken then. */
export const freeAgain = ({ frees }: Quota, oldest: Date): Date => ('at' in frees ? frees.at : new Date(oldest.getTime() + frees.afterMs));

/** When nothing in it counts any more. */
export const quotaEnds = ({ frees }: Quota, now: Date): Date => ('at' in frees ? frees.at : new Date(now.getTime() + frees.afterMs));
