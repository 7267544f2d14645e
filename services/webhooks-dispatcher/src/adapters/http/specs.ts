import { EXAMPLE_IDS } from '@bubbles/contracts/api/examples.ts';
import { WebhookSubscriptionList, WebhookSubscriptionPage } from '@bubbles/contracts/api/lists.ts';
import { OptionalPageQuery } from '@bubbles/contracts/api/query.ts';
import { CallerId } from '@bubbles/contracts/api/text.ts';
import {
  CreateWebhookRequest,
  RotateWebhookSecretRequest,
  UpdateWebhookRequest,
  WebhookSecretRotated,
  WebhookSubscription,
  WebhookSubscriptionCreated,
  WebhookTestQueued,
} from '@bubbles/contracts/api/webhook.ts';
import {
  ListDeliveriesQuery,
  ReplayWebhookRequest,
  WebhookDeliveryDetail,
  WebhookDeliveryList,
  WebhookFailures,
  WebhookRedeliveryQueued,
  WebhookReplayQueued,
} from '@bubbles/contracts/api/webhook-delivery.ts';
import { defineRoute } from '@bubbles/http/routes/define-route.ts';
import { z } from 'zod';

const SCOPE = 'webhooks:manage';
const common = { tag: 'Webhooks', auth: { kind: 'pat', scope: SCOPE } } as const;
const ById = z.object({ id: CallerId.meta({ description: 'Of the subscription', examples: [EXAMPLE_IDS.subscription] }) });

const ByDelivery = ById.extend({ delivery_id: CallerId.meta({ description: 'Of the delivery', examples: [EXAMPLE_IDS.delivery] }) });

export const createWebhook = defineRoute({
  ...common,
  auth: { kind: 'pat+session', scope: SCOPE },
  method: 'POST',
  path: '/v1/webhooks',
  operationId: 'createWebhook',
  summary: 'Subscribe a receiver',
  description:
    'The secret is in this response and nowhere else. Every delivery is signed with it. 409 `invalid_request` says that you, or the team, have as many subscriptions as there may be (100 a user and 1,000 a team unless the operator sets other limits).',
  body: CreateWebhookRequest,
  success: { status: 201, schema: WebhookSubscriptionCreated },
  errors: ['forbidden', 'limit_reached'],
  idempotent: true,
  secret: true,
});

export const listWebhooks = defineRoute({
  ...common,
  method: 'GET',
  path: '/v1/webhooks',
  operationId: 'listWebhooks',
  summary: 'List your subscriptions',
  description: 'Newest first. Answers all of them; a page of them (an extension) when `limit` or `cursor` is sent.',
  query: OptionalPageQuery,
  success: { status: 200, schema: z.union([WebhookSubscriptionPage, WebhookSubscriptionList]) },
  errors: ['forbidden'],
});

export const getWebhook = defineRoute({
  ...common,
  method: 'GET',
  path: '/v1/webhooks/{id}',
  operationId: 'getWebhook',
  summary: 'Read one subscription',
  params: ById,
  success: { status: 200, schema: WebhookSubscription },
  errors: ['forbidden', 'not_found'],
});

export const updateWebhook = defineRoute({
  ...common,
  method: 'PATCH',
  path: '/v1/webhooks/{id}',
  operationId: 'updateWebhook',
  summary: 'Change a subscription',
  description:
    'Each field that is sent replaces the old value. `status: active` enables a disabled subscription and forgets its failures; on an active one it changes nothing, and its failures in a row stay counted. Team and channel stay what they are: for others delete it and create a new one. The secret is replaced with `POST …/secret`.',
  params: ById,
  body: UpdateWebhookRequest,
  success: { status: 200, schema: WebhookSubscription },
  errors: ['forbidden', 'not_found'],
});

export const deleteWebhook = defineRoute({
  ...common,
  method: 'DELETE',
  path: '/v1/webhooks/{id}',
  operationId: 'deleteWebhook',
  summary: 'Delete a subscription',
  description: 'No attempt begins after this has answered.',
  params: ById,
  success: { status: 204, schema: null },
  errors: ['forbidden', 'not_found'],
});

