import { WebhookDelivery } from '@bubbles/contracts/api/webhook.ts';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { aBubble } from './builders.ts';
import { type Answer, CONFIG } from './dispatcher.ts';
import { openScene, type Scene, type Subscriber } from './scene.ts';

let scene: Scene;
beforeEach(async () => {
  scene = await openScene();
});
afterEach(() => scene.stop());

const refusal = ({ status, body }: Answer) => [status, body.error.type];
const bubbleReady = async (id: string) => {
  await scene.dispatcher.ready({ bubble: aBubble({ id }) });
  await scene.dispatcher.settle();
};
const test = async ({ id }: Subscriber) => {
  const answer = await scene.dispatcher.call('POST', `/${id}/test`);
  await scene.dispatcher.settle();
  return answer;
};
const redeliver = async ({ id }: Subscriber, deliveryId: string) => {
  const answer = await scene.dispatcher.call('POST', `/${id}/deliveries/${deliveryId}/redeliver`);
  await scene.dispatcher.settle();
  return answer;
};
const disable = async (subscriber: Subscriber) => {
  subscriber.receiver.answer(500);
  for (let n = 0; n < 20; n += 1) await bubbleReady(`failing-${n}`);
};

describe('section 4, POST /v1/webhooks/{id}/test', () => {
  it('[HOOK-07] queues a signed webhook.test with a synthetic bubble', async () => {
    const subscriber = await scene.subscriber({ events: ['screen_recording.ready'], filters: { bubble_types: ['custom_image'] } });
    const { status, body } = await test(subscriber);
    expect([status, body]).toEqual([202, { id: expect.stringMatching(/^dlv_/), type: 'webhook.test', status: 'queued' }]);
    const [received] = subscriber.receiver.received;
    expect(received?.headers).toMatchObject({ 'x-service-event': 'webhook.test', 'x-service-delivery': body.id });
    const sent = JSON.parse(received?.body.toString() ?? '');
    expect(WebhookDelivery.parse(sent)).toEqual(sent);
    expect(sent).toMatchObject({ type: 'webhook.test', id: expect.stringMatching(/^evt_/) });
    expect(sent.data.bubble.url).toMatch(/^https:\/\/app\.test\/b\/[0-9A-Za-z]{22}$/);
  });

  it('[HOOK-07] each is one of its own, with a bubble of its own', async () => {
    const subscriber = await scene.subscriber();
    for (const _ of [1, 2]) await test(subscriber);
    const bubbles = subscriber.receiver.received.map(({ body }) => JSON.parse(body.toString()).data.bubble.id);
    expect(new Set(bubbles).size).toBe(2);
    expect(new Set(subscriber.receiver.ids()).size).toBe(2);
  });

  it('[HOOK-07] [HOOK-09] counts and is retried like others on an active one', async () => {
    const subscriber = await scene.subscriber({}, 500);
    await test(subscriber);
    expect((await subscriber.shown()).last_failure_at).toBe(scene.dispatcher.clock.now().toISOString());
    await scene.dispatcher.pass(60);
    expect(subscriber.receiver.received).toHaveLength(2);
    for (let n = 0; n < 18; n += 1) await test(subscriber);
    expect((await subscriber.shown()).status).toBe('disabled');
  });

  it('[HOOK-07] [HOOK-08] a disabled one gets one attempt, and stays disabled', async () => {
    const subscriber = await scene.subscriber();
    await disable(subscriber);
    await test(subscriber);
    await scene.dispatcher.pass(3600);
    expect(subscriber.receiver.received).toHaveLength(21);
    expect((await subscriber.log()).find(({ type }) => type === 'webhook.test')).toMatchObject({ status: 'exhausted' });
    subscriber.receiver.answer(204);
    await test(subscriber);
    expect(subscriber.receiver.received).toHaveLength(22);
    expect(await subscriber.shown()).toMatchObject({ status: 'disabled', last_success_at: scene.dispatcher.clock.now().toISOString() });
  });

  it('[HOOK-07] [HOOK-08] is tried no further when the subscription is disabled meanwhile', async () => {
    const subscriber = await scene.subscriber({}, 500);
    for (let n = 0; n < 20; n += 1) await test(subscriber);
    const { disabled_at } = await subscriber.shown();
    await scene.dispatcher.pass(3600);
    expect(subscriber.receiver.received).toHaveLength(20);
    expect(await subscriber.shown()).toMatchObject({ status: 'disabled', disabled_at, last_failure_at: disabled_at });
    expect(await subscriber.log()).toContainEqual(
      expect.objectContaining({ status: 'cancelled', cancelled_reason: 'subscription_disabled' }),
    );
  });

  it('[HOOK-07] is cancelled when the owner may not any more', async () => {
    const subscriber = await scene.subscriber({}, 500);
    await test(subscriber);
    scene.dispatcher.peers.user('ada', { paid_features: false });
    await scene.dispatcher.pass(60);
    scene.dispatcher.peers.user('ada');
    expect(await subscriber.log()).toMatchObject([{ status: 'cancelled', cancelled_reason: 'plan_required' }]);
  });
});

