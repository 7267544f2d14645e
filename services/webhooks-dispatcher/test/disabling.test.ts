import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { aBubble } from './builders.ts';
import { openScene, type Scene, type Subscriber } from './scene.ts';

let scene: Scene;
beforeEach(async () => {
  scene = await openScene();
});
afterEach(() => scene.stop());

let bubbles = 0;
/** Makes this number of bubbles ready, one after the other. */
const bubblesReady = async (count: number) => {
  for (let n = 0; n < count; n += 1) {
    bubbles += 1;
    await scene.dispatcher.ready({ bubble: aBubble({ id: `b-${bubbles}` }) });
    await scene.dispatcher.settle();
  }
};
const enable = ({ id }: Subscriber) => scene.dispatcher.call('PATCH', `/${id}`, { status: 'active' });
const untilDisabled = async ({ shown }: Subscriber) => {
  while ((await shown()).status === 'active') await setImmediate();
};
const DISABLED = { status: 'disabled', disabled_reason: 'delivery_failures' };
const ACTIVE = { status: 'active', disabled_reason: null, disabled_at: null };

describe('section 3, consecutive failures', () => {
  it('[HOOK-08] the 20th in a row disables, and says since when', async () => {
    const subscriber = await scene.subscriber({}, 500);
    await bubblesReady(19);
    expect(await subscriber.shown()).toMatchObject(ACTIVE);
    await scene.dispatcher.pass(1);
    await bubblesReady(1);
    const at = scene.dispatcher.clock.now().toISOString();
    expect(await subscriber.shown()).toMatchObject({ ...DISABLED, disabled_at: at, last_failure_at: at });
  });

  it('[HOOK-08] [HOOK-05] enabling an active one changes nothing: its failures stay counted', async () => {
    const subscriber = await scene.subscriber({}, 500);
    await bubblesReady(19);
    const before = await subscriber.shown();
    expect((await enable(subscriber)).body).toEqual(before);
    await bubblesReady(1);
    expect(await subscriber.shown()).toMatchObject(DISABLED);
  });

  it('[HOOK-08] retries count like first attempts', async () => {
    const subscriber = await scene.subscriber({}, 500);
    await bubblesReady(5);
    for (const seconds of [60, 120]) await scene.dispatcher.pass(seconds);
    expect(await subscriber.shown()).toMatchObject(ACTIVE);
    await scene.dispatcher.pass(240);
    expect(subscriber.receiver.received).toHaveLength(20);
    expect(await subscriber.shown()).toMatchObject(DISABLED);
  });

  it('[HOOK-08] [HOOK-09] a success resets them', async () => {
    const subscriber = await scene.subscriber({}, 500);
    await bubblesReady(19);
    subscriber.receiver.answer(204);
    await bubblesReady(1);
    subscriber.receiver.answer(500);
    await scene.dispatcher.pass(1);
    await bubblesReady(19);
    const now = scene.dispatcher.clock.now().getTime();
    expect(await subscriber.shown()).toMatchObject({
      ...ACTIVE,
      last_success_at: new Date(now - 1000).toISOString(),
      last_failure_at: new Date(now).toISOString(),
    });
    await bubblesReady(1);
    expect(await subscriber.shown()).toMatchObject(DISABLED);
  });

  it('[HOOK-08] what waits when it is disabled is cancelled, and what comes then is missed', async () => {
    const subscriber = await scene.subscriber({}, 500);
    await bubblesReady(20);
    await bubblesReady(1);
    await scene.dispatcher.pass(60);
    expect(subscriber.receiver.received).toHaveLength(20);
    const log = await subscriber.log();
    expect(log).toHaveLength(21);
    expect(log.every(({ status, cancelled_reason }) => status === 'cancelled' && cancelled_reason === 'subscription_disabled')).toBe(true);
  });

  it('[HOOK-08] attempts on the wire when it is disabled end as they end, and change that no more', async () => {
    const subscriber = await scene.subscriber({}, 500);
    await bubblesReady(19);
    const held = [500, 204, 500].map((status) => ({ status, ...Promise.withResolvers<void>() }));
    const waiting = [...held];
    subscriber.receiver.answer((response) => {
      const one = waiting.shift();
      return one?.promise.then(() => response.writeHead(one.status).end());
    });
    for (const id of ['x', 'y', 'z']) await scene.dispatcher.ready({ bubble: aBubble({ id }) });
    await subscriber.receiver.reached(22);
    held[0]?.resolve();
    await untilDisabled(subscriber);
    for (const { resolve } of held) resolve();
    await scene.dispatcher.settle();
    expect(await subscriber.shown()).toMatchObject({ ...DISABLED, last_success_at: scene.dispatcher.clock.now().toISOString() });
    expect((await subscriber.log()).filter(({ status }) => status === 'succeeded')).toHaveLength(1);
  });
});

describe('section 3, enabling', () => {
  const disabled = async () => {
    const subscriber = await scene.subscriber({}, 500);
    await bubblesReady(20);
    return subscriber;
  };

  it('[HOOK-08] begins a new life: the counter is at zero, what belonged to the old one is cancelled', async () => {
    const subscriber = await disabled();
    expect((await enable(subscriber)).body).toMatchObject(ACTIVE);
    await scene.dispatcher.pass(60);
    expect(subscriber.receiver.received).toHaveLength(20);
    expect((await subscriber.log()).every(({ cancelled_reason }) => cancelled_reason === 'subscription_changed')).toBe(true);
    await bubblesReady(19);
    expect(await subscriber.shown()).toMatchObject(ACTIVE);
    await bubblesReady(1);
    expect(await subscriber.shown()).toMatchObject(DISABLED);
  });

  it('[HOOK-08] a failure that was on the wire meanwhile does not count against the new life', async () => {
    const subscriber = await scene.subscriber({}, 500);
    await bubblesReady(18);
    const held = Promise.withResolvers<void>();
    subscriber.receiver.answer((response) => held.promise.then(() => response.writeHead(500).end()));
    await scene.dispatcher.ready({ bubble: aBubble({ id: 'slow' }) });
    await subscriber.receiver.reached(19);
    subscriber.receiver.answer(500);
    for (const id of ['x', 'y']) await scene.dispatcher.ready({ bubble: aBubble({ id }) });
    await subscriber.receiver.reached(21);
    await untilDisabled(subscriber);
    await enable(subscriber);
    held.resolve();
    await scene.dispatcher.settle();
    await bubblesReady(19);
    expect(await subscriber.shown()).toMatchObject(ACTIVE);
  });

  it('[HOOK-08] an active one that is enabled goes on as it was', async () => {
    const subscriber = await scene.subscriber({}, 500);
    await bubblesReady(19);
    expect((await enable(subscriber)).body).toMatchObject(ACTIVE);
    await bubblesReady(1);
    expect(await subscriber.shown()).toMatchObject(DISABLED);
  });

  it('[HOOK-05] other changes do not enable', async () => {
    const subscriber = await disabled();
    const patched = await scene.dispatcher.call('PATCH', `/${subscriber.id}`, { events: ['screen_recording.ready'] });
    expect(patched.body).toMatchObject(DISABLED);
  });
});
