import { z } from 'zod';
import { Bubble } from '../api/bubble.ts';
import { Timestamp } from '../api/fields.ts';
import { AccountFacts } from '../internal/identity.ts';
import { defineEvent } from './define-event.ts';

export const AccountChangedV1 = defineEvent('identity.account.changed.v1', AccountFacts, {
  description: "With every change of an account's state or profile. Carries the whole account; the newest revision wins.",
  publisher: 'identity-and-oauth',
  consumers: ['bubbles-query', 'meetings-bot-gateway', 'signup'],
});

export const BubbleReadyV1 = defineEvent(
  'bubbles.bubble.ready.v1',
  z.object({
    /** As a participant reads it, with e-mail addresses. */
    bubble: Bubble,
    participant_user_ids: z
      .array(z.string())
      .meta({ description: 'Accounts of the participants; the author is one of them only when taking part' }),
    author_id: z.string().nullable().meta({ description: 'Account of the author, null without one' }),
    team_id: z.string().nullable(),
    channel_id: z.string().nullable(),
    ready_at: Timestamp,
  }),
  {
    description:
      'Once for each bubble, when it is complete and readable. Carries the body that is delivered; access is still checked at each delivery.',
    publisher: 'bubbles-query',
    consumers: ['webhooks-dispatcher'],
  },
);
