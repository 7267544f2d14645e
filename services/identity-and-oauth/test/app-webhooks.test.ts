import type { InternalClient } from '@bubbles/http/client/internal-client.ts';
import { CallRefused } from '@bubbles/http/client/internal-client.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { decodeJwt } from 'jose';
import { type Browser, browserOf, markupFaults, onlyForm } from './browser.ts';
import { type Person, startIdentity, type TestIdentity } from './identity.ts';

const PATH = '/app/webhooks';
const ID = 'wh_0123456789abcdefghijkl';
const DELIVERY = 'dlv_0123456789abcdefghijkl';
const AT = '2026-02-27T10:00:00.000Z';

const subscription = (fields: object = {}) => ({
  id: ID,
  url: 'https://receiver.example.com/hooks',
  events: ['bubble.ready', 'an.event.of.later'],
  status: 'active',
  last_success_at: null,
  last_failure_at: AT,
  disabled_reason: null,
  ...fields,
});
const attempt = { started_at: AT, duration_ms: 12, outcome: '5xx', status: 503, detail: 'Try <later>.' };
const delivery = (fields: object = {}) => ({
  id: DELIVERY,
  type: 'bubble.ready',
  status: 'exhausted',
  cancelled_reason: null,
  created_at: AT,
  next_attempt_at: null,
  attempts: [attempt],
  ...fields,
});

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly assertion: string | undefined;
  readonly idempotencyKey: string | undefined;
}

/** Answers by method and path; what has no answer is not found. */
const fakeDispatcher = () => {
  const asked: Asked[] = [];
  const answers = new Map<string, unknown>();
  const send: InternalClient['send'] = (method, path, { schema, assertion, idempotencyKey }) => {
    asked.push({ method, path, assertion, idempotencyKey });
    const answer = answers.get(`${method} ${path}`);
    if (Error.isError(answer)) return Promise.reject(answer);
    return answer === undefined ? Promise.reject(refused(404, 'not_found', 'Not found.')) : Promise.resolve(schema.parse(answer));
  };
  const unasked = () => Promise.reject(new Error('is not asked'));
  const client: InternalClient = { send, get: unasked, post: unasked, close: () => Promise.resolve() };
  return { asked, answers, client };
};

/** As the client of another service tells of a refusal. */
const refused = (status: number, type: string, message: string, retryAfterSeconds: number | null = null) =>
  new DomainError('internal', 'The dispatcher could not be asked.', {
    cause: new CallRefused(status, { type, message, retryAfterSeconds, isOverload: false }),
  });

let dispatcher: ReturnType<typeof fakeDispatcher>;
let identity: TestIdentity;
let ada: Person;
let browser: Browser;
beforeEach(async () => {
  dispatcher = fakeDispatcher();
  identity = await startIdentity({ peers: { 'webhooks-dispatcher': dispatcher.client } });
  ada = await identity.person();
  browser = browserOf(identity, ada.session);
});
afterEach(() => identity.stop());

const answering = (answers: Readonly<Record<string, unknown>>) => {
  for (const [request, answer] of Object.entries(answers)) dispatcher.answers.set(request, answer);
};
const LIST = 'GET /v1/webhooks?limit=25';
const ONE = `GET /v1/webhooks/${ID}`;
const LOG = `GET /v1/webhooks/${ID}/deliveries?limit=25`;
const TEST = `POST /v1/webhooks/${ID}/test`;
const AGAIN = `POST /v1/webhooks/${ID}/deliveries/${DELIVERY}/redeliver`;

