import { EXAMPLE_IDS } from '@bubbles/contracts/api/examples.ts';
import { createInternalClient } from '@bubbles/http/client/internal-client.ts';
import { createWebhooks } from '@bubbles/identity-and-oauth/adapters/services/webhooks.ts';
import type { Webhooks } from '@bubbles/identity-and-oauth/webhook-ports.ts';
import { describe, expect, it } from '@jest/globals';
import { Matchers } from '@pact-foundation/pact';
import { AT } from '../examples.ts';
import { calledBy, pactBetween, readBy, tokensOf } from '../pacts.ts';

const CONSUMER = 'identity-and-oauth';
const STATE = 'a subscription whose receiver is away';
const ASSERTION = 'what-identity-says';
const FORM = '0b7c1f64-3a52-4d0e-9f18-6c2a7e5d4b31';
const { subscription: ID, delivery: DELIVERY_ID } = EXAMPLE_IDS;

const subscription = {
  id: ID,
  url: 'https://127.0.0.1:40009/hooks',
  events: ['bubble.ready'],
  status: 'active',
  last_success_at: AT,
  last_failure_at: AT,
  disabled_reason: 'delivery_failures',
};
const attempt = { started_at: AT, duration_ms: 12, outcome: 'connect', status: 500, detail: 'Refused.' };
const delivery = {
  id: DELIVERY_ID,
  type: 'webhook.test',
  status: 'pending',
  cancelled_reason: 'plan_required',
  created_at: AT,
  next_attempt_at: AT,
  attempts: [attempt],
};

/** What the pages read of the answer to what they ask. */
const shown = (ask: (webhooks: Webhooks) => Promise<unknown>, example: object) =>
  readBy((client) => ask(createWebhooks(() => client)), example);

const webhooksAt = (url: string) => {
  const client = createInternalClient({ callee: 'webhooks-dispatcher', baseUrls: [url], tokens: tokensOf(CONSUMER) });
  return createWebhooks(() => client);
};

const headers = { ...calledBy(CONSUMER), 'x-internal-assertion': Matchers.regex('.+', ASSERTION) };
const of = (path: string) =>
  Matchers.fromProviderState(path.replaceAll('{', '$$$&'), path.replace('{id}', ID).replace('{delivery_id}', DELIVERY_ID));

const asking = (what: string) => pactBetween(CONSUMER, 'webhooks-dispatcher').addInteraction().given(STATE).uponReceiving(what);

describe('the pages of identity ask the dispatcher for who is signed in', () => {
  it('for the subscriptions, page by page', async () => {
    const { body, rules } = await shown((webhooks) => webhooks.list(ASSERTION, null), { data: [subscription], next_cursor: 'next' });
    await asking('a question for the first page of the subscriptions')
      .withRequest('GET', '/v1/webhooks', (request) => {
        request.headers(headers).query({ limit: '25' });
      })
      .willRespondWith(200, (response) => {
        response.jsonBody(body).matchingRules({ body: [...rules] });
      })
      .executeTest(async ({ url }) => {
        const { rows, next } = await webhooksAt(url).list(ASSERTION, null);
        expect(rows).toMatchObject([{ id: ID, url: subscription.url, disabledBecause: null, succeededAt: new Date(AT) }]);
        expect(next).toBe('next');
      });
  });

  it('for one of them', async () => {
    const { body, rules } = await shown((webhooks) => webhooks.get(ASSERTION, ID), subscription);
    await asking('a question for a subscription')
      .withRequest('GET', of('/v1/webhooks/{id}'), (request) => {
        request.headers(headers);
      })
      .willRespondWith(200, (response) => {
        response.jsonBody(body).matchingRules({ body: [...rules] });
      })
      .executeTest(async ({ url }) => {
        expect(await webhooksAt(url).get(ASSERTION, ID)).toMatchObject({ id: ID, events: ['bubble.ready'] });
      });
  });

  it('for its deliveries with their attempts', async () => {
    const { body, rules } = await shown((webhooks) => webhooks.deliveries(ASSERTION, { webhookId: ID, after: null }), {
      data: [delivery],
      next_cursor: 'next',
    });
    await asking('a question for the deliveries of a subscription')
      .withRequest('GET', of('/v1/webhooks/{id}/deliveries'), (request) => {
        request.headers(headers).query({ limit: '25' });
      })
      .willRespondWith(200, (response) => {
        response.jsonBody(body).matchingRules({ body: [...rules] });
      })
      .executeTest(async ({ url }) => {
        const { rows } = await webhooksAt(url).deliveries(ASSERTION, { webhookId: ID, after: null });
        expect(rows).toMatchObject([{ id: DELIVERY_ID, state: 'pending', tries: [{ outcome: 'connect', tookMs: 12, httpStatus: 500 }] }]);
      });
  });

  it('to send a test', async () => {
    const { body, rules } = await shown((webhooks) => webhooks.test(ASSERTION, { webhookId: ID, form: FORM }), {});
    await asking('a request to test a subscription')
      .withRequest('POST', of('/v1/webhooks/{id}/test'), (request) => {
        request.headers({ ...headers, 'idempotency-key': Matchers.regex('.+', FORM) });
      })
      .willRespondWith(202, (response) => {
        response.jsonBody(body).matchingRules({ body: [...rules] });
      })
      .executeTest(async ({ url }) => {
        await expect(webhooksAt(url).test(ASSERTION, { webhookId: ID, form: FORM })).resolves.toBeUndefined();
      });
  });

  it('to send a delivery again', async () => {
    const { body, rules } = await shown((webhooks) => webhooks.redeliver(ASSERTION, { webhookId: ID, id: DELIVERY_ID, form: FORM }), {});
    await asking('a request to send a delivery again')
      .withRequest('POST', of('/v1/webhooks/{id}/deliveries/{delivery_id}/redeliver'), (request) => {
        request.headers({ ...headers, 'idempotency-key': Matchers.regex('.+', FORM) });
      })
      .willRespondWith(202, (response) => {
        response.jsonBody(body).matchingRules({ body: [...rules] });
      })
      .executeTest(async ({ url }) => {
        await expect(webhooksAt(url).redeliver(ASSERTION, { webhookId: ID, id: DELIVERY_ID, form: FORM })).resolves.toBeUndefined();
      });
  });

  it('and passes on what it refuses', async () => {
    await asking('a question for a subscription of somebody else')
      .withRequest('GET', '/v1/webhooks/wh_0123456789abcdefghijkl', (request) => {
        request.headers(headers);
      })
      .willRespondWith(404, (response) => {
        response.jsonBody({ error: { type: 'not_found', message: 'Not found.' } });
      })
      .executeTest(async ({ url }) => {
        await expect(webhooksAt(url).get(ASSERTION, 'wh_0123456789abcdefghijkl')).rejects.toMatchObject({ kind: 'not_found' });
      });
  });
});
