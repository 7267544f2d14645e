import { AT, BUBBLE_ID, CHANNEL_ID, TEAM_ID, USER_ID } from './examples.ts';

/** What the recording pipeline says of the bubble of the examples. */
export const bubble = { bubble_id: BUBBLE_ID, revision: 1 };
const ada = { user_id: USER_ID, name: 'Ada', email: 'ada@acme.test', is_external: false };
export const details = {
  ...bubble,
  type: 'meeting_recording' as const,
  title: 'Weekly review',
  team_id: TEAM_ID,
  channel_id: CHANNEL_ID,
  channel_name: 'Reviews',
  created_at: AT,
  author: ada,
  creator_id: USER_ID,
  participants: [ada],
  is_public: false,
  archived: false,
  draft: false,
  template: false,
  has_media: true,
  expires_at: '2027-01-31T09:30:00.000Z',
  response_required: false,
  embed_code: '<iframe></iframe>',
  meeting: { platform: 'google_meet', start_time: AT },
};
export const media = {
  ...bubble,
  is_processed: true,
  has_audio: true,
  video_url: 'https://media.example.com/video.mp4',
  thumbnail_url: 'https://media.example.com/thumbnail.jpg',
  screenshot_url: 'https://media.example.com/image.png',
  duration_seconds: 45,
};
export const transcript = {
  ...bubble,
  segments: [{ speaker: { id: USER_ID, name: 'Ada' }, text: 'Shall we begin?', start_time_seconds: 0, end_time_seconds: 15 }],
};
export const notes = { ...bubble, summary: 'The numbers.', action_items: 'Send them.' };
export const thread = { ...bubble, thread_id: 'thread-1', draft: false, archived: false, pinned: true };
export const comment = {
  ...bubble,
  comment_id: 'comment-1',
  thread_id: 'thread-1',
  kind: 'text' as const,
  body: 'Well said.',
  video_url: 'https://media.example.com/comment.mp4',
  image_url: 'https://media.example.com/comment.png',
  created_at: AT,
  author: { id: USER_ID, name: 'Ada' },
  timestamp_seconds: 3,
  draft: false,
  archived: false,
};

/** What meetings tells of it. */
export const captured = {
  bubble_id: BUBBLE_ID,
  join_id: 'mj_1',
  team_id: TEAM_ID,
  title: 'Weekly review',
  created_at: AT,
  author: ada,
  participants: [ada],
  platform: 'google_meet',
  started_at: AT,
  video_url: 'https://media.example.com/video.mp4',
  has_audio: true,
  duration_seconds: 45,
  segments: transcript.segments,
};
