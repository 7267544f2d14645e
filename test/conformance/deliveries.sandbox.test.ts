import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import Stripe from 'stripe';
import { send } from './support/client.ts';
import { type HookScene, openHookScene, type Subscriber } from './support/hooks.ts';
import { signedAt } from './support/receiver.ts';
import { control } from './support/sandbox-world.ts';
import { shapeFaults } from './support/shape.ts';

let scene: HookScene;
beforeAll(async () => {
  scene = await openHookScene();
});
afterAll(() => scene.close());

const now = async (): Promise<Date> => new Date((await control(scene.sandbox.url, 'GET /clock')).now);
const failing = async (): Promise<Subscriber> => {
  const subscriber = await scene.subscriber();
  subscriber.receiver.answer(500);
  return subscriber;
};
const shown = async ({ call, id }: Subscriber) => (await call('GET', `/${id}`)).json;
const LONG = 3600;

describe('section 6, a delivery', () => {
  it('[DLV-01] [DLV-02] [DLV-03] is a signed POST of the bubble as it is read', async () => {
    const subscriber = await scene.subscriber();
    const id = await subscriber.bubble({
      type: 'meeting_recording',
      title: 'Grüße 🎈',
      external_participants: [{ name: 'Olga', email: 'olga@partner.example' }],
    });
    const [received] = subscriber.receiver.received;
    if (received === undefined) throw new Error('nothing was delivered');
    const { json, headers, body } = received;
    expect(json).toEqual({
      id: expect.stringMatching(/^evt_/),
      type: 'bubble.ready',
      created_at: expect.any(String),
      data: { bubble: expect.anything() },
    });
    expect(new Date(json.created_at).toISOString()).toBe(json.created_at);
    expect(json.data.bubble).toEqual((await send(scene.sandbox.url, `/v1/bubbles/${id}`, { as: subscriber.person.pat })).json);
    expect(shapeFaults('Bubble', json.data.bubble)).toEqual([]);
    expect(headers).toMatchObject({
      'content-type': expect.stringMatching(/^application\/json/),
      'content-length': String(body.length),
      'x-service-event': 'bubble.ready',
      'x-service-delivery': expect.stringMatching(/^dlv_/),
    });
    const { secret } = subscriber;
    expect(Math.abs((await now()).getTime() / 1000 - (signedAt(received, secret) ?? 0))).toBeLessThan(30);
    expect(signedAt({ ...received, body: Buffer.concat([body, Buffer.from(' ')]) }, secret)).toBeNull();
    expect(signedAt(received, secret.slice(0, -1))).toBeNull();
    const signature = String(headers['x-service-signature']);
    expect(new Stripe('sk_test_x').webhooks.constructEvent(body, signature, secret)).toMatchObject({ id: json.id });
    expect(Object.keys(headers).filter((name) => /authorization|cookie|internal|traceparent/.test(name))).toEqual([]);
    expect(subscriber.receiver.received).toHaveLength(1);
  });

  it('[DLV-01] [GEN-04] has the author of a bubble that has none as null, as GET has', async () => {
    const subscriber = await scene.subscriber();
    const read = async (id: string) => (await send(scene.sandbox.url, `/v1/bubbles/${id}`, { as: subscriber.person.pat })).json;
    const without = await subscriber.bubble({ author_id: null });
    expect(subscriber.receiver.received[0]?.json.data.bubble).toMatchObject({ author: null, creator_id: null });
    expect(await read(without)).toMatchObject({ author: null, participants: [{ id: subscriber.person.id }] });
    const authored = await subscriber.bubble();
    expect(await read(authored)).toMatchObject({ author: { id: subscriber.person.id } });
    await scene.world.changeBubble(authored, { author_id: null });
    expect(await read(authored)).toMatchObject({ author: null });
  });

  it('[HOOK-07] [DLV-02] a test goes the same way, with a bubble that does not exist', async () => {
    const subscriber = await scene.subscriber({ events: ['meeting_recording.ready'], filters: { bubble_types: ['custom_image'] } });
    const queued = (await subscriber.call('POST', `/${subscriber.id}/test`)).json;
    await control(scene.sandbox.url, 'POST /settle');
    const [received] = subscriber.receiver.received;
    if (received === undefined) throw new Error('nothing was delivered');
    expect(signedAt(received, subscriber.secret)).not.toBeNull();
    expect(received.headers).toMatchObject({ 'x-service-event': 'webhook.test', 'x-service-delivery': queued.id });
    expect(received.json).toMatchObject({ id: expect.stringMatching(/^evt_/), type: 'webhook.test' });
    expect(shapeFaults('Bubble', received.json.data.bubble)).toEqual([]);
    const { id } = received.json.data.bubble;
    expect((await send(scene.sandbox.url, `/v1/bubbles/${id}`, { as: subscriber.person.pat })).status).toBe(404);
  });

  it.each([200, 201, 202, 204, 299])('[DLV-04] [HOOK-09] %i is success', async (status) => {
    const subscriber = await scene.subscriber();
    subscriber.receiver.answer(status);
    const before = await now();
    await subscriber.bubble();
    await scene.advance(LONG);
    expect(subscriber.receiver.received).toHaveLength(1);
    const { last_success_at, last_failure_at } = await shown(subscriber);
    expect(last_failure_at).toBeNull();
    expect(new Date(last_success_at).getTime()).toBeGreaterThanOrEqual(before.getTime());
  });
});

