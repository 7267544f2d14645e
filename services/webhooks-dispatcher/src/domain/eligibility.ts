import type { CancelReason, Delivery } from './delivery.ts';
import { covers, type ReadyBubble, type Subscription } from './subscription.ts';

const FREE = 'free';

/** What identity says of the owner and the bubble's team now. */
interface LiveAccess {
  readonly ownerActive: boolean;
  /** Admin or member of an unarchived team on plan pro. */
  readonly ownerPays: boolean;
  /** Null when the bubble has no team now, and for a test. */
  readonly team: { readonly plan: string; readonly archived: boolean } | null;
}

/** What bubbles-query says of the owner and the bubble now. */
export interface LiveReading {
  readonly participates: boolean;
  /** What it belongs to now; null when it may not be read. */
  readonly bubble: Omit<ReadyBubble, 'id' | 'type'> | null;
}

/** The bubble as it is now; where it may not be read, as it was when it became ready. */
export const asOfNow = (ready: ReadyBubble, { bubble }: LiveReading): ReadyBubble => ({ ...ready, ...bubble });

const accessRefusal = ({ ownerActive, ownerPays, team }: LiveAccess): CancelReason | null => {
  if (!ownerActive) return 'account_closed';
  if (team === null) return ownerPays ? null : 'plan_required';
  if (team.archived) return 'team_archived';
  // An unknown plan of a newer release counts as paying, because a cancelled delivery cannot be restored.
  return team.plan === FREE ? 'plan_required' : null;
};

const readingRefusal = ({ bubble, participates }: LiveReading): CancelReason | null => {
  if (bubble === null) return 'bubble_not_readable';
  return participates ? null : 'not_participating';
};

/** Why the answers of identity and bubbles-query end this delivery; null when they do not. A test has no bubble, so its reading is null. */
export const liveRefusal = (access: LiveAccess, reading: LiveReading | null): CancelReason | null =>
  accessRefusal(access) ?? (reading && readingRefusal(reading));

/** What the subscription is compared with, as it is now. */
interface Current {
  /** Null for a test. */
  readonly bubble: ReadyBubble | null;
  /** The life of the owner's account: a subscription ends with the one in which it was made, even if the account is opened again. */
  readonly ownerLife: number;
}

/** Why the subscription as it is now ends this delivery; null when it does not. Tests go to disabled ones too, once, whatever they are subscribed to. */
export function subscriptionRefusal(delivery: Delivery, subscription: Subscription, { bubble, ownerLife }: Current): CancelReason | null {
  if (subscription.ownerLife < ownerLife) return 'account_closed';
  if (subscription.epoch !== delivery.epoch) return 'subscription_changed';
  const isRetry = delivery.attemptCount > delivery.attemptsBeforeQueue;
  if (subscription.status === 'disabled' && (delivery.type !== 'webhook.test' || isRetry)) return 'subscription_disabled';
  if (delivery.type === 'webhook.test' || bubble === null) return null;
  if (!subscription.events.includes(delivery.type)) return 'event_not_selected';
  return covers(subscription, bubble) ? null : 'no_longer_matches';
}