export const rotateWebhookSecret = defineRoute({
  ...common,
  method: 'POST',
  path: '/v1/webhooks/{id}/secret',
  operationId: 'rotateWebhookSecret',
  summary: 'Replace the secret of a subscription',
  description:
    'The new secret is in this response and nowhere else. For `overlap_seconds` each delivery carries two signatures, `t=…,v1=<new>,v1=<old>`, so that receivers can change over; a secret before the old one signs no more.',
  params: ById,
  body: RotateWebhookSecretRequest,
  success: { status: 201, schema: WebhookSecretRotated },
  errors: ['forbidden', 'not_found'],
  idempotent: true,
  secret: true,
  extension: true,
});

export const testWebhook = defineRoute({
  ...common,
  method: 'POST',
  path: '/v1/webhooks/{id}/test',
  operationId: 'testWebhook',
  summary: 'Queue a synthetic delivery',
  description:
    'A `webhook.test` event through the signed path, with a bubble that does not exist. A disabled subscription gets one attempt. More than 60 a minute (unless the operator sets another limit) are refused with 429.',
  params: ById,
  success: { status: 202, schema: WebhookTestQueued },
  errors: ['forbidden', 'not_found'],
  idempotent: true,
});

export const listDeliveries = defineRoute({
  ...common,
  method: 'GET',
  path: '/v1/webhooks/{id}/deliveries',
  operationId: 'listWebhookDeliveries',
  summary: 'List the deliveries of a subscription',
  description: 'Newest first, each with its last 50 attempts. Kept for 30 days.',
  params: ById,
  query: ListDeliveriesQuery,
  success: { status: 200, schema: WebhookDeliveryList },
  errors: ['forbidden', 'not_found'],
  extension: true,
});

export const getDelivery = defineRoute({
  ...common,
  method: 'GET',
  path: '/v1/webhooks/{id}/deliveries/{delivery_id}',
  operationId: 'getWebhookDelivery',
  summary: 'Read one delivery with what was sent',
  params: ByDelivery,
  success: { status: 200, schema: WebhookDeliveryDetail },
  errors: ['forbidden', 'not_found'],
  extension: true,
});

export const replayWebhook = defineRoute({
  ...common,
  method: 'POST',
  path: '/v1/webhooks/{id}/replay',
  operationId: 'replayWebhook',
  summary: 'Send the failed deliveries of a span again',
  description:
    'Queues every delivery of the subscription that was made in the span and reached nobody: exhausted, cancelled, or missed while the subscription was disabled; tests are left out. Each keeps its delivery id and gets a schedule of its own. The work goes on after this answer, from the newest to the oldest, at the pace at which the receiver takes it, and ends when the subscription is disabled or deleted. Before each attempt the service asks whether you may still read the bubble. 409 `invalid_request` when the subscription is disabled or a replay of it is in progress.',
  params: ById,
  body: ReplayWebhookRequest,
  success: { status: 202, schema: WebhookReplayQueued },
  errors: ['forbidden', 'not_found', 'out_of_order'],
  idempotent: true,
  extension: true,
});

export const listFailures = defineRoute({
  ...common,
  method: 'GET',
  path: '/v1/webhooks/{id}/failures',
  operationId: 'listWebhookFailures',
  summary: 'See why a subscription is disabled',
  description: 'The failed attempts in a row, with what the receiver answered. Empty after a success.',
  params: ById,
  success: { status: 200, schema: WebhookFailures },
  errors: ['forbidden', 'not_found'],
  extension: true,
});

export const redeliverWebhook = defineRoute({
  ...common,
  method: 'POST',
  path: '/v1/webhooks/{id}/deliveries/{delivery_id}/redeliver',
  operationId: 'redeliverWebhook',
  summary: 'Send a delivery again',
  description:
    'Under the same delivery id, with a schedule of its own, and the same body as before: what `GET /v1/bubbles/{id}` showed when the bubble became ready. Nothing is sent when its recording was removed or may no longer be read; the delivery is then `cancelled`. One that is still pending is left as it is, unless the subscription has been enabled anew since it was queued. 409 `invalid_request` under a disabled subscription, where only a test is sent again.',
  params: ByDelivery,
  success: { status: 202, schema: WebhookRedeliveryQueued },
  errors: ['forbidden', 'not_found', 'out_of_order'],
  idempotent: true,
  extension: true,
});
