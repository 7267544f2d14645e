import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { aBubble, NOON } from './builders.ts';
import { CONFIG } from './dispatcher.ts';
import { type Behaviour, deliveryIdOf } from './receivers.ts';
import { openScene, type Scene, type Subscriber } from './scene.ts';

let scene: Scene;
beforeEach(async () => {
  scene = await openScene();
});
afterEach(() => scene.stop());

const LONG = 3600;
const delivered = async (behaviour: Behaviour): Promise<Subscriber> => {
  const subscriber = await scene.subscriber({}, behaviour);
  await scene.dispatcher.ready();
  await scene.dispatcher.settle();
  return subscriber;
};
/** Looks just before and at the moment. */
const expectNextAfter = async (seconds: number, { receiver }: Subscriber, attempts: number) => {
  await scene.dispatcher.pass(seconds - 0.001);
  expect(receiver.received).toHaveLength(attempts - 1);
  await scene.dispatcher.pass(0.001);
  expect(receiver.received).toHaveLength(attempts);
};

describe('section 6, retries', () => {
  it('[DLV-04] [DLV-02] [DLV-03] five attempts, 60, 120, 240 and 480 seconds after the end of the one before, and no sixth', async () => {
    const subscriber = await delivered(500);
    for (const [n, seconds] of [60, 120, 240, 480].entries()) await expectNextAfter(seconds, subscriber, n + 2);
    await scene.dispatcher.pass(LONG);
    const { received } = subscriber.receiver;
    expect(received).toHaveLength(5);
    expect(new Set(received.map(deliveryIdOf)).size).toBe(1);
    expect(new Set(received.map(({ body }) => body.toString())).size).toBe(1);
    const signed = received.map(({ headers }) => Number(/^t=(\d+),/.exec(String(headers['x-service-signature']))?.[1]));
    expect(signed.map((t) => t - NOON.getTime() / 1000)).toEqual([0, 60, 180, 420, 900]);
    const [delivery] = await subscriber.log();
    expect(delivery).toMatchObject({
      status: 'exhausted',
      next_attempt_at: null,
      finished_at: new Date(NOON.getTime() + 900_000).toISOString(),
    });
    expect(delivery.attempts.map(({ number, status }: { number: number; status: number }) => [number, status])).toEqual(
      [1, 2, 3, 4, 5].map((n) => [n, 500]),
    );
  });

  it('[DLV-04] the delay counts from the end of the attempt, however long it took', async () => {
    const { clock } = scene.dispatcher;
    const subscriber = await delivered(async (response) => {
      await clock.set(new Date(clock.now().getTime() + 7000));
      response.writeHead(500).end();
    });
    expect(clock.now()).toEqual(new Date(NOON.getTime() + 7000));
    subscriber.receiver.answer(204);
    await expectNextAfter(60, subscriber, 2);
  });

  it('[DLV-04] a success ends it', async () => {
    const subscriber = await delivered(500);
    subscriber.receiver.answer(299);
    await scene.dispatcher.pass(60);
    await scene.dispatcher.pass(LONG);
    expect(subscriber.receiver.received).toHaveLength(2);
    expect(await subscriber.log()).toMatchObject([{ status: 'succeeded', attempts: [{ status: 500 }, { status: 299 }] }]);
  });

  it.each<[string, Behaviour, object]>([
    [
      'a redirect, which is not followed',
      (response) => response.writeHead(307, { location: '/elsewhere' }).end(),
      { outcome: '3xx', status: 307 },
    ],
    ['410', 410, { outcome: '4xx', status: 410 }],
    [
      '429 with Retry-After',
      (response) => response.writeHead(429, { 'retry-after': '7' }).end('slow down'),
      { outcome: '429', response_preview: 'slow down' },
    ],
    ['503 with Retry-After', (response) => response.writeHead(503, { 'retry-after': '1200' }).end(), { outcome: '5xx', status: 503 }],
    ['a connection that ends', (response) => response.destroy(), { outcome: 'reset', status: null }],
  ])('[DLV-04] [HOOK-10] %s is an ordinary failure', async (_what, behaviour, line) => {
    const subscriber = await delivered(behaviour);
    expect((await subscriber.log())[0].attempts).toMatchObject([line]);
    await expectNextAfter(60, subscriber, 2);
  });

  it('[DLV-04] nobody who listens is a failure', async () => {
    const subscriber = await scene.subscriber();
    await subscriber.receiver.close();
    await scene.dispatcher.ready();
    await scene.dispatcher.settle();
    expect(await subscriber.log()).toMatchObject([{ status: 'pending', attempts: [{ outcome: 'connect', status: null }] }]);
  });

  it('[DLV-04] no answer within the deadline is a failure', async () => {
    await scene.restart({ config: { timing: { ...CONFIG.timing, deadlineMs: 200 } } });
    const subscriber = await delivered(() => null);
    expect(await subscriber.log()).toMatchObject([{ status: 'pending', attempts: [{ outcome: 'timeout', status: null }] }]);
  });

  it('[DLV-04] [HOOK-10] a receiver that is not admitted any more is not dialled', async () => {
    const subscriber = await scene.subscriber();
    await scene.restart({ config: { receivers: { ...CONFIG.receivers, loopback: false } } });
    await scene.dispatcher.ready();
    await scene.dispatcher.settle();
    expect(subscriber.receiver.received).toEqual([]);
    expect((await subscriber.log())[0].attempts).toMatchObject([{ outcome: 'blocked_address', status: null, response_preview: null }]);
  });

  it('[DLV-04] the loop wakes by itself when a retry falls due', async () => {
    const { receiver } = await delivered(500);
    await scene.dispatcher.clock.advance(60_000);
    await receiver.reached(2);
    expect(receiver.received).toHaveLength(2);
  });

  it('[DLV-04] each delivery has a schedule of its own', async () => {
    const subscriber = await delivered(500);
    await scene.dispatcher.pass(30);
    await scene.dispatcher.ready({ bubble: aBubble({ id: 'b2' }) });
    await scene.dispatcher.settle();
    await scene.dispatcher.pass(30);
    const [first = '', second = ''] = subscriber.receiver.ids();
    await scene.dispatcher.pass(30);
    expect(subscriber.receiver.ids()).toEqual([first, second, first, second]);
  });

  it('says when the next attempt is, and nothing while one is on the wire', async () => {
    const held = Promise.withResolvers<void>();
    const subscriber = await scene.subscriber({}, (response) => held.promise.then(() => response.writeHead(500).end()));
    await scene.dispatcher.ready();
    await subscriber.receiver.reached(1);
    expect(await subscriber.log()).toMatchObject([{ status: 'pending', next_attempt_at: null }]);
    held.resolve();
    await scene.dispatcher.settle();
    expect(await subscriber.log()).toMatchObject([{ status: 'pending', next_attempt_at: new Date(NOON.getTime() + 60_000).toISOString() }]);
  });
});
