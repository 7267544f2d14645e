import { z } from 'zod';
import { HttpsLink } from './link.ts';
import { Timestamp } from './timestamp.ts';

export const CommentAuthor = z.object({ id: z.string(), name: z.string().nullable() }).meta({ id: 'CommentAuthor' });
export type CommentAuthor = z.infer<typeof CommentAuthor>;

export const Comment = z
  .object({
    id: z.string(),
    thread_id: z.string(),
    bubble_id: z.string(),
    kind: z.enum(['text', 'video', 'image']),
    body: z.string().nullable().meta({ description: 'Null for video and image comments' }),
    video_url: HttpsLink,
    image_url: HttpsLink,
    created_at: Timestamp,
    author: CommentAuthor,
    is_pinned: z.boolean().meta({ description: 'Whether its thread is pinned' }),
    timestamp_seconds: z.number().nullable().meta({ description: 'The moment of the video it belongs to' }),
    url: z.string().meta({ description: 'Deep link to the comment' }),
  })
  .meta({ id: 'Comment' });
export type Comment = z.infer<typeof Comment>;
