import { route } from '@bubbles/http/routes/define-route.ts';
import type { Caller, Route } from '@bubbles/http/routes/route.ts';
import { keysetPage } from '@bubbles/kernel/cursors.ts';
import type { App } from '../../app.ts';
import type { Owner } from '../../use-cases/subscriptions.ts';
import type { Cursors } from './cursors.ts';
import { filtersOf, presentDelivery, presentDeliveryDetail, presentFailures, presentReplay, presentSubscription } from './present.ts';
import {
  createWebhook,
  deleteWebhook,
  getDelivery,
  getWebhook,
  listDeliveries,
  listFailures,
  listWebhooks,
  redeliverWebhook,
  replayWebhook,
  rotateWebhookSecret,
  testWebhook,
  updateWebhook,
} from './specs.ts';

const ownerOf = ({ userId }: Caller): Owner => ({ userId });

export const routes = (app: App, cursors: Cursors): readonly Route[] => [
  route(createWebhook, async ({ caller, body: { url, events, team_id, space_id, filters }, ids }) => {
    const request = { url, events, teamId: team_id ?? null, spaceId: space_id ?? null, filters: filters ? filtersOf(filters) : null, ids };
    const { subscription, secret } = await app.createSubscription(ownerOf(caller), request);
    return { ...presentSubscription(subscription), secret };
  }),
  route(listWebhooks, async ({ caller, query }) => {
    if (query === null) {
      const all = await app.listSubscriptions(ownerOf(caller), { position: null, limit: null });
      return { data: all.map(presentSubscription) };
    }
    const { limit, cursor } = query;
    const scope = [caller.userId];
    const position = cursor === undefined ? null : cursors.subscriptions.decode(cursor, scope);
    const found = await app.listSubscriptions(ownerOf(caller), { position, limit: limit + 1 });
    const { rows, next } = keysetPage({ rows: found, limit, encode: (last) => cursors.subscriptions.encode(last, scope) });
    return { data: rows.map(presentSubscription), has_more: next !== null, next_cursor: next };
  }),
  route(getWebhook, async ({ caller, params }) => presentSubscription(await app.getSubscription(ownerOf(caller), params.id))),
  route(updateWebhook, async ({ caller, params, body: { filters, ...patch } }) =>
    presentSubscription(
      await app.changeSubscription(ownerOf(caller), params.id, { ...patch, ...(filters ? { filters: filtersOf(filters) } : {}) }),
    ),
  ),
  route(deleteWebhook, ({ caller, params }) => app.deleteSubscription(ownerOf(caller), params.id)),
  route(rotateWebhookSecret, async ({ caller, params, body, ids }) => {
    const rotation = { id: params.id, overlapSeconds: body.overlap_seconds, ids };
    const { secret, subscription } = await app.rotateSecret(ownerOf(caller), rotation);
    return { id: subscription.id, secret, previous_secret_expires_at: subscription.previousSecret?.until.toISOString() ?? null };
  }),
  route(testWebhook, async ({ caller, params, ids }) => {
    const { id } = await app.testSubscription(ownerOf(caller), params.id, ids);
    return { id, type: 'webhook.test' as const, status: 'queued' as const };
  }),
  route(listDeliveries, async ({ caller, params, query: { limit, cursor, status = null } }) => {
    const scope = [caller.userId, params.id, status];
    const position = cursor === undefined ? null : cursors.deliveries.decode(cursor, scope);
    const found = await app.listDeliveries(ownerOf(caller), params.id, { status, position, limit: limit + 1 });
    const { rows, next } = keysetPage({ rows: found, limit, encode: (last) => cursors.deliveries.encode(last, scope) });
    return { data: rows.map(presentDelivery), has_more: next !== null, next_cursor: next };
  }),
  route(getDelivery, async ({ caller, params }) =>
    presentDeliveryDetail(await app.readDelivery(ownerOf(caller), { subscriptionId: params.id, id: params.delivery_id })),
  ),
  route(replayWebhook, async ({ caller, params, body: { since, until }, ids }) => {
    const request = { subscriptionId: params.id, since: new Date(since), until: until === undefined ? null : new Date(until), ids };
    return presentReplay(await app.requestReplay(ownerOf(caller), request));
  }),
  route(listFailures, async ({ caller, params }) => presentFailures(await app.listFailures(ownerOf(caller), params.id))),
  route(redeliverWebhook, async ({ caller, params, ids }) => {
    const { id, type } = await app.redeliver(ownerOf(caller), { subscriptionId: params.id, id: params.delivery_id, ids });
    return { id, type, status: 'queued' as const };
  }),
];