describe('the delivery log', () => {
  it('shows every delivery with its attempts', async () => {
    const subscriber = await scene.subscriber({}, (response) => response.writeHead(500).end('out of order'));
    await bubbleReady('b1');
    const at = scene.dispatcher.clock.now().toISOString();
    expect(await subscriber.log()).toEqual([
      {
        id: subscriber.receiver.ids()[0],
        event_id: expect.stringMatching(/^evt_/),
        type: 'bubble.ready',
        bubble_id: 'b1',
        status: 'pending',
        cancelled_reason: null,
        created_at: at,
        finished_at: null,
        next_attempt_at: new Date(new Date(at).getTime() + 60_000).toISOString(),
        attempts: [
          {
            number: 1,
            started_at: at,
            duration_ms: expect.any(Number),
            outcome: '5xx',
            status: 500,
            detail: null,
            response_preview: 'out of order',
          },
        ],
      },
    ]);
  });

  it('pages newest first, and loses and repeats nothing while more come', async () => {
    const subscriber = await scene.subscriber();
    for (let n = 0; n < 7; n += 1) {
      if (n % 2 === 0) await scene.dispatcher.pass(1);
      await bubbleReady(`b-${n}`);
    }
    const all = (await subscriber.log()).map(({ id }) => id);
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { body } = await scene.dispatcher.call(
        'GET',
        `/${subscriber.id}/deliveries?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`,
      );
      expect(body.has_more).toBe(body.next_cursor !== null);
      for (const one of body.data.map(({ id }: { id: string }) => id)) seen.push(one);
      await bubbleReady(`new-${seen.length}`);
      cursor = body.next_cursor;
    }
    expect(seen).toEqual(all);
  });

  it('by status', async () => {
    const subscriber = await scene.subscriber({}, 500);
    await bubbleReady('b1');
    subscriber.receiver.answer(204);
    await bubbleReady('b2');
    const bubbles = async (query: string) =>
      (await scene.dispatcher.call('GET', `/${subscriber.id}/deliveries${query}`)).body.data.map(
        ({ bubble_id }: { bubble_id: string }) => bubble_id,
      );
    expect(await bubbles('?status=pending')).toEqual(['b1']);
    expect(await bubbles('?status=succeeded')).toEqual(['b2']);
    expect(await bubbles('?status=cancelled')).toEqual([]);
  });

  it.each(['?status=lost', '?limit=0', '?limit=101', '?cursor=x', '?cursor='])('[GEN-06] %s is refused', async (query) => {
    const subscriber = await scene.subscriber();
    expect(refusal(await scene.dispatcher.call('GET', `/${subscriber.id}/deliveries${query}`))).toEqual([400, 'invalid_request']);
  });

  it('a cursor is good for its own list only, and over a rotation of keys', async () => {
    const [one, two] = [await scene.subscriber(), await scene.subscriber()];
    await bubbleReady('b1');
    await scene.dispatcher.pass(1);
    await bubbleReady('b2');
    const { next_cursor } = (await scene.dispatcher.call('GET', `/${one.id}/deliveries?limit=1`)).body;
    for (const path of [`/${two.id}/deliveries?cursor=${next_cursor}`, `/${one.id}/deliveries?status=succeeded&cursor=${next_cursor}`])
      expect(refusal(await scene.dispatcher.call('GET', path))).toEqual([400, 'invalid_request']);
    const cursorKeys = { current: Buffer.alloc(32, 7), previous: CONFIG.cursorKeys.current };
    await scene.restart({ config: { cursorKeys } });
    expect((await scene.dispatcher.call('GET', `/${one.id}/deliveries?limit=1&cursor=${next_cursor}`)).body).toMatchObject({
      data: [{ bubble_id: 'b1' }],
      has_more: false,
    });
  });
});

