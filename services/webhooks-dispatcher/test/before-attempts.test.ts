import { setImmediate } from 'node:timers/promises';
import { AccessRequest } from '@bubbles/contracts/internal/identity.ts';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { SubscriptionDoc } from '../src/adapters/store/subscriptions.ts';
import { aBubble, type Ready } from './builders.ts';
import { CONFIG } from './dispatcher.ts';
import { asReady } from './fake-peers.ts';
import { openScene, type Scene, type Subscriber } from './scene.ts';

let scene: Scene;
beforeEach(async () => {
  scene = await openScene();
});
afterEach(() => scene.stop());

const ready = async (fields: Partial<Ready> = {}) => {
  await scene.dispatcher.ready(fields);
  await scene.dispatcher.settle();
};
const patch = ({ id }: Subscriber, body: unknown) => scene.dispatcher.call('PATCH', `/${id}`, body);
/** A delivery that failed once and waits for its retry. */
const waiting = async (fields: Partial<Ready> = {}): Promise<Subscriber> => {
  const subscriber = await scene.subscriber({ events: ['bubble.ready'] }, 500);
  await ready(fields);
  subscriber.receiver.answer(204);
  return subscriber;
};

type Meanwhile = (subscriber: Subscriber) => unknown;
const peers = () => scene.dispatcher.peers;

/** The bubble belongs to something else now; the team `pro` pays, `free` does not. */
const move = (fields: Partial<Ready>) => {
  peers().team('pro');
  peers().team('free', { plan: 'free' });
  peers().bubble('b1', asReady(fields));
};
const moveOut = () => {
  peers().user('ada', { paid_features: false });
  move({ team_id: null });
};

const CANCELLED: readonly (readonly [string, string, Meanwhile])[] = [
  ['account_closed', 'the account is disabled', () => peers().user('ada', { state: 'disabled' })],
  ['account_closed', 'the account is deleted', () => peers().user('ada', { state: 'deleted' })],
  ['account_closed', 'the account was deleted and is open again', () => peers().user('ada', { life: 2 })],
  ['plan_required', 'the team goes to plan free', () => peers().team('team', { plan: 'free' })],
  ['team_archived', 'the team is archived', () => peers().team('team', { archived: true })],
  ['bubble_not_readable', 'the bubble is archived or removed', () => peers().bubble('b1', { bubble: null, participates: false })],
  ['not_participating', 'the owner takes part no more', () => peers().bubble('b1', { ...asReady(), participates: false })],
  ['plan_required', 'the bubble moves to a team on plan free', () => move({ team_id: 'free' })],
  ['plan_required', 'the bubble leaves its team and the owner pays for none', () => moveOut()],
  ['event_not_selected', 'the event is deselected', (subscriber) => patch(subscriber, { events: ['screen_recording.ready'] })],
  ['no_longer_matches', 'a filter excludes it', (subscriber) => patch(subscriber, { filters: { bubble_types: ['custom_image'] } })],
];

describe('section 6, what every attempt asks first', () => {
  it.each(CANCELLED)('[EVT-03] [HOOK-05] cancelled as %s when %s', async (reason, _why, meanwhile) => {
    const subscriber = await waiting();
    await meanwhile(subscriber);
    await scene.dispatcher.pass(60);
    expect(subscriber.receiver.received).toHaveLength(1);
    scene.dispatcher.peers.user('ada');
    expect(await subscriber.log()).toMatchObject([
      { status: 'cancelled', cancelled_reason: reason, next_attempt_at: null, finished_at: scene.dispatcher.clock.now().toISOString() },
    ]);
    expect(await scene.dispatcher.registry.getSingleMetricAsString('webhook_cancelled_total')).toContain(`{reason="${reason}"} 1`);
  });

  it('[EVT-03] a filter is held against the bubble as it is now', async () => {
    const subscriber = await scene.subscriber({ filters: { only_my_bubbles: true } }, 500);
    await ready();
    move({ author_id: 'eve' });
    await scene.dispatcher.pass(60);
    expect(subscriber.receiver.received).toHaveLength(1);
    expect(await subscriber.log()).toMatchObject([{ status: 'cancelled', cancelled_reason: 'no_longer_matches' }]);
  });

  it('[EVT-03] the team that the bubble has at dispatch decides, not the one that it had', async () => {
    const subscriber = await scene.subscriber();
    scene.dispatcher.peers.team('team', { plan: 'free' });
    move({ team_id: 'pro' });
    await ready();
    expect(subscriber.receiver.received).toHaveLength(1);
  });

  it('[EVT-03] leaving the team ends neither participation nor delivery', async () => {
    const subscriber = await waiting();
    scene.dispatcher.peers.user('ada', { memberships: [], paid_features: false });
    await scene.dispatcher.pass(60);
    expect(subscriber.receiver.received).toHaveLength(2);
  });

  it('[EVT-03] without a team the owner’s paid features decide', async () => {
    const subscriber = await waiting({ team_id: null });
    scene.dispatcher.peers.team('team', { plan: 'free' });
    await scene.dispatcher.pass(60);
    expect(subscriber.receiver.received).toHaveLength(2);
    scene.dispatcher.peers.user('ada', { paid_features: false });
    await ready({ team_id: null, bubble: aBubble({ id: 'b2' }) });
    scene.dispatcher.peers.user('ada');
    expect((await subscriber.log())[0]).toMatchObject({ status: 'cancelled', cancelled_reason: 'plan_required', attempts: [] });
  });

  it('[EVT-03] on a team that is free at dispatch nothing is sent, whatever the owner pays elsewhere', async () => {
    const subscriber = await scene.subscriber();
    scene.dispatcher.peers.team('team', { plan: 'free' });
    await ready();
    expect(subscriber.receiver.received).toEqual([]);
    expect(await subscriber.log()).toMatchObject([{ cancelled_reason: 'plan_required' }]);
  });

  it('[HOOK-05] the receiver of today gets it', async () => {
    const [before, after] = [await waiting(), await scene.subscriber({ events: ['screen_recording.ready'] })];
    await patch(before, { url: after.receiver.url });
    await scene.dispatcher.pass(60);
    expect([before.receiver.received.length, after.receiver.received.length]).toEqual([1, 1]);
  });
});

