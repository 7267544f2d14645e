import { z } from 'zod';
import { BubbleType } from './bubble.ts';
import { CallerId, hasAtMost } from './fields.ts';

const RFC3339 = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(?:Z|([+-])(\d{2}):(\d{2}))$/;
const MS_PER_MINUTE = 60_000;

/** An instant may lie between two milliseconds: `floorMs` and `ceilMs` are the epoch milliseconds on either side, equal when it is on one. */
interface InstantBounds {
  readonly floorMs: number;
  readonly ceilMs: number;
}

const calendarMs = (date: readonly [number, number, number], time: readonly [number, number, number]): number | null => {
  const [year, month, day] = date;
  const [hour, minute, second] = time;
  if (hour > 23 || minute > 59 || second > 59) return null;
  // Not Date.UTC: it takes the years 0-99 for 1900-1999.
  const at = new Date(0);
  at.setUTCFullYear(year, month - 1, day);
  if (at.getUTCMonth() !== month - 1 || at.getUTCDate() !== day) return null;
  return at.setUTCHours(hour, minute, second);
};

const offsetMinutes = (sign: string | undefined, hours: string | undefined, minutes: string | undefined): number | null => {
  if (sign === undefined) return 0;
  if (Number(hours) > 23 || Number(minutes) > 59) return null;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
};

/** RFC 3339 with `T`, seconds and a zone, upper case, on the real calendar; null for anything else. */
const instantBounds = (text: string): InstantBounds | null => {
  const match = RFC3339.exec(text);
  if (!match) return null;
  const [, year, month, day, hour, minute, second, fraction = '', sign, offsetHours, offsetRest] = match;
  const local = calendarMs([Number(year), Number(month), Number(day)], [Number(hour), Number(minute), Number(second)]);
  const offset = offsetMinutes(sign, offsetHours, offsetRest);
  if (local === null || offset === null) return null;
  const floorMs = local - offset * MS_PER_MINUTE + Number(fraction.slice(0, 3).padEnd(3, '0'));
  return { floorMs, ceilMs: /[1-9]/.test(fraction.slice(3)) ? floorMs + 1 : floorMs };
};

const bound = (pick: (bounds: InstantBounds) => number, description: string) =>
  z
    .string()
    .transform((text, context) => {
      const bounds = instantBounds(text);
      if (bounds) return pick(bounds);
      context.issues.push({ code: 'custom', message: 'must be an RFC 3339 instant such as 2026-01-31T09:30:00Z', input: text });
      return z.NEVER;
    })
    .meta({ format: 'date-time', description });

/** Epoch milliseconds: a time in whole milliseconds is not before the instant exactly when it is not less than this. */
export const Since = bound((bounds) => bounds.ceilMs, 'Inclusive lower bound, RFC 3339');
/** Epoch milliseconds: a time in whole milliseconds is after the instant exactly when it is greater than this. */
const After = bound((bounds) => bounds.floorMs, 'Exclusive lower bound, RFC 3339');
/** Epoch milliseconds: a time in whole milliseconds is before the instant exactly when it is less than this. */
export const Before = bound((bounds) => bounds.ceilMs, 'Exclusive upper bound, RFC 3339');

const LIMIT_DEFAULT = 25;
const LIMIT_MAX = 100;
const SEARCH_MAX_CHARACTERS = 256;

/** Text in, number out: decimal digits without sign, blank or leading zero. */
const GivenLimit = z.string().transform((text, context) => {
  const limit = Number(text);
  if (/^[1-9]\d{0,2}$/.test(text) && limit <= LIMIT_MAX) return limit;
  context.issues.push({ code: 'custom', message: `must be a whole number from 1 to ${LIMIT_MAX}`, input: text });
  return z.NEVER;
});
const LIMIT_RANGE = { type: 'integer', minimum: 1, maximum: LIMIT_MAX } as const;

const Limit = GivenLimit.default(LIMIT_DEFAULT)
  // `_prefault` is where zod keeps the default of an input: it drops `default` from whatever is transformed.
  .meta({ ...LIMIT_RANGE, _prefault: LIMIT_DEFAULT, description: 'Rows a page' });

const Cursor = CallerId.meta({ description: 'The `next_cursor` of the page before; opaque' });

const SearchQuery = z
  .string()
  .refine((text) => text.trim().length > 0, 'must not be empty')
  .refine((text) => hasAtMost(text, SEARCH_MAX_CHARACTERS), `must have at most ${SEARCH_MAX_CHARACTERS} characters`)
  .meta({
    minLength: 1,
    maxLength: SEARCH_MAX_CHARACTERS,
    description: 'Words to find in title, author name and AI notes; counted in Unicode code points as sent',
    examples: ['onboarding'],
  });

export const PageQuery = z.object({ limit: Limit, cursor: Cursor.optional() });
export type PageQuery = z.infer<typeof PageQuery>;

/** The query of a list that is answered whole unless a page is asked for: null then. */
export const OptionalPageQuery = z
  .object({
    limit: GivenLimit.optional().meta({ ...LIMIT_RANGE, description: 'Extension: answers a page with at most this many rows' }),
    cursor: Cursor.optional().meta({
      description: `Extension: the \`next_cursor\` of the page before; opaque. Without \`limit\` a page has ${LIMIT_DEFAULT} rows`,
    }),
  })
  .transform(({ limit, cursor }) => (limit === undefined && cursor === undefined ? null : { limit: limit ?? LIMIT_DEFAULT, cursor }));

export const ListBubblesQuery = PageQuery.extend({
  team_id: CallerId.optional().meta({ description: 'Only bubbles of this team' }),
  space_id: CallerId.optional().meta({ description: 'Only bubbles of this channel' }),
  type: BubbleType.optional().meta({ description: 'Only bubbles of this type' }),
  created_after: After.optional(),
  created_before: Before.optional(),
});
export type ListBubblesQuery = z.infer<typeof ListBubblesQuery>;

export const SearchBubblesQuery = ListBubblesQuery.extend({ q: SearchQuery });
export type SearchBubblesQuery = z.infer<typeof SearchBubblesQuery>;

const TranscriptFormat = z.enum(['json', 'text']).meta({ id: 'TranscriptFormat' });

export const TranscriptQuery = z.object({
  format: TranscriptFormat.default('json').meta({ default: 'json', description: 'Segments, or blocks of plain text' }),
});
export type TranscriptQuery = z.infer<typeof TranscriptQuery>;

const ExportFormat = z.enum(['vtt', 'srt', 'markdown']).meta({ id: 'ExportFormat' });

export const ExportQuery = z.object({
  format: ExportFormat.meta({ description: 'WebVTT or SubRip for players, Markdown for readers' }),
});
