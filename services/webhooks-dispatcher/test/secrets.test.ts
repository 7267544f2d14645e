import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { signature } from '../src/domain/webhook-request.ts';
import type { Answer } from './dispatcher.ts';
import type { Received } from './receivers.ts';
import { openScene, type Scene, type Subscriber } from './scene.ts';

const DAY_SECONDS = 86_400;

describe('POST /v1/webhooks/{id}/secret', () => {
  let scene: Scene;
  let subscriber: Subscriber;
  beforeEach(async () => {
    scene = await openScene();
    subscriber = await scene.subscriber();
  });
  afterEach(() => scene.stop());

  const rotate = (body: object = {}, options: { readonly userId?: string; readonly idempotencyKey?: string } = {}): Promise<Answer> =>
    scene.dispatcher.call('POST', `/${subscriber.id}/secret`, body, options);
  /** The header and the bytes of the next delivery. */
  const delivered = async (): Promise<Received> => {
    await scene.dispatcher.call('POST', `/${subscriber.id}/test`);
    await scene.dispatcher.settle();
    const received = subscriber.receiver.received.at(-1);
    if (received === undefined) throw new Error('nothing came');
    return received;
  };
  const expectSignedBy = async (...secrets: readonly string[]) => {
    const { headers, body } = await delivered();
    expect(headers['x-service-signature']).toBe(signature(secrets, body, scene.dispatcher.clock.now()));
  };

  it('[DLV-03] answers a new secret once; both sign for a day, then the new one alone', async () => {
    const { status, body, headers } = await rotate();
    const until = new Date(scene.dispatcher.clock.now().getTime() + DAY_SECONDS * 1000).toISOString();
    expect([status, body]).toEqual([
      201,
      { id: subscriber.id, secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/), previous_secret_expires_at: until },
    ]);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(body.secret).not.toBe(subscriber.secret);
    expect(JSON.stringify(await subscriber.shown())).not.toMatch(/secret|whsec_/);
    await expectSignedBy(body.secret, subscriber.secret);
    await scene.dispatcher.pass(DAY_SECONDS - 1);
    await expectSignedBy(body.secret, subscriber.secret);
    await scene.dispatcher.pass(1);
    await expectSignedBy(body.secret);
  });

  it('[DLV-03] without an overlap the old one ends at once', async () => {
    const { body } = await rotate({ overlap_seconds: 0 });
    expect(body.previous_secret_expires_at).toBeNull();
    await expectSignedBy(body.secret);
  });

  it('a second one within the overlap ends the oldest', async () => {
    const [{ body: second }, { body: third }] = [await rotate(), await rotate({ overlap_seconds: 60 })];
    expect(third.secret).not.toBe(second.secret);
    await expectSignedBy(third.secret, second.secret);
  });

  it('[GEN-10] none is stored as it is', async () => {
    const { body } = await rotate();
    const doc = JSON.stringify(await scene.dispatcher.database.collection('subscriptions').findOne({ _id: subscriber.id }));
    for (const secret of [body.secret, subscriber.secret]) expect(doc).not.toContain(secret.slice('whsec_'.length));
  });

  it('[GEN-13] the same request again replaces nothing', async () => {
    const [{ body }, again] = [await rotate({}, { idempotencyKey: 'a' }), await rotate({}, { idempotencyKey: 'a' })];
    expect(again.body).toEqual(body);
    await expectSignedBy(body.secret, subscriber.secret);
  });

  it.each([-1, 604_801, 1.5, '60', null])('[GEN-07] an overlap of %j is 400', async (overlap) => {
    expect((await rotate({ overlap_seconds: overlap })).status).toBe(400);
    await expectSignedBy(subscriber.secret);
  });

  it('[HOOK-02] [HOOK-04] is for the owner, with paid access', async () => {
    scene.dispatcher.peers.user('ben');
    scene.dispatcher.peers.user('poor', { paid_features: false });
    expect((await rotate({}, { userId: 'ben' })).status).toBe(404);
    expect((await rotate({}, { userId: 'poor' })).body.error.type).toBe('pro_plan_required');
    await expectSignedBy(subscriber.secret);
  });
});
