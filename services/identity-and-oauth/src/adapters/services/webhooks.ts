import { WebhookSubscription, WebhookSubscriptionPage, WebhookTestQueued } from '@bubbles/contracts/api/webhook.ts';
import { WebhookDeliveryList, WebhookDeliveryRecord, WebhookRedeliveryQueued } from '@bubbles/contracts/api/webhook-delivery.ts';
import { callsFor } from '@bubbles/http/client/calls-for.ts';
import type { InternalClient } from '@bubbles/http/client/internal-client.ts';
import { z } from 'zod';
import type { DeliveryLogEntry, DeliveryTry, Webhook } from '../../domain/webhook.ts';
import type { Webhooks } from '../../webhook-ports.ts';

const ROWS_PER_PAGE = '25';

/** What pages show: a new kind of event or attempt is shown as it is called. */
const Subscription = WebhookSubscription.pick({
  id: true,
  url: true,
  status: true,
  disabled_reason: true,
  last_success_at: true,
  last_failure_at: true,
}).extend({ events: z.array(z.string()) });
const Attempt = WebhookDeliveryRecord.shape.attempts.element.pick({
  started_at: true,
  duration_ms: true,
  outcome: true,
  status: true,
  detail: true,
});
const Delivery = WebhookDeliveryRecord.pick({ id: true, cancelled_reason: true, created_at: true, next_attempt_at: true }).extend({
  type: z.string(),
  status: z.string(),
  attempts: z.array(Attempt),
});
const Subscriptions = WebhookSubscriptionPage.pick({ next_cursor: true }).extend({ data: z.array(Subscription) });
const Deliveries = WebhookDeliveryList.pick({ next_cursor: true }).extend({ data: z.array(Delivery) });

const timeOrNull = (text: string | null): Date | null => (text === null ? null : new Date(text));

const webhookOf = (read: z.output<typeof Subscription>): Webhook => ({
  id: read.id,
  url: read.url,
  events: read.events,
  disabledBecause: read.status === 'active' ? null : (read.disabled_reason ?? read.status),
  succeededAt: timeOrNull(read.last_success_at),
  failedAt: timeOrNull(read.last_failure_at),
});

const tryOf = ({ started_at, duration_ms, outcome, status, detail }: z.output<typeof Attempt>): DeliveryTry => ({
  at: new Date(started_at),
  tookMs: duration_ms,
  outcome,
  httpStatus: status,
  detail,
});

const entryOf = ({ id, type, status, attempts, ...read }: z.output<typeof Delivery>): DeliveryLogEntry => ({
  id,
  type,
  state: status,
  cancelledBecause: read.cancelled_reason,
  madeAt: new Date(read.created_at),
  nextTryAt: timeOrNull(read.next_attempt_at),
  tries: attempts.map(tryOf),
});

const pathOf = (webhookId: string): string => `/v1/webhooks/${encodeURIComponent(webhookId)}`;
const queryOf = (after: string | null): string =>
  `?${new URLSearchParams({ limit: ROWS_PER_PAGE, ...(after !== null && { cursor: after }) })}`;

/** `dispatcher` opens the client when the first page asks for it: it is seldom needed and takes memory. */
export const createWebhooks = (dispatcher: () => InternalClient): Webhooks => ({
  async list(assertion, after) {
    const { data, next_cursor: next } = await callsFor(dispatcher(), assertion)('GET', `/v1/webhooks${queryOf(after)}`, {
      schema: Subscriptions,
    });
    return { rows: data.map(webhookOf), next };
  },
  get: async (assertion, id) => webhookOf(await callsFor(dispatcher(), assertion)('GET', pathOf(id), { schema: Subscription })),
  async deliveries(assertion, { webhookId, after }) {
    const path = `${pathOf(webhookId)}/deliveries${queryOf(after)}`;
    const { data, next_cursor: next } = await callsFor(dispatcher(), assertion)('GET', path, { schema: Deliveries });
    return { rows: data.map(entryOf), next };
  },
  async test(assertion, { webhookId, form }) {
    const call = { schema: WebhookTestQueued.pick({ id: true }), idempotencyKey: form };
    await callsFor(dispatcher(), assertion)('POST', `${pathOf(webhookId)}/test`, call);
  },
  async redeliver(assertion, { webhookId, id, form }) {
    const path = `${pathOf(webhookId)}/deliveries/${encodeURIComponent(id)}/redeliver`;
    await callsFor(dispatcher(), assertion)('POST', path, { schema: WebhookRedeliveryQueued.pick({ id: true }), idempotencyKey: form });
  },
});
