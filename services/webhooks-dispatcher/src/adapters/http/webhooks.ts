import { pat, patOrSession } from '@bubbles/auth/guards.ts';
import { EXAMPLE_IDS } from '@bubbles/contracts/api/examples.ts';
import { CallerId } from '@bubbles/contracts/api/fields.ts';
import { OptionalPageQuery } from '@bubbles/contracts/api/query.ts';
import {
  CreateWebhookRequest,
  RotateWebhookSecretRequest,
  UpdateWebhookRequest,
  WebhookSecretRotated,
  WebhookSubscription,
  WebhookSubscriptionCreated,
  WebhookSubscriptionList,
  WebhookSubscriptionPage,
  WebhookTestQueued,
} from '@bubbles/contracts/api/webhook.ts';
import { WebhookFailures } from '@bubbles/contracts/api/webhook-delivery.ts';
import { empty, json } from '@bubbles/http/routes/content.ts';
import { route } from '@bubbles/http/routes/route.ts';
import { keysetPage } from '@bubbles/kernel/cursors.ts';
import { z } from 'zod';
import type { App } from '../../app.ts';
import type { Cursors } from './cursors.ts';
import { filtersOf, presentFailures, presentSubscription } from './present.ts';

const SCOPE = 'webhooks:manage';
export const common = { tag: 'Webhooks', guard: pat(SCOPE) } as const;
export const ById = z.object({ id: CallerId.meta({ description: 'Of the subscription', examples: [EXAMPLE_IDS.subscription] }) });

const createWebhook = (app: App) =>
  route(
    {
      ...common,
      guard: patOrSession(SCOPE),
      method: 'POST',
      path: '/v1/webhooks',
      operationId: 'createWebhook',
      summary: 'Subscribe a receiver',
      description:
        'The secret is in this response and nowhere else. Every delivery is signed with it. 409 `invalid_request` says that you, or the team, have as many subscriptions as there may be (100 a user and 1,000 a team unless the operator sets other limits).',
      body: CreateWebhookRequest,
      answers: { 201: json(WebhookSubscriptionCreated) },
      errors: ['forbidden', 'limit_reached'],
      idempotent: true,
      secret: true,
    },
    async ({ caller, body: { url, events, team_id, space_id, filters }, ids }) => {
      const request = {
        url,
        events,
        teamId: team_id ?? null,
        spaceId: space_id ?? null,
        filters: filters ? filtersOf(filters) : null,
        ids,
      };
      const { subscription, secret } = await app.createSubscription(caller, request);
      return { ...presentSubscription(subscription), secret };
    },
  );

const listWebhooks = (app: App, cursors: Cursors) =>
  route(
    {
      ...common,
      method: 'GET',
      path: '/v1/webhooks',
      operationId: 'listWebhooks',
      summary: 'List your subscriptions',
      description: 'Newest first. Answers all of them; a page of them (an extension) when `limit` or `cursor` is sent.',
      query: OptionalPageQuery,
      answers: { 200: json(z.union([WebhookSubscriptionPage, WebhookSubscriptionList])) },
      errors: ['forbidden'],
    },
    async ({ caller, query }) => {
      if (query === null) {
        const all = await app.listSubscriptions(caller, { position: null, limit: null });
        return { data: all.map(presentSubscription) };
      }
      const { limit, cursor } = query;
      const scope = [caller.userId];
      const position = cursors.subscriptions.decode(cursor, scope);
      const found = await app.listSubscriptions(caller, { position, limit: limit + 1 });
      const { rows, next } = keysetPage({ rows: found, limit, encode: (last) => cursors.subscriptions.encode(last, scope) });
      return { data: rows.map(presentSubscription), has_more: next !== null, next_cursor: next };
    },
  );

const getWebhook = (app: App) =>
  route(
    {
      ...common,
      method: 'GET',
      path: '/v1/webhooks/{id}',
      operationId: 'getWebhook',
      summary: 'Read one subscription',
      params: ById,
      answers: { 200: json(WebhookSubscription) },
      errors: ['forbidden', 'not_found'],
    },
    async ({ caller, params }) => presentSubscription(await app.getSubscription(caller, params.id)),
  );

