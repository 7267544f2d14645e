import { z } from 'zod';
import { examplesOf } from './examples.ts';
import { Timestamp } from './fields.ts';
import { BubbleId, DeliveryId, EventId, ReplayId } from './ids.ts';
import { Before, PageQuery, Since } from './query.ts';
import { WebhookDelivery, WebhookSubscription } from './webhook.ts';

/** The delivery log: an extension of the interface. */
const Status = z.enum(['pending', 'succeeded', 'exhausted', 'cancelled']).meta({ id: 'WebhookDeliveryStatus' });
const Type = WebhookDelivery.shape.type;

export const WebhookAttempt = z
  .object({
    number: z.int().meta({ description: 'From 1, through redeliveries too' }),
    started_at: Timestamp,
    duration_ms: z.int(),
    outcome: z.string().meta({
      description:
        'Class of the status (`2xx`, `3xx`, `4xx`, `429`, `5xx`), or why there was none: `timeout`, `dns`, `connect`, `tls`, `blocked_address` (not public), `reset` (the connection broke), `protocol` (no HTTP, or a `101`), `worker_lost` (ours; not held against the receiver)',
      examples: ['2xx', 'timeout'],
    }),
    status: z.int().nullable().meta({ description: 'HTTP status of the receiver, null when it gave none' }),
    detail: z
      .string()
      .nullable()
      .meta({
        description:
          'Why, in words: which fault of TLS, a name without an address, a refused connection, where a redirect leads (without its query)',
        examples: ['The certificate has expired. (CERT_HAS_EXPIRED)'],
      }),
    response_preview: z.string().nullable().meta({ description: 'The first 500 characters of the receiver’s answer' }),
  })
  .meta({ id: 'WebhookAttempt' });
export type WebhookAttempt = z.infer<typeof WebhookAttempt>;

export const WebhookDeliveryRecord = z
  .object({
    id: DeliveryId,
    event_id: EventId,
    type: Type,
    bubble_id: BubbleId.nullable().meta({ description: 'Null for a test' }),
    status: Status,
    cancelled_reason: z
      .string()
      .nullable()
      .meta({
        description:
          'Why it is not sent: of the subscription `subscription_deleted`, `subscription_disabled`, `subscription_changed` (it has been enabled again since), `event_not_selected`, `no_longer_matches`; of its owner `account_closed`, `plan_required`, `team_archived`; of the bubble `bubble_not_readable`, `not_participating`, `event_expired`',
        examples: ['not_participating'],
      }),
    created_at: Timestamp,
    finished_at: Timestamp.nullable(),
    next_attempt_at: Timestamp.nullable(),
    attempts: z.array(WebhookAttempt).meta({ description: 'The last 50, oldest first' }),
  })
  .meta({ id: 'WebhookDeliveryRecord', examples: examplesOf('WebhookDeliveryRecord') });
export type WebhookDeliveryRecord = z.infer<typeof WebhookDeliveryRecord>;

export const WebhookDeliveryDetail = WebhookDeliveryRecord.extend({
  request: z
    .object({
      headers: z
        .record(z.string(), z.string())
        .meta({ description: 'The signature with its time alone: the rest of it would let whoever reads this pass for us' }),
      body: z
        .string()
        .nullable()
        .meta({ description: 'The very text that was sent; null when it is not kept any more, or you may no longer read the bubble' }),
    })
    .nullable()
    .meta({ description: 'Of the last attempt; null before the first' }),
}).meta({ id: 'WebhookDeliveryDetail' });
export type WebhookDeliveryDetail = z.infer<typeof WebhookDeliveryDetail>;

export const WebhookDeliveryList = z
  .object({ data: z.array(WebhookDeliveryRecord), has_more: z.boolean(), next_cursor: z.string().nullable() })
  .meta({ id: 'WebhookDeliveryList' });
export type WebhookDeliveryList = z.infer<typeof WebhookDeliveryList>;

export const WebhookRedeliveryQueued = z
  .object({ id: DeliveryId, type: Type, status: z.literal('queued') })
  .meta({ id: 'WebhookRedeliveryQueued' });
export type WebhookRedeliveryQueued = z.infer<typeof WebhookRedeliveryQueued>;

export const ReplayWebhookRequest = z
  .object({
    since: Since,
    until: Before.exactOptional().meta({ description: 'Only deliveries made before it; when absent, those made before this request' }),
  })
  .meta({ id: 'ReplayWebhookRequest' });
export type ReplayWebhookRequest = z.infer<typeof ReplayWebhookRequest>;

export const WebhookReplayQueued = z
  .object({
    id: ReplayId,
    since: Timestamp,
    until: Timestamp,
    status: z.literal('queued'),
  })
  .meta({ id: 'WebhookReplayQueued' });
export type WebhookReplayQueued = z.infer<typeof WebhookReplayQueued>;

const WebhookFailure = WebhookAttempt.extend({ delivery_id: DeliveryId }).meta({ id: 'WebhookFailure' });

export const WebhookFailures = z
  .object({
    status: WebhookSubscription.shape.status,
    disabled_at: Timestamp.nullable(),
    disabled_reason: z.string().nullable(),
    consecutive_failures: z.int().meta({ description: 'Failed attempts since the last success or since it was enabled; 20 disable' }),
    data: z
      .array(WebhookFailure)
      .meta({ description: 'These attempts with what the receiver answered, newest first, the latest 20 at most' }),
  })
  .meta({ id: 'WebhookFailures' });
export type WebhookFailures = z.infer<typeof WebhookFailures>;

export const ListDeliveriesQuery = PageQuery.extend({ status: Status.optional().meta({ description: 'Only deliveries of this status' }) });
export type ListDeliveriesQuery = z.infer<typeof ListDeliveriesQuery>;