describe('redelivery', () => {
  it('[DLV-02] sends a finished delivery again, under its id, with the bytes of the first time', async () => {
    const subscriber = await scene.subscriber();
    await bubbleReady('b1');
    const [delivery] = await subscriber.log();
    const { status, body } = await redeliver(subscriber, delivery.id);
    expect([status, body]).toEqual([202, { id: delivery.id, type: 'bubble.ready', status: 'queued' }]);
    const { received } = subscriber.receiver;
    expect(subscriber.receiver.ids()).toEqual([delivery.id, delivery.id]);
    expect(received[1]?.body).toEqual(received[0]?.body);
    expect(await subscriber.log()).toMatchObject([{ status: 'succeeded', attempts: [{ number: 1 }, { number: 2 }] }]);
  });

  it('[DLV-04] with a schedule of its own', async () => {
    const subscriber = await scene.subscriber({}, 500);
    await bubbleReady('b1');
    for (const seconds of [60, 120, 240, 480]) await scene.dispatcher.pass(seconds);
    const [{ id, status }] = await subscriber.log();
    expect(status).toBe('exhausted');
    await redeliver(subscriber, id);
    for (const seconds of [60, 120, 240, 480]) await scene.dispatcher.pass(seconds);
    await scene.dispatcher.pass(3600);
    expect(subscriber.receiver.received).toHaveLength(10);
    expect((await subscriber.log())[0]).toMatchObject({ status: 'exhausted', attempts: { length: 10 } });
  });

  it('leaves a pending one as it is', async () => {
    const subscriber = await scene.subscriber({}, 500);
    await bubbleReady('b1');
    const before = await subscriber.log();
    expect((await redeliver(subscriber, before[0].id)).status).toBe(202);
    expect(await subscriber.log()).toEqual(before);
    expect(subscriber.receiver.received).toHaveLength(1);
  });

  it('[HOOK-08] belongs to the life in which it was asked for', async () => {
    const subscriber = await scene.subscriber();
    await bubbleReady('b1');
    const [{ id }] = await subscriber.log();
    await disable(subscriber);
    subscriber.receiver.answer(204);
    const found = async () => (await subscriber.log()).find((delivery) => delivery.id === id);
    const before = await found();
    expect(refusal(await redeliver(subscriber, id))).toEqual([409, 'invalid_request']);
    expect(await found()).toEqual(before);
    await scene.dispatcher.call('PATCH', `/${subscriber.id}`, { status: 'active' });
    await redeliver(subscriber, id);
    expect(await found()).toMatchObject({ status: 'succeeded', cancelled_reason: null });
  });

  it('[HOOK-08] sends at once what waited when the subscription was disabled and is enabled again', async () => {
    const subscriber = await scene.subscriber();
    await disable(subscriber);
    subscriber.receiver.answer(204);
    await scene.dispatcher.call('PATCH', `/${subscriber.id}`, { status: 'active' });
    const [{ id, status }] = await subscriber.log();
    expect(status).toBe('pending');
    await redeliver(subscriber, id);
    expect((await subscriber.log())[0]).toMatchObject({ id, status: 'succeeded', attempts: [{ number: 1 }, { number: 2 }] });
    await scene.dispatcher.pass(3600);
    expect(subscriber.receiver.received).toHaveLength(21);
  });

  it('[HOOK-07] [HOOK-08] of a test goes on while the subscription is disabled', async () => {
    const subscriber = await scene.subscriber({}, 500);
    await disable(subscriber);
    const { id } = (await test(subscriber)).body;
    const found = async () => (await subscriber.log()).find((delivery) => delivery.id === id);
    expect(await found()).toMatchObject({ status: 'exhausted' });
    subscriber.receiver.answer(204);
    await redeliver(subscriber, id);
    expect(await found()).toMatchObject({ status: 'succeeded' });
    expect(await subscriber.shown()).toMatchObject({ status: 'disabled' });
  });

  it('a delivery that is absent, or of another subscription, is one 404', async () => {
    const [one, two] = [await scene.subscriber(), await scene.subscriber()];
    await bubbleReady('b1');
    const [delivery] = await two.log();
    const answers = [await redeliver(one, delivery.id), await redeliver(one, 'dlv_absent')];
    expect(answers.map(refusal)).toEqual([
      [404, 'not_found'],
      [404, 'not_found'],
    ]);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  });

  it('deliveries and their bodies are forgotten after thirty days, those that wait aside', async () => {
    const subscriber = await scene.subscriber();
    await bubbleReady('b1');
    subscriber.receiver.answer(500);
    await bubbleReady('b2');
    const { clock, service, database } = scene.dispatcher;
    await clock.set(new Date(clock.now().getTime() + 30 * 86_400_000 + 1));
    const job = service.jobs.find(({ name }) => name === 'sweep-deliveries');
    subscriber.receiver.answer(204);
    await job?.run();
    const kept = (await subscriber.log()).map(({ bubble_id }) => bubble_id);
    expect(kept).toEqual(['b2']);
    await clock.set(new Date(clock.now().getTime() + 86_400_000));
    await service.settle();
    await job?.run();
    expect([await subscriber.log(), await database.collection('events').count({})]).toEqual([[], 0]);
  });
});