const updateWebhook = (app: App) =>
  route(
    {
      ...common,
      method: 'PATCH',
      path: '/v1/webhooks/{id}',
      operationId: 'updateWebhook',
      summary: 'Change a subscription',
      description:
        'Each field that is sent replaces the old value. `status: active` enables a disabled subscription and forgets its failures; on an active one it changes nothing, and its failures in a row stay counted. Team and channel stay what they are: for others delete it and create a new one. The secret is replaced with `POST …/secret`.',
      params: ById,
      body: UpdateWebhookRequest,
      answers: { 200: json(WebhookSubscription) },
      errors: ['forbidden', 'not_found'],
    },
    async ({ caller, params, body: { filters, ...patch } }) =>
      presentSubscription(
        await app.changeSubscription(caller, params.id, { ...patch, ...(filters ? { filters: filtersOf(filters) } : {}) }),
      ),
  );

const deleteWebhook = (app: App) =>
  route(
    {
      ...common,
      method: 'DELETE',
      path: '/v1/webhooks/{id}',
      operationId: 'deleteWebhook',
      summary: 'Delete a subscription',
      description: 'No attempt begins after this has answered.',
      params: ById,
      answers: { 204: empty },
      errors: ['forbidden', 'not_found'],
    },
    ({ caller, params }) => app.deleteSubscription(caller, params.id),
  );

const rotateWebhookSecret = (app: App) =>
  route(
    {
      ...common,
      method: 'POST',
      path: '/v1/webhooks/{id}/secret',
      operationId: 'rotateWebhookSecret',
      summary: 'Replace the secret of a subscription',
      description:
        'The new secret is in this response and nowhere else. For `overlap_seconds` each delivery carries two signatures, `t=…,v1=<new>,v1=<old>`, so that receivers can change over; a secret before the old one signs no more.',
      params: ById,
      body: RotateWebhookSecretRequest,
      answers: { 201: json(WebhookSecretRotated) },
      errors: ['forbidden', 'not_found'],
      idempotent: true,
      secret: true,
      extension: true,
    },
    async ({ caller, params, body, ids }) => {
      const rotation = { id: params.id, overlapSeconds: body.overlap_seconds, ids };
      const { secret, subscription } = await app.rotateSecret(caller, rotation);
      return { id: subscription.id, secret, previous_secret_expires_at: subscription.previousSecret?.until.toISOString() ?? null };
    },
  );

const testWebhook = (app: App) =>
  route(
    {
      ...common,
      method: 'POST',
      path: '/v1/webhooks/{id}/test',
      operationId: 'testWebhook',
      summary: 'Queue a synthetic delivery',
      description:
        'A `webhook.test` event through the signed path, with a bubble that does not exist. A disabled subscription gets one attempt. More than 60 a minute (unless the operator sets another limit) are refused with 429.',
      params: ById,
      answers: { 202: json(WebhookTestQueued) },
      errors: ['forbidden', 'not_found'],
      idempotent: true,
    },
    async ({ caller, params, ids }) => {
      const { id } = await app.testSubscription(caller, params.id, ids);
      return { id, type: 'webhook.test' as const, status: 'queued' as const };
    },
  );

const listFailures = (app: App) =>
  route(
    {
      ...common,
      method: 'GET',
      path: '/v1/webhooks/{id}/failures',
      operationId: 'listWebhookFailures',
      summary: 'See why a subscription is disabled',
      description: 'The failed attempts in a row, with what the receiver answered. Empty after a success.',
      params: ById,
      answers: { 200: json(WebhookFailures) },
      errors: ['forbidden', 'not_found'],
      extension: true,
    },
    async ({ caller, params }) => presentFailures(await app.listFailures(caller, params.id)),
  );

export const webhookRoutes = (app: App, cursors: Cursors) => [
  createWebhook(app),
  listWebhooks(app, cursors),
  getWebhook(app),
  updateWebhook(app),
  deleteWebhook(app),
  rotateWebhookSecret(app),
  testWebhook(app),
  listFailures(app),
];