describe('section 4, DELETE', () => {
  it('[HOOK-06] no attempt begins after it returned', async () => {
    const subscriber = await waiting();
    expect((await scene.dispatcher.call('DELETE', `/${subscriber.id}`)).status).toBe(204);
    await scene.dispatcher.pass(60);
    await ready({ bubble: aBubble({ id: 'b2' }) });
    expect(subscriber.receiver.received).toHaveLength(1);
    expect(await scene.dispatcher.registry.getSingleMetricAsString('webhook_cancelled_total')).toContain(
      '{reason="subscription_deleted"} 1',
    );
  });

  it('[HOOK-06] one that returns while the attempt asks whether it may is heeded', async () => {
    const asking = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<void>();
    const { bubblesQuery, ...others } = scene.dispatcher.peers;
    await scene.restart({
      peers: {
        ...others,
        bubblesQuery: {
          ...bubblesQuery,
          async post(path, call) {
            asking.resolve();
            await answered.promise;
            return bubblesQuery.post(path, call);
          },
        },
      },
    });
    const subscriber = await scene.subscriber();
    await scene.dispatcher.ready();
    await asking.promise;
    await scene.dispatcher.call('DELETE', `/${subscriber.id}`);
    answered.resolve();
    await scene.dispatcher.settle();
    expect(subscriber.receiver.received).toEqual([]);
  });
});

/** More than a batch takes to be postponed. */
const MANY_TURNS = 1000;
const inFlight = async () => (await scene.dispatcher.registry.getSingleMetric('webhook_in_flight')?.get())?.values[0]?.value;

