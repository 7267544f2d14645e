import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { DeliveryDoc } from '../src/adapters/store/deliveries.ts';
import type { EventDoc } from '../src/adapters/store/events.ts';
import type { ReplayDoc } from '../src/adapters/store/replays.ts';
import { openStores } from '../src/adapters/store/stores.ts';
import { aBubble, aDelivery, anEvent } from './builders.ts';
import type { Answer } from './dispatcher.ts';
import { openScene, type Scene, type Subscriber } from './scene.ts';

const HOUR = 3600;
const EVERYTHING = { since: '2026-01-01T00:00:00Z' };

describe('POST /v1/webhooks/{id}/replay', () => {
  let scene: Scene;
  beforeEach(async () => {
    scene = await openScene();
  });
  afterEach(() => scene.stop());

  let bubbles = 0;
  const bubbleReady = async () => {
    bubbles += 1;
    await scene.dispatcher.ready({ bubble: aBubble({ id: `b-${bubbles}` }) });
    await scene.dispatcher.settle();
  };
  const replay = ({ id }: Subscriber, body: object = EVERYTHING, options = {}): Promise<Answer> =>
    scene.dispatcher.call('POST', `/${id}/replay`, body, options);
  const enable = ({ id }: Subscriber) => scene.dispatcher.call('PATCH', `/${id}`, { status: 'active' });
  const nowIso = () => scene.dispatcher.clock.now().toISOString();
  /** Four recordings in a quarter of an hour without a receiver: four exhausted deliveries, and a disabled subscription. */
  const outage = async (): Promise<Subscriber> => {
    const subscriber = await scene.subscriber({}, 500);
    for (let n = 0; n < 4; n += 1) await bubbleReady();
    for (const seconds of [60, 120, 240, 480]) await scene.dispatcher.pass(seconds);
    expect((await subscriber.shown()).status).toBe('disabled');
    return subscriber;
  };

  it('[HOOK-08] sends what failed and what was missed while disabled again, each under its own id', async () => {
    const subscriber = await outage();
    const failed = new Set(subscriber.receiver.ids());
    for (let n = 0; n < 3; n += 1) await bubbleReady();
    expect(subscriber.receiver.received).toHaveLength(20);
    expect((await subscriber.log()).slice(0, 3)).toMatchObject(
      Array(3).fill({ status: 'cancelled', cancelled_reason: 'subscription_disabled', attempts: [], next_attempt_at: null }),
    );
    subscriber.receiver.answer(204);
    await enable(subscriber);
    const { status, body } = await replay(subscriber);
    expect([status, body]).toEqual([
      202,
      { id: expect.stringMatching(/^rpl_/), since: '2026-01-01T00:00:00.000Z', until: nowIso(), status: 'queued' },
    ]);
    await scene.dispatcher.settle();
    const ids = subscriber.receiver.ids().slice(20);
    expect(ids).toHaveLength(7);
    expect(new Set(ids).size).toBe(7);
    for (const id of failed) expect(ids).toContain(id);
    expect(await subscriber.log()).toMatchObject(Array(7).fill({ status: 'succeeded' }));
  });

  it('leaves alone what succeeded, tests, and what lies outside of the span', async () => {
    const subscriber = await scene.subscriber({}, 204);
    await bubbleReady();
    subscriber.receiver.answer(500);
    await scene.dispatcher.call('POST', `/${subscriber.id}/test`);
    for (let n = 0; n < 2; n += 1) {
      await scene.dispatcher.pass(HOUR);
      await bubbleReady();
    }
    const [, middle] = await subscriber.log();
    await scene.dispatcher.pass(2 * HOUR);
    subscriber.receiver.answer(204);
    const before = subscriber.receiver.received.length;
    await replay(subscriber, { since: middle.created_at, until: new Date(Date.parse(middle.created_at) + 1).toISOString() });
    await scene.dispatcher.settle();
    expect(subscriber.receiver.ids().slice(before)).toEqual([middle.id]);
    await replay(subscriber);
    await scene.dispatcher.settle();
    expect(subscriber.receiver.received).toHaveLength(before + 2);
  });

  it('[EVT-03] sends nothing that the owner may not read any more', async () => {
    const subscriber = await outage();
    subscriber.receiver.answer(204);
    await enable(subscriber);
    scene.dispatcher.peers.bubble(`b-${bubbles}`, {
      participates: false,
      bubble: { team_id: 'team', channel_id: 'channel', author_id: 'ada' },
    });
    await replay(subscriber);
    await scene.dispatcher.settle();
    expect(subscriber.receiver.received).toHaveLength(23);
    expect(await subscriber.log()).toContainEqual(expect.objectContaining({ status: 'cancelled', cancelled_reason: 'not_participating' }));
  });

  it.each([
    ['no since', {}],
    ['since that is no instant', { since: 'yesterday' }],
    ['since in the future', { since: '2030-01-01T00:00:00Z' }],
    ['until before since', { since: '2026-01-02T00:00:00Z', until: '2026-01-01T00:00:00Z' }],
    ['until null', { ...EVERYTHING, until: null }],
  ])('[GEN-07] %s is 400', async (_what, body) => {
    const answer = await replay(await scene.subscriber(), body);
    expect([answer.status, answer.body.error.type]).toEqual([400, 'invalid_request']);
  });

  it('[HOOK-02] [ERR-03] 403 without paid access, 404 for others, 409 while disabled', async () => {
    const subscriber = await outage();
    scene.dispatcher.peers.user('ben');
    scene.dispatcher.peers.user('poor', { paid_features: false });
    const statuses: number[] = [];
    for (const options of [{ userId: 'poor' }, { userId: 'ben' }, {}])
      statuses.push((await replay(subscriber, EVERYTHING, options)).status);
    expect(statuses).toEqual([403, 404, 409]);
  });

  it('[GEN-13] of ten at once one begins; asked again under its key it is the same one', async () => {
    const subscriber = await outage();
    await enable(subscriber);
    const keyed = await Promise.all(Array.from({ length: 5 }, () => replay(subscriber, EVERYTHING, { idempotencyKey: 'a' })));
    expect(new Set(keyed.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    await scene.dispatcher.settle();
    expect(subscriber.receiver.received).toHaveLength(24);
  });

  /** Makes this number of deliveries that failed for good, of a current subscription. */
  const failedBefore = async ({ id: subscriptionId }: Subscriber, count: number) => {
    const database = scene.dispatcher.database;
    const { bubble: _, body, id: __, ...event } = anEvent();
    const createdAt = new Date(scene.dispatcher.clock.now().getTime() - HOUR * 1000);
    for (let n = 0; n < count; n += 1) {
      const eventId = `evt_of_${n}`;
      await database.collection<EventDoc>('events').insert({ _id: eventId, ...event, bubbleId: null, body: Buffer.from(body) });
      const id = `dlv_${String(n).padStart(4, '0')}`;
      const made = { id, eventId, subscriptionId, ownerId: 'ada', createdAt };
      await openStores(database).deliveries.insert(aDelivery({ ...made, status: 'exhausted', attemptCount: 5, claimCount: 5 }));
    }
  };

  it('[GEN-14] a large one goes on at the pace of its receiver, and a second one is 409 until it is through', async () => {
    const held: ServerResponse[] = [];
    const subscriber = await scene.subscriber({}, (response) => held.push(response));
    await failedBefore(subscriber, 350);
    expect((await replay(subscriber)).status).toBe(202);
    await subscriber.receiver.reached(4);
    const second = await replay(subscriber);
    expect([second.status, second.body.error.type, second.headers.get('retry-after')]).toEqual([409, 'invalid_request', '1']);
    subscriber.receiver.answer(204);
    for (const response of held) response.writeHead(204).end();
    // The clock stands still meanwhile.
    await subscriber.receiver.reached(350);
    await scene.dispatcher.settle();
    expect(new Set(subscriber.receiver.ids()).size).toBe(350);
    expect((await replay(subscriber)).status).toBe(202);
  });

  it('[HOOK-08] a large one is through when everything that is due has ended, in no time of its own', async () => {
    const subscriber = await scene.subscriber({}, 204);
    await failedBefore(subscriber, 350);
    await replay(subscriber);
    await scene.dispatcher.settle();
    expect(await scene.dispatcher.database.collection<ReplayDoc>('replays').findOne({ _id: subscriber.id })).toBeNull();
    const again = await scene.dispatcher.database.collection<DeliveryDoc>('deliveries').find({ subscriptionId: subscriber.id });
    expect(again.filter(({ requeuedBy }) => requeuedBy === null)).toEqual([]);
  });

  it('[ERR-05] settles while a service that is asked before each attempt is away, and goes on when it is back', async () => {
    const subscriber = await scene.subscriber({}, 204);
    await failedBefore(subscriber, 350);
    const { peers, pass, settle } = scene.dispatcher;
    peers.setState('bubblesQuery', 'away');
    await replay(subscriber);
    await settle();
    expect(subscriber.receiver.received).toEqual([]);
    peers.setState('bubblesQuery', 'up');
    for (let n = 0; n < 20; n += 1) await pass(5);
    expect(new Set(subscriber.receiver.ids()).size).toBe(350);
  });

  it('[DLV-05] goes on in another process when the one that worked on it died', async () => {
    const subscriber = await outage();
    subscriber.receiver.answer(204);
    await enable(subscriber);
    const replays = scene.dispatcher.database.collection<ReplayDoc>('replays');
    const now = scene.dispatcher.clock.now();
    await replays.insert({
      _id: subscriber.id,
      replayId: 'rpl_of_a_dead_one',
      epoch: 2,
      since: new Date(0),
      until: now,
      position: { createdAt: now, id: '' },
      dueAt: new Date(now.getTime() + 60_000),
      leaseToken: 'of a dead one',
    });
    await scene.dispatcher.pass(59);
    expect(subscriber.receiver.received).toHaveLength(20);
    await scene.dispatcher.pass(1);
    expect(await replays.findOne({ _id: subscriber.id })).toBeNull();
    expect(new Set(subscriber.receiver.ids().slice(20)).size).toBe(4);
  });

  it('ends when its subscription is deleted', async () => {
    const subscriber = await outage();
    await enable(subscriber);
    await replay(subscriber);
    await scene.dispatcher.call('DELETE', `/${subscriber.id}`);
    await scene.dispatcher.pass(60);
    expect(await scene.dispatcher.database.collection('replays').findOne({ _id: subscriber.id })).toBeNull();
  });
});

describe('GET /v1/webhooks/{id}/failures', () => {
  let scene: Scene;
  beforeEach(async () => {
    scene = await openScene();
  });
  afterEach(() => scene.stop());

  const failures = async ({ id }: Subscriber, options = {}) =>
    (await scene.dispatcher.call('GET', `/${id}/failures`, undefined, options)).body;
  const bubblesReady = async (count: number) => {
    for (let n = 0; n < count; n += 1) {
      await scene.dispatcher.ready({ bubble: aBubble({ id: `f-${n}` }) });
      await scene.dispatcher.settle();
    }
  };

  it('[HOOK-08] says why it is disabled and what the receiver answered last, and a notice is logged', async () => {
    const subscriber = await scene.subscriber({}, (response) => response.writeHead(503).end('down for maintenance'));
    await bubblesReady(20);
    const shown = await failures(subscriber);
    expect(shown).toMatchObject({ status: 'disabled', disabled_reason: 'delivery_failures', consecutive_failures: 20 });
    expect(shown.data).toHaveLength(20);
    const latest = (await subscriber.log()).find(({ id }) => id === shown.data[0].delivery_id);
    expect(shown.data[0]).toEqual({
      delivery_id: latest.id,
      ...latest.attempts[0],
      number: 1,
      outcome: '5xx',
      status: 503,
      response_preview: 'down for maintenance',
    });
    expect(scene.dispatcher.log.lines.filter(({ message }) => message === 'webhook subscription disabled')).toMatchObject([
      {
        level: 'warn',
        fields: { subscriptionId: subscriber.id, ownerId: 'ada', reason: 'delivery_failures', outcome: '5xx', status: 503 },
      },
    ]);
  });

  it('[HOOK-08] is empty after a success', async () => {
    const subscriber = await scene.subscriber({}, 500);
    await bubblesReady(2);
    expect((await failures(subscriber)).data).toHaveLength(2);
    subscriber.receiver.answer(204);
    await scene.dispatcher.pass(60);
    expect(await failures(subscriber)).toEqual({
      status: 'active',
      disabled_at: null,
      disabled_reason: null,
      consecutive_failures: 0,
      data: [],
    });
  });

  it('[HOOK-04] is for the owner', async () => {
    scene.dispatcher.peers.user('ben');
    expect((await failures(await scene.subscriber(), { userId: 'ben' })).error.type).toBe('not_found');
  });
});
