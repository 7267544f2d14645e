import { EXAMPLE_IDS } from '@bubbles/contracts/api/examples.ts';
import { CallerId } from '@bubbles/contracts/api/fields.ts';
import {
  ListDeliveriesQuery,
  ReplayWebhookRequest,
  WebhookDeliveryDetail,
  WebhookDeliveryList,
  WebhookRedeliveryQueued,
  WebhookReplayQueued,
} from '@bubbles/contracts/api/webhook-delivery.ts';
import { json } from '@bubbles/http/routes/content.ts';
import { route } from '@bubbles/http/routes/route.ts';
import { keysetPage } from '@bubbles/kernel/cursors.ts';
import type { App } from '../../app.ts';
import type { Cursors } from './cursors.ts';
import { presentDelivery, presentDeliveryDetail, presentReplay } from './present.ts';
import { ById, common } from './webhooks.ts';

const ByDelivery = ById.extend({ delivery_id: CallerId.meta({ description: 'Of the delivery', examples: [EXAMPLE_IDS.delivery] }) });

const listDeliveries = (app: App, cursors: Cursors) =>
  route(
    {
      ...common,
      method: 'GET',
      path: '/v1/webhooks/{id}/deliveries',
      operationId: 'listWebhookDeliveries',
      summary: 'List the deliveries of a subscription',
      description: 'Newest first, each with its last 50 attempts. Kept for 30 days.',
      params: ById,
      query: ListDeliveriesQuery,
      answers: { 200: json(WebhookDeliveryList) },
      errors: ['forbidden', 'not_found'],
      extension: true,
    },
    async ({ caller, params, query: { limit, cursor, status = null } }) => {
      const scope = [caller.userId, params.id, status];
      const position = cursors.deliveries.decode(cursor, scope);
      const found = await app.listDeliveries(caller, params.id, { status, position, limit: limit + 1 });
      const { rows, next } = keysetPage({ rows: found, limit, encode: (last) => cursors.deliveries.encode(last, scope) });
      return { data: rows.map(presentDelivery), has_more: next !== null, next_cursor: next };
    },
  );

const getDelivery = (app: App) =>
  route(
    {
      ...common,
      method: 'GET',
      path: '/v1/webhooks/{id}/deliveries/{delivery_id}',
      operationId: 'getWebhookDelivery',
      summary: 'Read one delivery with what was sent',
      params: ByDelivery,
      answers: { 200: json(WebhookDeliveryDetail) },
      errors: ['forbidden', 'not_found'],
      extension: true,
    },
    async ({ caller, params }) =>
      presentDeliveryDetail(await app.readDelivery(caller, { subscriptionId: params.id, id: params.delivery_id })),
  );

const redeliverWebhook = (app: App) =>
  route(
    {
      ...common,
      method: 'POST',
      path: '/v1/webhooks/{id}/deliveries/{delivery_id}/redeliver',
      operationId: 'redeliverWebhook',
      summary: 'Send a delivery again',
      description:
        'Under the same delivery id, with a schedule of its own, and the same body as before: what `GET /v1/bubbles/{id}` showed when the bubble became ready. Nothing is sent when its recording was removed or may no longer be read; the delivery is then `cancelled`. One that is still pending is left as it is, unless the subscription has been enabled again since it was queued. 409 `invalid_request` under a disabled subscription, where only a test is sent again.',
      params: ByDelivery,
      answers: { 202: json(WebhookRedeliveryQueued) },
      errors: ['forbidden', 'not_found', 'out_of_order'],
      idempotent: true,
      extension: true,
    },
    async ({ caller, params, ids }) => {
      const { id, type } = await app.redeliver(caller, { subscriptionId: params.id, id: params.delivery_id, ids });
      return { id, type, status: 'queued' as const };
    },
  );

const replayWebhook = (app: App) =>
  route(
    {
      ...common,
      method: 'POST',
      path: '/v1/webhooks/{id}/replay',
      operationId: 'replayWebhook',
      summary: 'Send the failed deliveries of a span again',
      description:
        'Queues every delivery of the subscription that was made in the span and reached nobody: exhausted, cancelled, or missed while the subscription was disabled; tests are left out. Each keeps its delivery id and gets a schedule of its own. The work goes on after this answer, from the newest to the oldest, at the pace at which the receiver takes it, and ends when the subscription is disabled or deleted. Before each attempt the service asks whether you may still read the bubble. 409 `invalid_request` when the subscription is disabled or a replay of it is in progress.',
      params: ById,
      body: ReplayWebhookRequest,
      answers: { 202: json(WebhookReplayQueued) },
      errors: ['forbidden', 'not_found', 'out_of_order'],
      idempotent: true,
      extension: true,
    },
    async ({ caller, params, body: { since, until }, ids }) => {
      const request = { subscriptionId: params.id, since: new Date(since), until: until === undefined ? null : new Date(until), ids };
      return presentReplay(await app.requestReplay(caller, request));
    },
  );

export const deliveryRoutes = (app: App, cursors: Cursors) => [
  listDeliveries(app, cursors),
  getDelivery(app),
  redeliverWebhook(app),
  replayWebhook(app),
];