describe('section 6, retries', () => {
  it('[DLV-04] [DLV-02] [DLV-03] five attempts, 60, 120, 240 and 480 seconds after the end of the one before, and no sixth', async () => {
    const subscriber = await failing();
    await subscriber.bubble();
    await scene.advance(50);
    expect(subscriber.receiver.received).toHaveLength(1);
    await scene.advance(10);
    expect(subscriber.receiver.received).toHaveLength(2);
    await scene.advance(LONG);
    const { received } = subscriber.receiver;
    expect(received).toHaveLength(5);
    expect(new Set(received.map(({ headers }) => headers['x-service-delivery'])).size).toBe(1);
    expect(new Set(received.map(({ body }) => body.toString())).size).toBe(1);
    const [delivery] = await subscriber.log();
    expect(delivery).toMatchObject({ status: 'exhausted', next_attempt_at: null, cancelled_reason: null });
    const starts: number[] = delivery.attempts.map(({ started_at }: { started_at: string }) => new Date(started_at).getTime());
    const [first = 0, ...rest] = starts.slice(1).map((start, n) => start - (starts[n] ?? 0));
    expect(rest).toEqual([120_000, 240_000, 480_000]);
    // The first attempt alone took time: the clock stands while it is moved.
    expect(Math.abs(first - 60_000 - delivery.attempts[0].duration_ms)).toBeLessThanOrEqual(1);
    expect(received.map((one) => signedAt(one, subscriber.secret))).toEqual(starts.map((start) => Math.floor(start / 1000)));
  });

  it('[DLV-04] Retry-After of a receiver changes nothing; 410 is an ordinary failure', async () => {
    const subscriber = await failing();
    subscriber.receiver.answer((res) => res.writeHead(410, { 'retry-after': '7' }).end());
    await subscriber.bubble();
    await scene.advance(50);
    expect(subscriber.receiver.received).toHaveLength(1);
    subscriber.receiver.answer(200);
    await scene.advance(10);
    expect(subscriber.receiver.received).toHaveLength(2);
    expect((await subscriber.log())[0]).toMatchObject({
      status: 'succeeded',
      attempts: [{ status: 410, outcome: '4xx' }, { status: 200 }],
    });
  });

  it('[HOOK-10] [DLV-04] a redirect is a failure and not followed', async () => {
    const [subscriber, target] = [await scene.subscriber(), await scene.subscriber()];
    for (const status of [301, 302, 307, 308]) {
      subscriber.receiver.answer((res) => res.writeHead(status, { location: target.receiver.url }).end());
      await subscriber.bubble();
    }
    expect(target.receiver.received).toEqual([]);
    expect((await subscriber.log()).map(({ attempts }) => attempts[0].outcome)).toEqual(['3xx', '3xx', '3xx', '3xx']);
  });

  it('[DLV-04] a connection that ends or is refused is a failure', async () => {
    const subscriber = await failing();
    subscriber.receiver.answer((res) => res.destroy());
    await subscriber.bubble();
    await subscriber.receiver.close();
    await scene.advance(60);
    const [delivery] = await subscriber.log();
    expect(delivery.attempts.map(({ status }: { status: unknown }) => status)).toEqual([null, null]);
    expect(delivery).toMatchObject({ status: 'pending' });
    expect((await shown(subscriber)).last_failure_at).not.toBeNull();
  });

  it('[DLV-06] a receiver that does not answer holds up nobody else', async () => {
    const [slow, fast] = [await failing(), await scene.subscriber()];
    const held = Promise.withResolvers<void>();
    slow.receiver.answer((res) => void held.promise.then(() => res.writeHead(500).end()));
    const slowly = Promise.all(Array.from({ length: 6 }, () => slow.bubble()));
    await slow.receiver.reached(4);
    const quickly = fast.bubble();
    await fast.receiver.reached(1);
    expect(slow.receiver.received).toHaveLength(4);
    held.resolve();
    await Promise.all([slowly, quickly]);
    expect(slow.receiver.received).toHaveLength(6);
  });
});

