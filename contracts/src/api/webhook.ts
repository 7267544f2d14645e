import { z } from 'zod';
import { Bubble, BubbleType } from './bubble.ts';
import { examplesOf } from './examples.ts';
import { CallerId, hasAtMost, PAGE_FIELDS, Timestamp } from './fields.ts';
import { ChannelId, DeliveryId, EventId, SubscriptionId, TeamId } from './ids.ts';

const URL_MAX_CHARACTERS = 2048;

const WebhookEventType = z.enum(['bubble.ready', 'meeting_recording.ready', 'screen_recording.ready']).meta({ id: 'WebhookEventType' });

/** Sent and echoed alike: the one place of a response where a field may be absent. */
export const WebhookSubscriptionFilters = z
  .object({
    bubble_types: z
      .array(BubbleType)
      .min(1, 'must name at least one')
      .overwrite((types) => [...new Set(types)])
      .meta({ description: 'Repeated ones count once' })
      .exactOptional(),
    only_my_bubbles: z.boolean().exactOptional().meta({ description: 'Only bubbles that the subscriber authored' }),
  })
  .meta({ id: 'WebhookSubscriptionFilters' });
export type WebhookSubscriptionFilters = z.infer<typeof WebhookSubscriptionFilters>;

const ReceiverUrl = z
  .string()
  .min(1, 'must not be empty')
  .refine((url) => hasAtMost(url, URL_MAX_CHARACTERS), `must have at most ${URL_MAX_CHARACTERS} characters`)
  .meta({
    maxLength: URL_MAX_CHARACTERS,
    description: 'https receiver on a public address; its length counts percent-encoded, as it is sent',
  });
const RequestedEvents = z
  .array(WebhookEventType)
  .min(1, 'must name at least one')
  .overwrite((events) => [...new Set(events)])
  .meta({ description: 'Repeated ones count once' });

export const CreateWebhookRequest = z
  .object({
    url: ReceiverUrl,
    events: RequestedEvents,
    team_id: CallerId.exactOptional().meta({ description: 'Only bubbles of this team' }),
    space_id: CallerId.exactOptional().meta({ description: 'Only bubbles of this channel' }),
    filters: WebhookSubscriptionFilters.exactOptional(),
  })
  .meta({ id: 'CreateWebhookRequest', examples: examplesOf('CreateWebhookRequest') });
export type CreateWebhookRequest = z.infer<typeof CreateWebhookRequest>;

export const UpdateWebhookRequest = z
  .object({
    url: ReceiverUrl.exactOptional(),
    events: RequestedEvents.exactOptional(),
    filters: WebhookSubscriptionFilters.exactOptional().meta({ description: 'Replaces all filters; `{}` clears them' }),
    status: z.literal('active').exactOptional().meta({ description: 'Enables a disabled subscription' }),
  })
  .meta({
    id: 'UpdateWebhookRequest',
    examples: examplesOf('UpdateWebhookRequest'),
    description: 'Each field that is sent replaces the old value; the others stay',
  });
export type UpdateWebhookRequest = z.infer<typeof UpdateWebhookRequest>;

const WebhookSubscriptionStatus = z.enum(['active', 'disabled']).meta({ id: 'WebhookSubscriptionStatus' });

export const WebhookSubscription = z
  .object({
    id: SubscriptionId,
    url: z.string(),
    events: z.array(WebhookEventType),
    team_id: TeamId.nullable().meta({ description: 'Null for all teams' }),
    space_id: ChannelId.nullable().meta({ description: 'Channel, null for all' }),
    filters: WebhookSubscriptionFilters.nullable(),
    status: WebhookSubscriptionStatus,
    created_at: Timestamp,
    last_success_at: Timestamp.nullable(),
    last_failure_at: Timestamp.nullable(),
    disabled_at: Timestamp.nullable(),
    disabled_reason: z
      .string()
      .nullable()
      .meta({ examples: ['delivery_failures'] }),
  })
  .meta({ id: 'WebhookSubscription', examples: examplesOf('WebhookSubscription') });
export type WebhookSubscription = z.infer<typeof WebhookSubscription>;

export const WebhookSubscriptionCreated = WebhookSubscription.extend({
  secret: z
    .string()
    .meta({ description: 'Key of the signatures, prefix `whsec_`, shown this once', pattern: '^whsec_[A-Za-z0-9+/]{43}=$' }),
}).meta({ id: 'WebhookSubscriptionCreated', examples: examplesOf('WebhookSubscriptionCreated') });
export type WebhookSubscriptionCreated = z.infer<typeof WebhookSubscriptionCreated>;

const DAY_SECONDS = 86_400;
const MAX_OVERLAP_SECONDS = 7 * DAY_SECONDS;

/** An extension of the interface, with its answer. */
export const RotateWebhookSecretRequest = z
  .object({
    overlap_seconds: z
      .int()
      .min(0)
      .max(MAX_OVERLAP_SECONDS)
      .default(DAY_SECONDS)
      .meta({ description: 'How long deliveries are signed with the old secret too; 0 when it has leaked' }),
  })
  .meta({ id: 'RotateWebhookSecretRequest' });
export type RotateWebhookSecretRequest = z.infer<typeof RotateWebhookSecretRequest>;

export const WebhookSecretRotated = z
  .object({
    id: SubscriptionId,
    secret: z.string().meta({ description: 'The new key of the signatures, prefix `whsec_`, shown this once' }),
    previous_secret_expires_at: Timestamp.nullable().meta({ description: 'Until then the old secret signs too; null when it does not' }),
  })
  .meta({ id: 'WebhookSecretRotated' });
export type WebhookSecretRotated = z.infer<typeof WebhookSecretRotated>;

export const WebhookTestQueued = z
  .object({
    id: DeliveryId,
    type: z.literal('webhook.test'),
    status: z.literal('queued'),
  })
  .meta({ id: 'WebhookTestQueued' });
export type WebhookTestQueued = z.infer<typeof WebhookTestQueued>;

const WebhookDeliveryType = z.enum([...WebhookEventType.options, 'webhook.test']).meta({ id: 'WebhookDeliveryType' });

/** The body of each POST to a receiver. */
export const WebhookDelivery = z
  .object({
    id: EventId,
    type: WebhookDeliveryType,
    created_at: Timestamp,
    data: z.object({ bubble: Bubble }),
  })
  .meta({ id: 'WebhookDelivery', examples: examplesOf('WebhookDelivery') });
export type WebhookDelivery = z.infer<typeof WebhookDelivery>;

export const WebhookSubscriptionList = z
  .object({ data: z.array(WebhookSubscription) })
  .meta({ id: 'WebhookSubscriptionList', examples: examplesOf('WebhookSubscriptionList') });
export type WebhookSubscriptionList = z.infer<typeof WebhookSubscriptionList>;

/** An extension of the interface: what a list of subscriptions is when a page of it is asked for. */
export const WebhookSubscriptionPage = z
  .object({ data: z.array(WebhookSubscription), ...PAGE_FIELDS })
  .meta({ id: 'WebhookSubscriptionPage' });
export type WebhookSubscriptionPage = z.infer<typeof WebhookSubscriptionPage>;
