import type { BubbleReadyV1 } from '@bubbles/contracts/events/service-events.ts';
import type { z } from 'zod';
import { sampleBubble } from '../src/adapters/http/sample-bubble.ts';
import type { Delivery, WebhookEvent } from '../src/domain/delivery.ts';
import type { ReadyBubble, Subscription } from '../src/domain/subscription.ts';

export const NOON = new Date('2026-03-01T12:00:00.000Z');

export const aSubscription = (overrides: Partial<Subscription> = {}): Subscription => ({
  id: 'wh_1',
  ownerId: 'owner',
  ownerLife: 1,
  url: 'https://hooks.example.com/in',
  events: ['bubble.ready'],
  teamId: null,
  spaceId: null,
  filters: null,
  status: 'active',
  secretSealed: 'sealed',
  previousSecret: null,
  createdAt: NOON,
  lastSuccessAt: null,
  lastFailureAt: null,
  disabledAt: null,
  disabledReason: null,
  consecutiveFailures: 0,
  countedFailureKeys: [],
  epoch: 1,
  testedAt: [],
  ...overrides,
});

export const aReadyBubble = (overrides: Partial<ReadyBubble> = {}): ReadyBubble => ({
  id: 'b1',
  type: 'meeting_recording',
  teamId: 'team',
  channelId: 'channel',
  authorId: 'owner',
  ...overrides,
});

export const aDelivery = (overrides: Partial<Delivery> = {}): Delivery => ({
  id: 'dlv_1',
  eventId: 'evt_1',
  subscriptionId: 'wh_1',
  ownerId: 'owner',
  type: 'bubble.ready',
  bubble: aReadyBubble(),
  origin: 'https://hooks.example.com',
  epoch: 1,
  status: 'pending',
  reason: null,
  attemptCount: 0,
  attemptsBeforeQueue: 0,
  maxAttempts: 5,
  claimCount: 1,
  claimableAt: NOON,
  leaseToken: null,
  requeuedBy: null,
  createdAt: NOON,
  finishedAt: null,
  log: [],
  ...overrides,
});

export const anEvent = (overrides: Partial<WebhookEvent> = {}): WebhookEvent => ({
  id: 'evt_1',
  type: 'bubble.ready',
  bubble: aReadyBubble(),
  body: Buffer.from('{"id":"evt_1","note":"café"}'),
  createdAt: NOON,
  ...overrides,
});

export type Ready = z.infer<typeof BubbleReadyV1.schema>;

/** A meeting of Ada's in the channel of her team, ready at noon. */
export const readyEvent = (overrides: Partial<Ready> = {}): Ready => ({
  bubble: aBubble(),
  participant_user_ids: ['ada'],
  author_id: 'ada',
  team_id: 'team',
  channel_id: 'channel',
  ready_at: NOON.toISOString(),
  ...overrides,
});

export const aBubble = (overrides: Partial<Ready['bubble']> = {}): Ready['bubble'] => ({
  ...sampleBubble('https://app.test')('b1', NOON),
  ...overrides,
});
