import { z } from 'zod';
import { BubbleType } from './bubble.ts';
import { After, Before } from './instant.ts';
import { CallerId, hasAtMost } from './text.ts';

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

export const Limit = GivenLimit.default(LIMIT_DEFAULT)
  // `_prefault` is where zod keeps the default of an input: it drops `default` from whatever is transformed.
  .meta({ ...LIMIT_RANGE, _prefault: LIMIT_DEFAULT, description: 'Rows a page' });

export const Cursor = CallerId.meta({ description: 'The `next_cursor` of the page before; opaque' });

export const SearchQuery = z
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
