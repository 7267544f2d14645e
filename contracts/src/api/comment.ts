import { z } from 'zod';
import { examplesOf } from './examples.ts';
import { HttpsLink, PAGE_FIELDS, Timestamp } from './fields.ts';
import { BubbleId, CommentId, ThreadId, UserId } from './ids.ts';

const CommentKind = z.enum(['text', 'video', 'image']).meta({ id: 'CommentKind' });

const CommentAuthor = z.object({ id: UserId, name: z.string().nullable() }).meta({ id: 'CommentAuthor' });

export const Comment = z
  .object({
    id: CommentId,
    thread_id: ThreadId,
    bubble_id: BubbleId,
    kind: CommentKind,
    body: z.string().nullable().meta({ description: 'Null for video and image comments' }),
    video_url: HttpsLink,
    image_url: HttpsLink,
    created_at: Timestamp,
    author: CommentAuthor,
    is_pinned: z.boolean().meta({ description: 'Whether its thread is pinned' }),
    timestamp_seconds: z.number().nullable().meta({ description: 'The moment of the video it belongs to' }),
    url: z.string().meta({ description: 'Deep link to the comment' }),
  })
  .meta({ id: 'Comment', examples: examplesOf('Comment') });
export type Comment = z.infer<typeof Comment>;

export const CommentList = z
  .object({ data: z.array(Comment), ...PAGE_FIELDS })
  .meta({ id: 'CommentList', examples: examplesOf('CommentList') });
export type CommentList = z.infer<typeof CommentList>;
