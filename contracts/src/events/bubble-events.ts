import { z } from 'zod';
import { Bubble } from '../api/bubble.ts';
import { Timestamp } from '../api/timestamp.ts';
import { defineEvent } from './define-event.ts';

/** Once a bubble, when it is fully ready and readable. Carries all that fan-out needs, so that no one asks back. */
export const BubbleReadyV1 = defineEvent(
  'bubbles.bubble.ready.v1',
  z.object({
    /** As a participant reads it, addresses included. */
    bubble: Bubble,
    /** Participants with an account, the author only when taking part. */
    participant_user_ids: z.array(z.string()),
    /** The account of `bubble.author`, null when there is none. */
    author_id: z.string().nullable(),
    team_id: z.string().nullable(),
    channel_id: z.string().nullable(),
    ready_at: Timestamp,
  }),
  { publisher: 'bubbles-query', consumers: ['webhooks-dispatcher'] },
);
