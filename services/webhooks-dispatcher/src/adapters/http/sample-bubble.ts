import type { Bubble } from '@bubbles/contracts/api/bubble.ts';

const MEDIA_HOST = 'https://media.example.com';

const SHORT_ID_CHARACTERS = 22;

/** The bubble of a `webhook.test`: every field of the type, about nobody. Its link lies where those of others do and leads nowhere. */
export const sampleBubble =
  (appBaseUrl: string) =>
  (id: string, at: Date): Bubble => ({
    id,
    type: 'meeting_recording',
    title: 'Webhook test',
    url: `${appBaseUrl}/b/${id.replaceAll('-', '').slice(0, SHORT_ID_CHARACTERS)}`,
    created_at: at.toISOString(),
    team_id: null,
    channel_id: null,
    channel_name: null,
    author: { id: 'test-user', name: 'Test User', email: 'test@example.com' },
    participants: [{ id: 'test-user', name: 'Test User', email: 'test@example.com' }],
    media: {
      video_url: `${MEDIA_HOST}/test/video.mp4`,
      thumbnail_url: `${MEDIA_HOST}/test/thumbnail.jpg`,
      screenshot_url: null,
      duration_seconds: 60,
      is_processed: true,
    },
    summary: 'This is a test delivery. There is no such bubble.',
    action_items: null,
    has_transcript: false,
    comment_count: 0,
    is_public: false,
    embed_code: null,
    expires_at: null,
    archived: false,
    creator_id: 'test-user',
    response_required: false,
    has_external_participants: false,
    external_participant_email_domains: [],
    meeting: { platform: 'google_meet', start_time: at.toISOString() },
  });