describe('the page of the webhooks', () => {
  it('says so when there are none', async () => {
    answering({ [LIST]: { data: [], next_cursor: null } });
    const page = await browser.get(PATH);
    expect([page.status, page.heading]).toEqual([200, 'Webhooks']);
    expect(page.text).toContain('There are none.');
    expect(markupFaults(page.html)).toEqual([]);
  });

  it('shows receiver, events and state of each, and leads to the next page', async () => {
    const disabled = subscription({ id: 'wh_2', status: 'disabled', disabled_reason: 'delivery_failures', last_success_at: AT });
    answering({
      [LIST]: { data: [subscription(), disabled], next_cursor: 'a/b' },
      'GET /v1/webhooks?limit=25&cursor=a%2Fb': { data: [subscription({ url: 'https://last.example.com/' })], next_cursor: null },
    });
    const page = await browser.get(PATH);
    expect(page.html).toContain(`<a href="${PATH}/${ID}">https://receiver.example.com/hooks</a>`);
    for (const text of ['bubble.ready, an.event.of.later', 'Active', 'Disabled: delivery failures', 'Not yet', '27 Feb 2026, 10:00 UTC'])
      expect(page.text).toContain(text);
    expect(markupFaults(page.html)).toEqual([]);
    const [, next = ''] = /<a href="([^"]*)">More webhooks<\/a>/.exec(page.html) ?? [];
    const last = await browser.get(next);
    expect(last.text).toContain('https://last.example.com/');
    expect(last.text).not.toContain('More webhooks');
  });

  it('asks the dispatcher for who is signed in, with the one right that it needs, and passes no token on', async () => {
    answering({ [LIST]: { data: [], next_cursor: null } });
    await browser.get(PATH);
    const [asked] = dispatcher.asked;
    expect(decodeJwt(asked?.assertion ?? '')).toMatchObject({
      sub: ada.id,
      cid: ada.sessionId,
      kind: 'app',
      scopes: ['webhooks:manage'],
      aud: 'webhooks-dispatcher',
    });
    expect(JSON.stringify(asked)).not.toContain(ada.session);
  });

  it('[AUTH-02] comes with a kind that no token has: the gateway cannot ask for it', async () => {
    const check = { h: 'a'.repeat(64), jwt: null, aud: 'webhooks-dispatcher', accepts: ['app'] };
    expect((await identity.service('gateway')('POST', '/internal/v1/checks', { checks: [check] })).status).toBe(400);
  });

  it('is for whoever is signed in alone', async () => {
    const page = await browserOf(identity, null).get(`${PATH}/${ID}`);
    expect([page.status, page.location]).toEqual([303, `/app/sign-in?return_to=${encodeURIComponent(`${PATH}/${ID}`)}`]);
    expect(dispatcher.asked).toEqual([]);
  });

  it('says what the dispatcher says to an account without a plan for it', async () => {
    answering({ [LIST]: refused(403, 'pro_plan_required', 'Webhooks need a workspace with paid-feature access.') });
    const page = await browser.get(PATH);
    expect([page.status, page.heading]).toEqual([403, 'Not allowed']);
    expect(page.text).toContain('Webhooks need a workspace with paid-feature access.');
  });

  it('[ERR-05] is away with the dispatcher, and says nothing of why', async () => {
    answering({ [LIST]: new DomainError('unavailable', 'webhooks-dispatcher could not be asked.') });
    const page = await browser.get(PATH);
    expect([page.status, page.headers.get('retry-after')]).toEqual([500, '1']);
    expect(page.text).not.toContain('dispatcher');
  });
});

