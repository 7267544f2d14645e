import { expectEventually } from '@bubbles/testing/eventually.ts';
import { afterEach, describe, expect, it } from '@jest/globals';
import { aBubble, type Ready } from './builders.ts';
import { CONFIG, type TestDispatcherOptions } from './dispatcher.ts';
import { startReceiver, type TestReceiver } from './receivers.ts';
import { openScene, type Scene, type Subscriber } from './scene.ts';

let scene: Scene;
const open = async (limits: Partial<typeof CONFIG.limits> = {}, options: TestDispatcherOptions = {}) => {
  // Who never answers goes on hanging for as long as a slow machine takes for the others.
  const timing = { ...CONFIG.timing, deadlineMs: 120_000 };
  scene = await openScene({ ...options, config: { timing, limits: { ...CONFIG.limits, leaseMs: 240_000, ...limits } } });
};
afterEach(() => scene.stop());

const meeting = (id: string): Partial<Ready> => ({ bubble: aBubble({ id }) });
const screen = (id: string): Partial<Ready> => ({ bubble: aBubble({ id, type: 'screen_recording' }) });
const silence = () => null;

describe('section 6, receivers beside each other', () => {
  it('[DLV-06] one that never answers, with twenty times the traffic, holds up nobody', async () => {
    await open();
    const slow = await scene.subscriber({ events: ['meeting_recording.ready'] }, silence);
    const fast = await scene.subscriber({ events: ['screen_recording.ready'] });
    for (let n = 0; n < 200; n += 1) await scene.dispatcher.ready(meeting(`slow-${n}`));
    for (let n = 0; n < 10; n += 1) await scene.dispatcher.ready(screen(`fast-${n}`));
    await fast.receiver.reached(10);
    await slow.receiver.reached(CONFIG.limits.perSubscription);
    expect(slow.receiver.received).toHaveLength(CONFIG.limits.perSubscription);
    expect(new Set(fast.receiver.ids()).size).toBe(10);
  });

  it('[DLV-06] nor does one that many subscriptions lead to', async () => {
    await open({ perSubscription: 2, perOrigin: 11, perProcess: 16, reservedForFirst: 1 });
    const slow = await scene.subscriber({ events: ['meeting_recording.ready'] }, silence);
    for (let n = 0; n < 9; n += 1) await scene.dispatcher.subscribe({ url: slow.receiver.url, events: ['meeting_recording.ready'] });
    const fast = await scene.subscriber({ events: ['screen_recording.ready'] });
    for (const id of ['b1', 'b2', 'b3']) await scene.dispatcher.ready(meeting(id));
    await slow.receiver.reached(6);
    for (let n = 0; n < 5; n += 1) await scene.dispatcher.ready(screen(`fast-${n}`));
    await fast.receiver.reached(5);
    expect(slow.receiver.received).toHaveLength(6);
  });

  it('[GEN-14] nor do all receivers of an owner who has more of them than there are slots', async () => {
    await open();
    const { peers, call } = scene.dispatcher;
    peers.user('eve');
    const hanging: TestReceiver[] = [];
    for (let n = 0; n < 70; n += 1) {
      const receiver = await startReceiver(silence);
      hanging.push(receiver);
      await call('POST', '', { url: receiver.url, events: ['bubble.ready'] }, { userId: 'eve' });
    }
    const { receiver } = await scene.subscriber();
    for (let n = 0; n < 5; n += 1) await scene.dispatcher.ready({ ...meeting(`eve-${n}`), participant_user_ids: ['eve'] });
    await scene.dispatcher.ready(meeting('ada'));
    await receiver.reached(1);
    const count = hanging.reduce((sum, { received }) => sum + received.length, 0);
    expect(count).toBeLessThanOrEqual(CONFIG.limits.perProcess / 2);
    await Promise.all(hanging.map((one) => one.close()));
  });

  it('[DLV-06] [GEN-14] nor do those of an owner that lead to the very origin of another one', async () => {
    await open();
    const { peers, call } = scene.dispatcher;
    peers.user('eve');
    const { receiver: shared } = await scene.subscriber({ events: ['bubble.ready'] }, silence);
    for (let n = 0; n < CONFIG.limits.perOrigin / CONFIG.limits.perSubscription; n += 1)
      await call('POST', '', { url: shared.url, events: ['bubble.ready'] }, { userId: 'eve' });
    const sent = (owner: string) => shared.received.filter(({ body }) => body.includes(`"id":"${owner}`)).length;
    for (let n = 0; n < 6; n += 1) await scene.dispatcher.ready({ ...meeting(`eve-${n}`), participant_user_ids: ['eve'] });
    await expectEventually(() => sent('eve') >= CONFIG.limits.perOrigin / 2);
    await scene.dispatcher.ready(meeting('ada'));
    await expectEventually(() => sent('ada') === 1);
    expect(sent('eve')).toBe(CONFIG.limits.perOrigin / 2);
  });

  it('[DLV-06] one that timed out gets a single attempt at a time until it answers', async () => {
    scene = await openScene({ config: { timing: { ...CONFIG.timing, deadlineMs: 2000 } } });
    const { receiver } = await scene.subscriber({}, silence);
    for (let n = 0; n < 4; n += 1) await scene.dispatcher.ready(meeting(`b-${n}`));
    const inFlight = () => scene.dispatcher.registry.getSingleMetricAsString('webhook_in_flight');
    // Only then the others: each of these four is sent before one of them has timed out.
    await receiver.reached(4);
    for (let n = 4; n < 8; n += 1) await scene.dispatcher.ready(meeting(`b-${n}`));
    for (const count of [5, 6]) {
      await receiver.reached(count);
      expect(await inFlight()).toContain('webhook_in_flight 1');
    }
    receiver.answer(204);
    await scene.dispatcher.settle();
    receiver.answer(silence);
    await scene.dispatcher.clock.advance(60_000);
    await receiver.reached(12);
    expect(await inFlight()).toContain('webhook_in_flight 4');
  });

  it('[DLV-06] retries leave room for first attempts', async () => {
    await open({ perSubscription: 4, perOrigin: 4, perProcess: 6, reservedForFirst: 2 });
    const failing: Subscriber[] = [];
    for (let n = 0; n < 4; n += 1) failing.push(await scene.subscriber({ events: ['meeting_recording.ready'] }, 500));
    for (const id of ['b1', 'b2']) await scene.dispatcher.ready(meeting(id));
    await scene.dispatcher.settle();
    for (const { receiver } of failing) receiver.answer(silence);
    const fresh = await scene.subscriber({ events: ['screen_recording.ready'] });
    await scene.dispatcher.clock.advance(60_000);
    const retried = () => failing.reduce((sum, { receiver }) => sum + receiver.received.length - 2, 0);
    await expectEventually(() => retried() === 2);
    await scene.dispatcher.ready(screen('fresh'));
    await fresh.receiver.reached(1);
    // Those that hang still do: none has ended and made room for another one.
    expect(retried()).toBe(2);
  });

  it('[DLV-06] what waits for its turn goes as soon as there is room', async () => {
    await open();
    const held = Promise.withResolvers<void>();
    const { receiver } = await scene.subscriber({}, (response) => held.promise.then(() => response.end()));
    for (let n = 0; n < 12; n += 1) await scene.dispatcher.ready(meeting(`b-${n}`));
    await receiver.reached(4);
    const metric = await scene.dispatcher.registry.getSingleMetricAsString('webhook_saturated');
    expect(metric).toContain('webhook_saturated 1');
    held.resolve();
    await scene.dispatcher.settle();
    expect(new Set(receiver.ids()).size).toBe(12);
  });

  it('[DLV-06] one that hangs leaves the room of another port of its host alone', async () => {
    await open({ perOrigin: 7 });
    const slow = await scene.subscriber({ events: ['meeting_recording.ready'] }, silence);
    const fast = await scene.subscriber({ events: ['meeting_recording.ready'] });
    for (let n = 0; n < 8; n += 1) await scene.dispatcher.ready(meeting(`b-${n}`));
    await fast.receiver.reached(8);
    await slow.receiver.reached(4);
    expect(slow.receiver.received).toHaveLength(4);
  });
});

describe('section 6, dispatchers beside each other', () => {
  it('[DLV-05] on one store share the work and send nothing twice', async () => {
    await open();
    const { receiver, log } = await scene.subscriber();
    const { database, clock, bus, peers } = scene.dispatcher;
    const others = [await openScene({ database, clock, bus, peers }), await openScene({ database, clock, bus, peers })];
    await Promise.all(Array.from({ length: 60 }, (_, n) => scene.dispatcher.ready(meeting(`b-${n}`))));
    for (const { dispatcher } of [scene, ...others, scene]) await dispatcher.settle();
    expect(receiver.received).toHaveLength(60);
    expect(new Set(receiver.ids()).size).toBe(60);
    expect((await log()).every(({ status }) => status === 'succeeded')).toBe(true);
    for (const other of others) await other.stop();
  });
});
