type BubbleType = 'meeting_recording' | 'screen_recording' | 'custom_image';

/** What a bubble belongs to. It may change after the bubble became ready. */
interface Belonging {
  readonly teamId: string | null;
  readonly channelId: string | null;
  /** The account of `Bubble.author`. */
  readonly authorId: string | null;
}

/** What scope and filters of subscriptions are compared with. */
export interface ReadyBubble extends Belonging {
  readonly id: string;
  /** A known event type, or one of a newer release. */
  readonly type: string;
}

export type EventType = 'bubble.ready' | 'meeting_recording.ready' | 'screen_recording.ready';
export type DeliveredType = EventType | 'webhook.test';

/** Shown as it was set: a filter that was not given stays absent. */
export interface Filters {
  readonly bubbleTypes?: readonly BubbleType[];
  /** Only bubbles whose author is the owner. */
  readonly onlyMyBubbles?: boolean;
}

export interface Subscription {
  /** `wh_…` */
  readonly id: string;
  readonly ownerId: string;
  /** The life of the owner's account in which it was made. */
  readonly ownerLife: number;
  /** The text that the owner gave. */
  readonly url: string;
  readonly events: readonly EventType[];
  readonly teamId: string | null;
  readonly spaceId: string | null;
  readonly filters: Filters | null;
  readonly status: 'active' | 'disabled';
  readonly secretSealed: string;
  /** The secret before, which also signs for a while; null when there is none. */
  readonly previousSecret: { readonly sealed: string; readonly until: Date } | null;
  readonly createdAt: Date;
  readonly lastSuccessAt: Date | null;
  readonly lastFailureAt: Date | null;
  readonly disabledAt: Date | null;
  readonly disabledReason: string | null;
  /** Failed attempts in a row. */
  readonly consecutiveFailures: number;
  /** The keys of the latest of them, so that a failure that is reported twice counts once. */
  readonly countedFailureKeys: readonly string[];
  /** The life of the subscription, counted up each time it is enabled again: outcomes of an earlier one do not count. */
  readonly epoch: number;
  /** When tests were requested: those of the last minute, and perhaps older ones. */
  readonly testedAt: readonly Date[];
}

/** How many subscriptions there may be, and how many tests of each. */
export interface SubscriptionQuota {
  readonly perUser: number;
  /** Limit for all members together on subscriptions of the team. */
  readonly perTeam: number;
  readonly testsPerMinute: number;
}

/** An account that is opened again after its deletion has the next life, and nothing of the one before. */
export const FIRST_LIFE = 1;
export const MAX_CONSECUTIVE_FAILURES = 20;
export const DISABLED_BY_FAILURES = 'delivery_failures';

const TEST_WINDOW_MS = 60_000;

/** The tests of the last minute with this one added; null, and how long to wait, when there are as many as there may be. */
export function withTest({ testedAt }: Pick<Subscription, 'testedAt'>, now: Date, { testsPerMinute }: SubscriptionQuota) {
  const recent = testedAt.filter((at) => at <= now && now.getTime() - at.getTime() < TEST_WINDOW_MS);
  const oldest = recent.at(-testsPerMinute);
  if (oldest === undefined) return { testedAt: [...recent, now], waitMs: 0 };
  return { testedAt: null, waitMs: oldest.getTime() + TEST_WINDOW_MS - now.getTime() };
}

/** Identifies one failed attempt. */
export const failureKey = (deliveryId: string, attempt: number): string => `${deliveryId}#${attempt}`;
export const attemptOfKey = (key: string): { readonly deliveryId: string; readonly attempt: number } => {
  const [deliveryId = '', attempt] = key.split('#');
  return { deliveryId, attempt: Number(attempt) };
};

export const EVENT_TYPES: readonly EventType[] = ['bubble.ready', 'meeting_recording.ready', 'screen_recording.ready'];
/** The events that fire when a bubble of this type is ready. */
export const eventsOf = (type: string): readonly EventType[] =>
  EVENT_TYPES.filter((event) => event === 'bubble.ready' || event === `${type}.ready`);

/** Empty filters are the same as none. */
export const emptyToNull = (filters: Filters): Filters | null => (Object.keys(filters).length === 0 ? null : filters);

/** Whether scope and filters of the subscription let the bubble through. */
export function covers(
  { teamId, spaceId, filters, ownerId }: Pick<Subscription, 'teamId' | 'spaceId' | 'filters' | 'ownerId'>,
  bubble: ReadyBubble,
): boolean {
  if (teamId !== null && teamId !== bubble.teamId) return false;
  if (spaceId !== null && spaceId !== bubble.channelId) return false;
  if (filters?.bubbleTypes && !filters.bubbleTypes.some((type) => type === bubble.type)) return false;
  return !filters?.onlyMyBubbles || bubble.authorId === ownerId;
}
