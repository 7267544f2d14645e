import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import Stripe from 'stripe';
import { type HookScene, openHookScene, type Subscriber } from './support/hooks.ts';
import { signedAt } from './support/receiver.ts';

let scene: HookScene;
beforeAll(async () => {
  scene = await openHookScene();
});
afterAll(() => scene.close());

const statusOf = async ({ call, id }: Subscriber): Promise<string> => (await call('GET', `/${id}`)).json.status;

describe('after an outage of a receiver', () => {
  it('[HOOK-08] the reason is shown, and one call sends again what was lost and missed, under its own ids', async () => {
    const subscriber = await scene.subscriber();
    const { call, id, receiver } = subscriber;
    receiver.answer(503);
    for (let n = 0; n < 4; n += 1) await subscriber.bubble();
    await scene.advance(900);
    expect(await statusOf(subscriber)).toBe('disabled');
    const failures = (await call('GET', `/${id}/failures`)).json;
    expect(failures).toMatchObject({ status: 'disabled', disabled_reason: 'delivery_failures', consecutive_failures: 20 });
    expect(failures.data).toHaveLength(20);
    expect(new Set(failures.data.map(({ status }: { status: number }) => status))).toEqual(new Set([503]));
    const missed = await subscriber.bubble();
    const since = { since: '2020-01-01T00:00:00Z' };
    const early = await call('POST', `/${id}/replay`, since);
    expect([early.status, early.json.error.type]).toEqual([409, 'invalid_request']);

    receiver.answer(204);
    await call('PATCH', `/${id}`, { status: 'active' });
    const lost = (await subscriber.log()).map((delivery) => delivery.id);
    const queued = await call('POST', `/${id}/replay`, since);
    expect([queued.status, queued.json.status]).toEqual([202, 'queued']);
    await scene.advance(1);
    const log = await subscriber.log();
    expect(log.map((delivery) => delivery.status)).toEqual(Array(5).fill('succeeded'));
    expect(log.map((delivery) => delivery.id).toSorted()).toEqual(lost.toSorted());
    expect(log.find(({ bubble_id }) => bubble_id === missed)?.attempts).toHaveLength(1);
    expect((await call('GET', `/${id}/failures`)).json.data).toEqual([]);
  });
});

describe('replacing a secret', () => {
  it('[DLV-02] [DLV-03] both secrets verify during the overlap, with the stripe library too, and the new one alone afterwards', async () => {
    const subscriber = await scene.subscriber();
    const { call, id, receiver, secret: old } = subscriber;
    const answer = await call('POST', `/${id}/secret`, { overlap_seconds: 3600 });
    expect(answer.status).toBe(201);
    const { secret } = answer.json;
    await subscriber.bubble();
    const [during] = receiver.received;
    if (during === undefined) throw new Error('nothing was delivered');
    const header = String(during.headers['x-service-signature']);
    expect(header).toMatch(/^t=\d+,v1=[0-9a-f]{64},v1=[0-9a-f]{64}$/);
    const { webhooks } = new Stripe('sk_test_x');
    const tolerance = 10 * 365 * 86_400;
    for (const one of [secret, old])
      expect(webhooks.constructEvent(during.body, header, one, tolerance)).toMatchObject({ id: during.json.id });
    await scene.advance(3601);
    await subscriber.bubble();
    const after = receiver.received.at(-1);
    if (after === undefined) throw new Error('nothing was delivered');
    expect(signedAt(after, secret)).not.toBeNull();
    expect(signedAt(after, old)).toBeNull();
  });
});
