import type { CancelReason, Delivery } from './delivery.ts';
import { covers, type Subscription } from './subscription.ts';

/** What identity says of the owner and the bubble's team now. */
export interface LiveAccess {
  readonly ownerActive: boolean;
  /** Admin or member of an unarchived team on plan pro. */
  readonly ownerPays: boolean;
  /** Null for a bubble without a team. */
  readonly team: { readonly plan: 'free' | 'pro'; readonly archived: boolean } | null;
}
/** What bubbles-query says of the owner and the bubble now. */
export interface LiveReading {
  readonly readable: boolean;
  readonly participates: boolean;
}

const accessRefusal = (delivery: Delivery, { ownerActive, ownerPays, team }: LiveAccess): CancelReason | null => {
  if (!ownerActive) return 'account_closed';
  if (delivery.bubble === null || team === null) return ownerPays ? null : 'plan_required';
  if (team.archived) return 'team_archived';
  return team.plan === 'pro' ? null : 'plan_required';
};

const readingRefusal = ({ readable, participates }: LiveReading): CancelReason | null => {
  if (!readable) return 'bubble_not_readable';
  return participates ? null : 'not_participating';
};

/** Why identity or bubbles-query end this delivery; null when they do not. A test has no bubble to be read. */
export const liveRefusal = (delivery: Delivery, access: LiveAccess, reading: LiveReading | null): CancelReason | null =>
  accessRefusal(delivery, access) ?? (reading && readingRefusal(reading));

/** Why the subscription as it is now ends this delivery; null when it does not. Tests go to disabled ones too, whatever they are subscribed to. */
export function subscriptionRefusal(delivery: Delivery, subscription: Subscription): CancelReason | null {
  if (subscription.epoch !== delivery.epoch) return 'subscription_changed';
  if (delivery.type === 'webhook.test' || delivery.bubble === null) return null;
  if (subscription.status === 'disabled') return 'subscription_disabled';
  if (!subscription.events.includes(delivery.type)) return 'event_not_selected';
  return covers(subscription, delivery.bubble) ? null : 'no_longer_matches';
}
