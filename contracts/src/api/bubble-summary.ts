import { z } from 'zod';
import { Bubble } from './bubble.ts';
import { examplesOf } from './examples.ts';
import { UserId } from './ids.ts';
import { HttpsLink } from './link.ts';
import { hasAtMost } from './text.ts';

export const SUMMARY_MAX_CHARACTERS = 1000;

/** A row of list and search. What it shares with the whole bubble is the bubble's own definition. */
export const BubbleSummary = Bubble.pick({
  id: true,
  type: true,
  title: true,
  url: true,
  created_at: true,
  team_id: true,
  channel_id: true,
  comment_count: true,
  expires_at: true,
})
  .extend({
    author_id: UserId.nullable().meta({ description: 'The raw creator' }),
    thumbnail_url: HttpsLink,
    duration_seconds: z.number().nullable(),
    has_summary: z.boolean().meta({ description: 'Whether meeting notes exist' }),
    summary: z
      .string()
      .refine((text) => hasAtMost(text, SUMMARY_MAX_CHARACTERS), `must have at most ${SUMMARY_MAX_CHARACTERS} characters`)
      .nullable()
      .meta({ maxLength: SUMMARY_MAX_CHARACTERS, description: 'The summary of the bubble; a longer one is cut and ends with an ellipsis' }),
  })
  .meta({ id: 'BubbleSummary', examples: examplesOf('BubbleSummary') });
export type BubbleSummary = z.infer<typeof BubbleSummary>;
