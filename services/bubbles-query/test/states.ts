import { type Bubble, type Details, emptyBubble, type Media, type Notes } from '../src/domain/bubble.ts';
import type { Comment, Thread } from '../src/domain/comment.ts';
import { AT, BUBBLE } from './builders.ts';

export const aBubble = (facts: Partial<Bubble> = {}): Bubble => ({ ...emptyBubble(BUBBLE), ...facts });

export const someDetails = (fields: Partial<Details> = {}): Details => ({
  revision: 1,
  type: 'meeting_recording',
  title: 'Weekly',
  teamId: 'acme',
  channelId: null,
  channelName: null,
  createdAt: new Date('2026-01-01T12:00:00.000Z'),
  author: null,
  creatorId: null,
  participants: [{ userId: 'ada', name: 'Ada', email: null, isExternal: false }],
  isPublic: false,
  archived: false,
  draft: false,
  template: false,
  hasMedia: true,
  expiresAt: null,
  responseRequired: false,
  embedCode: null,
  meeting: null,
  ...fields,
});

export const someMedia = (fields: Partial<Media> = {}): Media => ({
  revision: 1,
  isProcessed: true,
  hasAudio: true,
  videoUrl: null,
  thumbnailUrl: null,
  screenshotUrl: null,
  durationSeconds: null,
  ...fields,
});

export const someNotes = (fields: Partial<Notes> = {}): Notes => ({ revision: 1, summary: 'Well.', actionItems: 'On.', ...fields });

export const aComment = (fields: Partial<Comment> = {}): Comment => ({
  id: 'comment-1',
  revision: 1,
  threadId: 'thread-1',
  bubbleId: BUBBLE,
  kind: 'text',
  body: 'Well said.',
  videoUrl: null,
  imageUrl: null,
  createdAt: AT,
  author: { id: 'ada', name: 'Ada' },
  timestampSeconds: null,
  draft: false,
  archived: false,
  ...fields,
});

export const aThread = (fields: Partial<Thread> = {}): Thread => ({
  id: 'thread-1',
  revision: 0,
  bubbleId: BUBBLE,
  draft: false,
  archived: false,
  pinned: false,
  ...fields,
});
