import { z } from 'zod';

const LAST_YEAR = 9999;

/** An instant of a year that four digits write in UTC: what comes in can go out again. */
export const RecordedTime = z.iso.datetime({ offset: true }).refine((text) => {
  const year = new Date(text).getUTCFullYear();
  return year >= 0 && year <= LAST_YEAR;
}, 'must lie in the years 0000 to 9999 of UTC');
