import { z } from 'zod';

/** How every time leaves the product: what `Date.prototype.toISOString` writes. */
export const Timestamp = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/, 'must be ISO-8601 UTC with milliseconds')
  .meta({ format: 'date-time', description: 'ISO-8601, UTC, milliseconds', examples: ['2026-01-31T09:30:00.000Z'] });

const LAST_YEAR = 9999;

/** A time that comes in: of a year that four digits write in UTC, so that it can go out as a `Timestamp`. */
export const RecordedTime = z.iso.datetime({ offset: true }).refine((text) => {
  const year = new Date(text).getUTCFullYear();
  return year >= 0 && year <= LAST_YEAR;
}, 'must lie in the years 0000 to 9999 of UTC');