describe('the page of a webhook', () => {
  beforeEach(() => answering({ [ONE]: subscription(), [LOG]: { data: [delivery()], next_cursor: null } }));

  it('shows its deliveries with their attempts, as text whatever the receiver said', async () => {
    answering({
      [LOG]: {
        data: [
          delivery({
            id: 'dlv_1',
            status: 'pending',
            next_attempt_at: AT,
            attempts: [attempt, { ...attempt, outcome: 'timeout', status: null, detail: null }],
          }),
          delivery({ status: 'cancelled', cancelled_reason: 'not_participating', attempts: [] }),
        ],
        next_cursor: 'next',
      },
    });
    const page = await browser.get(`${PATH}/${ID}`);
    expect([page.status, page.heading]).toEqual([200, 'Webhook']);
    for (const text of [
      'pending, next attempt 27 Feb 2026, 10:00 UTC',
      '2 attempts',
      '5xx (HTTP 503), 12 ms. Try <later>.',
      'timeout, 12 ms',
      'cancelled: not participating',
      'None yet',
    ])
      expect(page.text).toContain(text);
    expect(markupFaults(page.html)).toEqual([]);
    expect(page.html).toContain(`<a href="${PATH}/${ID}?after=next">Earlier deliveries</a>`);
    // One that is on its way is not sent again.
    expect(page.forms(`${PATH}/${ID}/deliveries/dlv_1/redeliver`)).toEqual([]);
    expect(page.forms(`${PATH}/${ID}/deliveries/${DELIVERY}/redeliver`)).toHaveLength(1);
  });

  it('sends a test and a delivery again, and says so', async () => {
    answering({ [TEST]: { id: DELIVERY }, [AGAIN]: { id: DELIVERY } });
    const page = await browser.get(`${PATH}/${ID}`);
    const tested = await browser.send(onlyForm(page, `${PATH}/${ID}/test`));
    expect([tested.status, tested.location]).toEqual([303, `${PATH}/${ID}?done=tested`]);
    const queued = await browser.send(onlyForm(page, `${PATH}/${ID}/deliveries/${DELIVERY}/redeliver`));
    expect([queued.status, queued.location]).toEqual([303, `${PATH}/${ID}?done=queued`]);
    expect(dispatcher.asked.filter(({ method }) => method === 'POST').map(({ method, path }) => `${method} ${path}`)).toEqual([
      TEST,
      AGAIN,
    ]);
    expect((await browser.get(`${PATH}/${ID}?done=tested`)).html).toContain('<p role="status">A test was queued.</p>');
    expect((await browser.get(`${PATH}/${ID}?done=queued`)).html).toContain('<p role="status">The delivery was queued again.</p>');
    expect((await browser.get(`${PATH}/${ID}?done=%3Cb%3E`)).html).not.toContain('role="status"');
  });

  it('has the dispatcher act once on a form that is sent twice, and again on one that was shown again', async () => {
    answering({ [TEST]: { id: DELIVERY } });
    const form = async () => onlyForm(await browser.get(`${PATH}/${ID}`), `${PATH}/${ID}/test`);
    const [first, next] = [await form(), await form()];
    for (const one of [first, first, next]) expect((await browser.send(one)).status).toBe(303);
    const keys = dispatcher.asked.filter(({ method }) => method === 'POST').map(({ idempotencyKey }) => idempotencyKey);
    expect(keys).toEqual([first.fields['form'], first.fields['form'], next.fields['form']]);
    expect(new Set(keys).size).toBe(2);
    expect((await browser.send({ ...first, fields: { ...first.fields, form: next.fields['form'] ?? '' } })).status).toBe(403);
  });

  it('tells of a webhook of somebody else as of none', async () => {
    expect((await browser.get(`${PATH}/wh_of_another`)).status).toBe(404);
  });

  it.each([
    [409, 'invalid_request', 'The subscription is disabled.', 409],
    [429, 'rate_limited', 'More than 60 tests in a minute.', 429],
  ])('says why the dispatcher refuses with %i', async (status, type, message, shown) => {
    answering({ [TEST]: refused(status, type, message, 17) });
    const page = await browser.send(onlyForm(await browser.get(`${PATH}/${ID}`), `${PATH}/${ID}/test`));
    expect([page.status, page.text]).toEqual([shown, expect.stringContaining(message)]);
    if (status === 429) expect(page.headers.get('retry-after')).toBe('17');
  });

  it.each([
    ['no token', { token: '' }, {}],
    ['a wrong token', { token: 'x' }, {}],
    ['a form of another site', {}, { 'sec-fetch-site': 'cross-site' }],
  ])('[case 41] sends nothing with %s', async (_what, typed, headers) => {
    answering({ [TEST]: { id: DELIVERY }, [AGAIN]: { id: DELIVERY } });
    const page = await browser.get(`${PATH}/${ID}`);
    for (const action of [`${PATH}/${ID}/test`, `${PATH}/${ID}/deliveries/${DELIVERY}/redeliver`])
      expect((await browser.send(onlyForm(page, action), typed, headers)).status).toBe(403);
    expect(dispatcher.asked.filter(({ method }) => method === 'POST')).toEqual([]);
  });

  it('[case 41] takes the token of one webhook or delivery for no other', async () => {
    const page = await browser.get(`${PATH}/${ID}`);
    const test = onlyForm(page, `${PATH}/${ID}/test`);
    expect((await browser.send({ ...test, action: `${PATH}/wh_2/test` })).status).toBe(403);
    expect((await browser.send({ ...test, action: `${PATH}/${ID}/deliveries/${DELIVERY}/redeliver` })).status).toBe(403);
    expect(dispatcher.asked.filter(({ method }) => method === 'POST')).toEqual([]);
  });

  it('sends an id to the dispatcher as one part of a path', async () => {
    for (const id of ['..%2Fsecret', 'a%3Flimit=1', '%23']) await browser.get(`${PATH}/${id}`);
    for (const { path } of dispatcher.asked) expect(path).toMatch(/^\/v1\/webhooks\/[^/?#]+(\/deliveries\?limit=25)?$/);
  });
});
