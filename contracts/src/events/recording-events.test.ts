import { describe, expect, it } from '@jest/globals';
import { EVENTS } from './catalog.ts';
import { BubbleRemovedV1, CommentPostedV1, MediaProcessedV1, TranscriptCompletedV1 } from './recording-events.ts';

const ID = '8b0f3b1c-6c56-4c4e-9a41-0d3a5c7f2f10';

const comment = {
  comment_id: 'comment-1',
  thread_id: 'thread-1',
  bubble_id: ID,
  revision: 0,
  kind: 'text',
  body: 'Well said.',
  video_url: null,
  image_url: null,
  created_at: '2026-01-31T09:30:00Z',
  author: { id: 'user-1', name: null },
  timestamp_seconds: null,
  draft: false,
  archived: false,
};

describe('what the recording pipeline says', () => {
  it('[BUB-01] names a bubble in lower case, however it was sent', () => {
    expect(BubbleRemovedV1.schema.parse({ bubble_id: ID.toUpperCase(), revision: 3 })).toEqual({ bubble_id: ID, revision: 3 });
  });

  it.each([-1, 1.5, '1', null])('has no revision %p', (revision) => {
    expect(BubbleRemovedV1.schema.safeParse({ bubble_id: ID, revision }).success).toBe(false);
  });

  it('takes an instant in any zone, and none without a zone', () => {
    expect(CommentPostedV1.schema.safeParse({ ...comment, created_at: '2026-01-31T10:30:00+01:00' }).success).toBe(true);
    expect(CommentPostedV1.schema.safeParse({ ...comment, created_at: '2026-01-31T09:30:00' }).success).toBe(false);
    for (const outside of ['9999-12-31T23:00:00-02:00', '0000-01-01T00:00:00+00:01'])
      expect(CommentPostedV1.schema.safeParse({ ...comment, created_at: outside }).success).toBe(false);
    expect(CommentPostedV1.schema.safeParse({ ...comment, created_at: '9999-12-31T23:59:59.999Z' }).success).toBe(true);
  });

  it('drops a field that was added later', () => {
    expect(CommentPostedV1.schema.parse({ ...comment, mood: 'glad' })).toEqual(comment);
  });

  it('may be a transcript without a word, and media of unknown state', () => {
    expect(TranscriptCompletedV1.schema.safeParse({ bubble_id: ID, revision: 1, segments: [] }).success).toBe(true);
    const media = { is_processed: null, video_url: null, thumbnail_url: null, screenshot_url: null, duration_seconds: null };
    expect(MediaProcessedV1.schema.safeParse({ bubble_id: ID, revision: 1, has_audio: false, ...media }).success).toBe(true);
  });
});

describe('an event', () => {
  it.each(EVENTS)('$type says something', ({ schema }) => {
    expect(schema.safeParse({}).success).toBe(false);
  });
});
