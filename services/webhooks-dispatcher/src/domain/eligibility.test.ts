import { describe, expect, it } from '@jest/globals';
import { aDelivery, aReadyBubble, aSubscription } from '../../test/builders.ts';
import { asOfNow, liveRefusal, subscriptionRefusal } from './eligibility.ts';

const pro = { ownerActive: true, ownerPays: false, team: { plan: 'pro', archived: false } };
const BELONGING = { teamId: 'team', channelId: null, authorId: null };
const taking = { bubble: BELONGING, participates: true };
const aTest = aDelivery({ type: 'webhook.test', bubble: null });

describe('section 6, what an attempt asks first', () => {
  it.each([
    ['nothing speaks against it', pro, taking, null],
    ['the account is closed', { ...pro, ownerActive: false }, taking, 'account_closed'],
    ['the team is free', { ...pro, team: { plan: 'free', archived: false } }, taking, 'plan_required'],
    ['the plan of the team is a newer one', { ...pro, team: { plan: 'enterprise', archived: false } }, taking, null],
    ['the team is archived', { ...pro, team: { plan: 'pro', archived: true } }, taking, 'team_archived'],
    ['the bubble cannot be read', pro, { bubble: null, participates: false }, 'bubble_not_readable'],
    ['the owner takes no part', pro, { bubble: BELONGING, participates: false }, 'not_participating'],
  ])('[EVT-03] %s', (_why, access, reading, expected) => {
    expect(liveRefusal(access, reading)).toBe(expected);
  });

  it('[EVT-03] without a team the owner’s own paid features decide', () => {
    expect(liveRefusal({ ...pro, team: null, ownerPays: true }, taking)).toBeNull();
    expect(liveRefusal({ ...pro, team: null }, taking)).toBe('plan_required');
  });

  it('[HOOK-07] a test needs an active owner with paid features and no bubble', () => {
    expect(liveRefusal({ ownerActive: true, ownerPays: true, team: null }, null)).toBeNull();
    expect(liveRefusal({ ownerActive: true, ownerPays: false, team: null }, null)).toBe('plan_required');
  });

  it.each([
    ['as it was', aSubscription(), null],
    ['enabled again', aSubscription({ epoch: 2 }), 'subscription_changed'],
    ['disabled', aSubscription({ status: 'disabled' }), 'subscription_disabled'],
    ['without the event', aSubscription({ events: ['screen_recording.ready'] }), 'event_not_selected'],
    ['of another team', aSubscription({ teamId: 'other' }), 'no_longer_matches'],
  ])('[HOOK-05] the subscription is %s', (_how, subscription, expected) => {
    expect(subscriptionRefusal(aDelivery(), subscription, { bubble: aReadyBubble(), ownerLife: 1 })).toBe(expected);
  });

  it('[EVT-03] a bubble is judged by what it belongs to now, by what it belonged to where it may not be read', () => {
    const ready = aReadyBubble({ teamId: 'team', channelId: 'space' });
    const moved = { teamId: null, channelId: 'other', authorId: 'eve' };
    expect(asOfNow(ready, { bubble: moved, participates: true })).toEqual({ ...ready, ...moved });
    expect(asOfNow(ready, { bubble: null, participates: false })).toEqual(ready);
  });

  it('[HOOK-07] a test goes to a disabled subscription too, once', () => {
    const disabled = aSubscription({ status: 'disabled', events: [] });
    const now = { bubble: null, ownerLife: 1 };
    expect(subscriptionRefusal(aTest, disabled, now)).toBeNull();
    expect(subscriptionRefusal({ ...aTest, attemptCount: 3, attemptsBeforeQueue: 3 }, disabled, now)).toBeNull();
    expect(subscriptionRefusal({ ...aTest, attemptCount: 1 }, disabled, now)).toBe('subscription_disabled');
    expect(subscriptionRefusal({ ...aTest, attemptCount: 1 }, aSubscription(), now)).toBeNull();
  });
});
