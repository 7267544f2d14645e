import { describe, expect, it } from '@jest/globals';
import { aDelivery, aReadyBubble, aSubscription } from '../../test/builders.ts';
import { type LiveAccess, liveRefusal, subscriptionRefusal } from './gate.ts';

const pro: LiveAccess = { ownerActive: true, ownerPays: false, team: { plan: 'pro', archived: false } };
const taking = { readable: true, participates: true };
const aTest = aDelivery({ type: 'webhook.test', bubble: null });

describe('section 6, what an attempt asks first', () => {
  it.each([
    ['nothing speaks against it', pro, taking, null],
    ['the account is closed', { ...pro, ownerActive: false }, taking, 'account_closed'],
    ['the team is free', { ...pro, team: { plan: 'free', archived: false } as const }, taking, 'plan_required'],
    ['the team is archived', { ...pro, team: { plan: 'pro', archived: true } as const }, taking, 'team_archived'],
    ['the bubble cannot be read', pro, { readable: false, participates: false }, 'bubble_not_readable'],
    ['the owner takes no part', pro, { readable: true, participates: false }, 'not_participating'],
  ])('[EVT-03] %s', (_why, access, reading, expected) => {
    expect(liveRefusal(aDelivery(), access, reading)).toBe(expected);
  });

  it('[EVT-03] without a team the owner’s own paid features decide', () => {
    const delivery = aDelivery({ bubble: aReadyBubble({ teamId: null }) });
    expect(liveRefusal(delivery, { ...pro, team: null, ownerPays: true }, taking)).toBeNull();
    expect(liveRefusal(delivery, { ...pro, team: null }, taking)).toBe('plan_required');
  });

  it('[HOOK-07] a test needs an active owner with paid features and no bubble', () => {
    expect(liveRefusal(aTest, { ownerActive: true, ownerPays: true, team: null }, null)).toBeNull();
    expect(liveRefusal(aTest, { ownerActive: true, ownerPays: false, team: null }, null)).toBe('plan_required');
  });

  it.each([
    ['as it was', aSubscription(), null],
    ['enabled anew', aSubscription({ epoch: 2 }), 'subscription_changed'],
    ['disabled', aSubscription({ status: 'disabled' }), 'subscription_disabled'],
    ['without the event', aSubscription({ events: ['screen_recording.ready'] }), 'event_not_selected'],
    ['of another team', aSubscription({ teamId: 'other' }), 'no_longer_matches'],
  ])('[HOOK-05] the subscription is %s', (_how, subscription, expected) => {
    expect(subscriptionRefusal(aDelivery(), subscription)).toBe(expected);
  });

  it('[HOOK-07] a test goes to a disabled subscription too', () => {
    expect(subscriptionRefusal(aTest, aSubscription({ status: 'disabled', events: [] }))).toBeNull();
  });
});
