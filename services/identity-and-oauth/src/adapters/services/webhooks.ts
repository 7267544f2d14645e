import { callsFor } from '@bubbles/http/client/calls-for.ts';
import type { InternalClient } from '@bubbles/http/client/internal-client.ts';
import { z } from 'zod';
import type { DeliveryLogEntry, DeliveryTry, Webhook } from '../../domain/webhook.ts';
import type { Webhooks } from '../../webhook-ports.ts';

const ROWS_PER_PAGE = '25';

/** The fields that pages show; unknown event types and states are shown by their name. */
const Time = z.iso.datetime({ offset: true });
const Subscription = z.object({
  id: z.string(),
  url: z.string(),
  events: z.array(z.string()),
  status: z.string(),
  disabled_reason: z.string().nullable(),
  last_success_at: Time.nullable(),
  last_failure_at: Time.nullable(),
});
const Attempt = z.object({
  started_at: Time,
  duration_ms: z.int(),
  outcome: z.string(),
  status: z.int().nullable(),
  detail: z.string().nullable(),
});
const Delivery = z.object({
  id: z.string(),
  type: z.string(),
  status: z.string(),
  cancelled_reason: z.string().nullable(),
  created_at: Time,
  next_attempt_at: Time.nullable(),
  attempts: z.array(Attempt),
});
const Subscriptions = z.object({ data: z.array(Subscription), next_cursor: z.string().nullable() });
const Deliveries = z.object({ data: z.array(Delivery), next_cursor: z.string().nullable() });
/** The status alone tells that it is queued. */
const Queued = z.object({});

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
    const call = { schema: Queued, idempotencyKey: form };
    await callsFor(dispatcher(), assertion)('POST', `${pathOf(webhookId)}/test`, call);
  },
  async redeliver(assertion, { webhookId, id, form }) {
    const path = `${pathOf(webhookId)}/deliveries/${encodeURIComponent(id)}/redeliver`;
    await callsFor(dispatcher(), assertion)('POST', path, { schema: Queued, idempotencyKey: form });
  },
});