describe('section 6, while somebody cannot be asked', () => {
  it.each(['identity', 'bubblesQuery'] as const)('[EVT-03] deliveries wait for %s, nobody is charged', async (name) => {
    const subscriber = await scene.subscriber();
    scene.dispatcher.peers.setState(name, 'away');
    await ready();
    for (let n = 0; n < 50; n += 1) await scene.dispatcher.pass(5);
    expect(subscriber.receiver.received).toEqual([]);
    scene.dispatcher.peers.setState(name, 'up');
    expect(await subscriber.log()).toMatchObject([{ status: 'pending', attempts: [] }]);
    await scene.dispatcher.pass(5);
    expect(subscriber.receiver.received).toHaveLength(1);
    expect(await subscriber.shown()).toMatchObject({ last_failure_at: null });
    expect(await subscriber.log()).toMatchObject([{ status: 'succeeded', attempts: [{ number: 1, outcome: '2xx' }] }]);
  });

  it('[EVT-03] deliveries wait for identity that goes away before it is asked of the team of today, nobody is charged', async () => {
    const { identity, ...others } = scene.dispatcher.peers;
    const left = Promise.withResolvers<void>();
    let leaves = true;
    const leaving: typeof identity.post = (path, call) => {
      const ofTeamsOnly = AccessRequest.parse(call.body).user_ids.length === 0;
      if (leaves && ofTeamsOnly) {
        others.setState('identity', 'away');
        left.resolve();
      }
      return identity.post(path, call);
    };
    await scene.restart({ peers: { ...others, identity: { ...identity, post: leaving } } });
    const subscriber = await scene.subscriber();
    move({ team_id: 'pro' });
    await scene.dispatcher.ready();
    await left.promise;
    for (let turn = 0; turn < MANY_TURNS && (await inFlight()) !== 0; turn += 1) await setImmediate();
    expect(await inFlight()).toBe(0);
    leaves = false;
    others.setState('identity', 'up');
    expect(subscriber.receiver.received).toEqual([]);
    expect(await subscriber.shown()).toMatchObject({ last_failure_at: null });
    expect(await subscriber.log()).toMatchObject([{ status: 'pending', attempts: [] }]);
    await scene.dispatcher.pass(5);
    expect(subscriber.receiver.received).toHaveLength(1);
    expect(await subscriber.log()).toMatchObject([{ status: 'succeeded', attempts: [{ number: 1, outcome: '2xx' }] }]);
  });

  it('[EVT-03] who is left out of an answer of identity is not taken for somebody who may not', async () => {
    const { identity, ...others } = scene.dispatcher.peers;
    let leavesOut = false;
    const forgetful: typeof identity.post = (path, call) => {
      const body = leavesOut ? { user_ids: [], team_ids: [] } : call.body;
      return identity.post(path, { ...call, body });
    };
    await scene.restart({ peers: { ...others, identity: { ...identity, post: forgetful } } });
    const subscriber = await scene.subscriber();
    leavesOut = true;
    await ready();
    await scene.dispatcher.settle();
    expect(subscriber.receiver.received).toEqual([]);
    leavesOut = false;
    await scene.dispatcher.pass(5);
    expect(await subscriber.log()).toMatchObject([{ status: 'succeeded' }]);
  });

  it('[EVT-03] a backlog does not ask again and again', async () => {
    const subscriber = await scene.subscriber();
    for (let n = 0; n < 40; n += 1) await scene.dispatcher.ready({ bubble: aBubble({ id: `held-${n}` }) });
    await scene.dispatcher.settle();
    subscriber.receiver.answer(500);
    scene.dispatcher.peers.setState('identity', 'away');
    for (let n = 0; n < 300; n += 1) await scene.dispatcher.ready({ bubble: aBubble({ id: `more-${n}` }) });
    const warnings = () => scene.dispatcher.log.lines.filter(({ message }) => message === 'deliveries postponed').length;
    await scene.dispatcher.settle();
    const first = warnings();
    await scene.dispatcher.pass(4);
    expect(warnings()).toBe(first);
    await scene.dispatcher.pass(1);
    expect(warnings()).toBeGreaterThan(first);
    expect(warnings()).toBeLessThan(first + 10);
  });

  it('[HOOK-07] a test needs nothing of bubbles-query', async () => {
    const subscriber = await scene.subscriber();
    scene.dispatcher.peers.setState('bubblesQuery', 'away');
    await scene.dispatcher.call('POST', `/${subscriber.id}/test`);
    await scene.dispatcher.settle();
    expect(subscriber.receiver.received).toHaveLength(1);
  });

  it('both are asked once for a batch', async () => {
    await scene.restart({ config: { limits: { ...CONFIG.limits, perSubscription: 64, perOrigin: 128 } } });
    await scene.subscriber();
    const { peers: known, ready: tell, settle, pass } = scene.dispatcher;
    known.setState('identity', 'away');
    for (let n = 0; n < 60; n += 1) await tell({ bubble: aBubble({ id: `b-${n}` }) });
    await settle();
    known.setState('identity', 'up');
    const times = () => [known.asked.identity.times, known.asked.bubblesQuery.times] as const;
    const before = times();
    await pass(6);
    const [ofIdentity, ofBubblesQuery] = times().map((count, n) => count - (before[n] ?? 0));
    expect(ofBubblesQuery).toBeLessThan(20);
    expect(ofIdentity).toBe(ofBubblesQuery);
    expect(known.asked.bubblesQuery.most).toBeGreaterThan(30);
  });
});

describe('section 6, faults of ours', () => {
  it('[DLV-05] a secret that cannot be opened charges nobody', async () => {
    const subscriber = await scene.subscriber();
    const subscriptions = scene.dispatcher.database.collection<SubscriptionDoc>('subscriptions');
    await subscriptions.updateOne({ _id: subscriber.id }, { $set: { secretSealed: 'k1.damaged' } });
    await ready();
    expect([(await subscriber.shown()).last_failure_at, subscriber.receiver.received]).toEqual([null, []]);
    expect(await subscriber.log()).toMatchObject([{ status: 'pending', attempts: [] }]);
  });

  it('[DLV-05] a key that was rotated still opens what it sealed', async () => {
    const subscriber = await scene.subscriber();
    await scene.restart({ config: { sealKeys: [{ id: 'k2', key: Buffer.alloc(32, 9) }, ...CONFIG.sealKeys] } });
    await ready();
    expect(subscriber.receiver.received).toHaveLength(1);
  });

  it('a body that is kept no more ends its delivery, and no other in the batch', async () => {
    const [one, two] = [await scene.subscriber({}, 500), await scene.subscriber({ events: ['meeting_recording.ready'] }, 500)];
    await ready();
    const [{ event_id }] = await one.log();
    await scene.dispatcher.database.collection('events').deleteOne({ _id: event_id });
    await scene.dispatcher.pass(60);
    expect(await one.log()).toMatchObject([{ status: 'cancelled', cancelled_reason: 'event_expired' }]);
    expect(two.receiver.received).toHaveLength(2);
  });
});