describe('section 3, a subscription that fails', () => {
  const fail = async ({ call, id }: Subscriber, times: number) => {
    for (let n = 0; n < times; n++) {
      await call('POST', `/${id}/test`);
      await control(scene.sandbox.url, 'POST /settle');
    }
  };

  it('[HOOK-08] is disabled at the 20th failed attempt in a row, and enabled by PATCH', async () => {
    const subscriber = await failing();
    await fail(subscriber, 19);
    expect(await shown(subscriber)).toMatchObject({ status: 'active', disabled_at: null, disabled_reason: null });
    await fail(subscriber, 1);
    const disabled = await shown(subscriber);
    expect(disabled).toMatchObject({ status: 'disabled', disabled_reason: 'delivery_failures', disabled_at: disabled.last_failure_at });
    await subscriber.bubble();
    await scene.advance(LONG);
    subscriber.receiver.answer(200);
    const before = subscriber.receiver.received.length;
    await fail(subscriber, 1);
    expect(subscriber.receiver.received).toHaveLength(before + 1);
    expect((await shown(subscriber)).status).toBe('disabled');
    const { json } = await subscriber.call('PATCH', `/${subscriber.id}`, { status: 'active' });
    expect(json).toMatchObject({ status: 'active', disabled_at: null, disabled_reason: null });
    await scene.advance(LONG);
    expect(subscriber.receiver.received).toHaveLength(before + 1);
    await subscriber.bubble();
    expect(subscriber.receiver.received).toHaveLength(before + 2);
    subscriber.receiver.answer(500);
    await fail(subscriber, 19);
    expect((await shown(subscriber)).status).toBe('active');
  });

  it('[HOOK-08] a retry counts like a first attempt', async () => {
    const subscriber = await failing();
    for (let n = 0; n < 4; n++) await subscriber.bubble();
    await scene.advance(60 + 120 + 240 + 10);
    expect(subscriber.receiver.received).toHaveLength(16);
    expect((await shown(subscriber)).status).toBe('active');
    await scene.advance(480);
    expect(subscriber.receiver.received).toHaveLength(20);
    expect(await shown(subscriber)).toMatchObject({ status: 'disabled', disabled_reason: 'delivery_failures' });
  });

  it('[HOOK-08] a success resets the counter', async () => {
    const subscriber = await failing();
    await fail(subscriber, 19);
    subscriber.receiver.answer(200);
    await fail(subscriber, 1);
    subscriber.receiver.answer(500);
    await fail(subscriber, 19);
    expect((await shown(subscriber)).status).toBe('active');
    await fail(subscriber, 1);
    expect((await shown(subscriber)).status).toBe('disabled');
  });
});
