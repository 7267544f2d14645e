import type { WebhookSubscription, WebhookSubscriptionFilters } from '@bubbles/contracts/api/webhook.ts';
import type {
  WebhookAttempt,
  WebhookDeliveryDetail,
  WebhookDeliveryRecord,
  WebhookFailures,
  WebhookReplayQueued,
} from '@bubbles/contracts/api/webhook-delivery.ts';
import type { App } from '../../app.ts';
import type { AttemptRecord, Delivery } from '../../domain/delivery.ts';
import type { Replay } from '../../domain/replay.ts';
import type { Filters, Subscription } from '../../domain/subscription.ts';

const timeOrNull = (at: Date | null): string | null => (at === null ? null : at.toISOString());

const presentFilters = ({ bubbleTypes, onlyMyBubbles }: Filters): WebhookSubscriptionFilters => ({
  ...(bubbleTypes === undefined ? {} : { bubble_types: [...bubbleTypes] }),
  ...(onlyMyBubbles === undefined ? {} : { only_my_bubbles: onlyMyBubbles }),
});

export const filtersOf = ({ bubble_types, only_my_bubbles }: WebhookSubscriptionFilters): Filters => ({
  ...(bubble_types === undefined ? {} : { bubbleTypes: bubble_types }),
  ...(only_my_bubbles === undefined ? {} : { onlyMyBubbles: only_my_bubbles }),
});

export const presentSubscription = (subscription: Subscription): WebhookSubscription => ({
  id: subscription.id,
  url: subscription.url,
  events: [...subscription.events],
  team_id: subscription.teamId,
  space_id: subscription.spaceId,
  filters: subscription.filters && presentFilters(subscription.filters),
  status: subscription.status,
  created_at: subscription.createdAt.toISOString(),
  last_success_at: timeOrNull(subscription.lastSuccessAt),
  last_failure_at: timeOrNull(subscription.lastFailureAt),
  disabled_at: timeOrNull(subscription.disabledAt),
  disabled_reason: subscription.disabledReason,
});

const presentAttempt = ({ number, startedAt, tookMs, status, outcome, preview, detail = null }: AttemptRecord): WebhookAttempt => ({
  number,
  started_at: startedAt.toISOString(),
  duration_ms: tookMs,
  outcome,
  status,
  detail,
  response_preview: preview,
});

export const presentDelivery = (delivery: Delivery): WebhookDeliveryRecord => ({
  id: delivery.id,
  event_id: delivery.eventId,
  type: delivery.type,
  bubble_id: delivery.bubble?.id ?? null,
  status: delivery.status,
  cancelled_reason: delivery.reason,
  created_at: delivery.createdAt.toISOString(),
  finished_at: timeOrNull(delivery.finishedAt),
  next_attempt_at: delivery.status === 'pending' && delivery.leaseToken === null ? delivery.claimableAt.toISOString() : null,
  attempts: delivery.log.map(presentAttempt),
});

export const presentReplay = ({ id, since, until }: Replay): WebhookReplayQueued => ({
  id,
  since: since.toISOString(),
  until: until.toISOString(),
  status: 'queued',
});

export const presentFailures = ({ subscription, failures }: Awaited<ReturnType<App['listFailures']>>): WebhookFailures => ({
  status: subscription.status,
  disabled_at: timeOrNull(subscription.disabledAt),
  disabled_reason: subscription.disabledReason,
  consecutive_failures: subscription.consecutiveFailures,
  data: failures.map(({ deliveryId, ...attempt }) => ({ delivery_id: deliveryId, ...presentAttempt(attempt) })),
});

export const presentDeliveryDetail = ({ delivery, request }: Awaited<ReturnType<App['readDelivery']>>): WebhookDeliveryDetail => ({
  ...presentDelivery(delivery),
  request: request && { headers: { ...request.headers }, body: request.body },
});
