import type { Bubble } from '@bubbles/contracts/api/bubble.ts';

export const BUBBLE_ID = '8b0f3b1c-6c56-4c4e-9a41-0d3a5c7f2f10';
export const USER_ID = '3f1c2d4e-5b6a-4788-9c0d-1e2f3a4b5c6d';
export const TEAM_ID = '5d8e7f60-1a2b-4c3d-8e9f-0a1b2c3d4e5f';
export const CHANNEL_ID = '7a6b5c4d-3e2f-4a1b-9c8d-7e6f5a4b3c2d';
export const AT = '2026-01-31T09:30:00.000Z';

const ada = { id: USER_ID, name: 'Ada', email: 'ada@acme.test' };
const media = 'https://media.example.com';

/** No field is null: a pact shows what a value looks like. */
export const aBubble: Bubble = {
  id: BUBBLE_ID,
  type: 'meeting_recording',
  title: 'Weekly review',
  url: 'https://app.example.com/b/4E8r6mTCYqvh2kQp0aLxWn',
  created_at: AT,
  team_id: TEAM_ID,
  channel_id: CHANNEL_ID,
  channel_name: 'Reviews',
  author: ada,
  participants: [ada],
  media: {
    video_url: `${media}/video.mp4`,
    thumbnail_url: `${media}/thumbnail.jpg`,
    screenshot_url: `${media}/image.png`,
    duration_seconds: 45,
    is_processed: true,
  },
  summary: 'The numbers of last week.',
  action_items: 'Send the numbers.',
  has_transcript: true,
  comment_count: 0,
  is_public: false,
  embed_code: '<iframe></iframe>',
  expires_at: '2027-01-31T09:30:00.000Z',
  archived: false,
  creator_id: USER_ID,
  response_required: false,
  has_external_participants: true,
  external_participant_email_domains: ['example.com'],
  meeting: { platform: 'google_meet', start_time: AT },
};
