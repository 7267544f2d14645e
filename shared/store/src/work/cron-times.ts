import { parse } from 'node-cron';

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
/** A 29th of February on a given weekday comes within 40 years. */
const MAX_DAYS = 366 * 40;

interface Fields {
  readonly minutesOfDay: readonly number[];
  readonly days: ReadonlySet<unknown>;
  readonly months: ReadonlySet<unknown>;
  readonly weekdays: ReadonlySet<unknown>;
}

const fieldsOf = (cron: string): Fields => {
  if (cron.trim().split(/\s+/).length !== 5) throw new Error(`A cron expression has five fields: '${cron}'.`);
  const { minute, hour, dayOfMonth, month, dayOfWeek } = parse(cron);
  const days: readonly unknown[] = [...dayOfMonth, ...dayOfWeek];
  if (days.some((day) => typeof day !== 'number')) throw new Error(`A cron expression names its days by number: '${cron}'.`);
  return {
    minutesOfDay: hour.flatMap((h) => minute.map((m) => h * 60 + m)).sort((a, b) => a - b),
    days: new Set<unknown>(dayOfMonth),
    months: new Set<unknown>(month),
    weekdays: new Set<unknown>(dayOfWeek),
  };
};

const GAPS = 200;

/** Longest interval, in milliseconds, between the next runs of the expression. */
export const longestIntervalMs = (cron: string, from: Date): number => {
  const next = cronTimes(cron);
  let longest = 0;
  let at = next(from);
  for (let gap = 0; gap < GAPS; gap += 1) {
    const after = next(at);
    longest = Math.max(longest, after.getTime() - at.getTime());
    at = after;
  }
  return longest;
};

/** The first time after `after` that the expression names, in UTC. Day of the month and weekday must both agree, as in node-cron. */
export const cronTimes = (cron: string): ((after: Date) => Date) => {
  const { minutesOfDay, days, months, weekdays } = fieldsOf(cron);
  const isDay = (day: Date) => days.has(day.getUTCDate()) && months.has(day.getUTCMonth() + 1) && weekdays.has(day.getUTCDay());
  return (after) => {
    const today = Math.floor(after.getTime() / DAY_MS) * DAY_MS;
    for (let day = today; day < today + MAX_DAYS * DAY_MS; day += DAY_MS) {
      const minute = isDay(new Date(day)) ? minutesOfDay.find((m) => day + m * MINUTE_MS > after.getTime()) : undefined;
      if (minute !== undefined) return new Date(day + minute * MINUTE_MS);
    }
    throw new Error(`A cron expression that names no day: '${cron}'.`);
  };
};
