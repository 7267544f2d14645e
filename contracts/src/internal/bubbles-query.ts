import { z } from 'zod';

/** `POST /internal/v1/readable`, webhooks-dispatcher → bubbles-query: does this user take part in this bubble, and may it be read now? */
export const ReadableRequest = z.object({
  pairs: z
    .array(z.object({ user_id: z.string(), bubble_id: z.string() }))
    .min(1)
    .max(500),
});
/** By index. `bubble` is what it belongs to now, null when it may not be read: unknown, archived, draft, template, expired-hidden or removed. Nobody `participates` then. */
export const ReadableResponse = z.object({
  answers: z.array(
    z.object({
      bubble_id: z.string(),
      user_id: z.string(),
      participates: z.boolean(),
      bubble: z.object({ team_id: z.string().nullable(), channel_id: z.string().nullable(), author_id: z.string().nullable() }).nullable(),
    }),
  ),
});
