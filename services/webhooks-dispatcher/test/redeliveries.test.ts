import { Redeliveries } from '@bubbles/contracts/internal/operators.ts';
import { asService } from '@bubbles/testing/http.ts';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { SubscriptionDoc } from '../src/adapters/store/subscriptions.ts';
import { aBubble } from './builders.ts';
import { openScene, type Scene, type Subscriber } from './scene.ts';

const EVERYTHING = { since: '2026-01-01T00:00:00Z', until: null, includes_received: false, dry_run: false, after: null };

describe('what an operator lets be delivered again', () => {
  let scene: Scene;
  beforeEach(async () => {
    scene = await openScene();
  });
  afterEach(() => scene.stop());

  let bubbles = 0;
  const bubbleReady = async (): Promise<void> => {
    bubbles += 1;
    await scene.dispatcher.ready({ bubble: aBubble({ id: `b-${bubbles}` }) });
    await scene.dispatcher.settle();
  };
  const post = ({ id }: Pick<Subscriber, 'id'>, body: object) =>
    fetch(`${scene.dispatcher.url}/internal/v1/admin/subscriptions/${id}/redeliveries`, {
      method: 'POST',
      headers: { ...asService('operator'), 'content-type': 'application/json' },
      body: JSON.stringify({ ...EVERYTHING, ...body }),
    });
  const redeliver = async (subscriber: Subscriber, body: object = {}) => Redeliveries.parse(await (await post(subscriber, body)).json());
  /** One that was received, then one that failed. */
  const received = async (): Promise<Subscriber> => {
    const subscriber = await scene.subscriber({}, 204);
    await bubbleReady();
    await scene.dispatcher.pass(3600);
    return subscriber;
  };
  const sentSince = async ({ receiver }: Subscriber, count: number): Promise<readonly string[]> => {
    await scene.dispatcher.settle();
    return receiver.ids().slice(count);
  };

  it('[HOOK-08] is what was never received, or everything, in the span, after it was counted', async () => {
    const subscriber = await received();
    const boundary = scene.dispatcher.clock.now().toISOString();
    subscriber.receiver.answer(410);
    await scene.dispatcher.pass(1);
    await bubbleReady();
    for (const seconds of [60, 120, 240, 480, 3600]) await scene.dispatcher.pass(seconds);
    subscriber.receiver.answer(204);
    const [failed, first] = (await subscriber.log()).map(({ id }: { readonly id: string }) => id);
    const before = subscriber.receiver.received.length;
    const counts = async (body: object) => (await redeliver(subscriber, { dry_run: true, ...body })).matching;
    expect([await counts({}), await counts({ includes_received: true }), await counts({ until: boundary })]).toEqual([1, 2, 0]);
    expect(await counts({ until: boundary, includes_received: true })).toBe(1);
    expect(await sentSince(subscriber, before)).toEqual([]);
    expect(await redeliver(subscriber)).toEqual({
      subscription_id: subscriber.id,
      matching: null,
      next_after: null,
      replay_id: expect.stringMatching(/^rpl_/),
    });
    expect(await sentSince(subscriber, before)).toEqual([failed]);
    await redeliver(subscriber, { includes_received: true });
    expect((await sentSince(subscriber, before + 1)).toSorted()).toEqual([failed, first].toSorted());
  });

  it('is counted in pages, each delivery once', async () => {
    const subscriber = await received();
    const page = await redeliver(subscriber, { dry_run: true, includes_received: true });
    expect(page).toMatchObject({ matching: 1, next_after: null });
    const [only] = await subscriber.log();
    const behind = await redeliver(subscriber, { dry_run: true, includes_received: true, after: `${only.created_at} ${only.id}` });
    expect(behind).toMatchObject({ matching: 0, next_after: null });
  });

  it('is refused for no such subscription, a span that is none and a subscription that is disabled', async () => {
    const subscriber = await received();
    expect((await post({ id: 'wh_none' }, {})).status).toBe(404);
    for (const body of [
      { since: '2999-01-01T00:00:00Z' },
      { since: 'yesterday' },
      { dry_run: true, after: 'x' },
      { until: '2025-01-01T00:00:00Z' },
    ])
      expect((await post(subscriber, body)).status).toBe(400);
    await scene.dispatcher.database
      .collection<SubscriptionDoc>('subscriptions')
      .updateOne({ _id: subscriber.id }, { $set: { status: 'disabled' } });
    for (const dry_run of [true, false]) expect((await post(subscriber, { dry_run })).status).toBe(409);
    expect((await fetch(`${scene.dispatcher.url}/internal/v1/admin/subscriptions/x/redeliveries`, { method: 'POST' })).status).toBe(401);
  });
});
