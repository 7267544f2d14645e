type BubbleType = 'meeting_recording' | 'screen_recording' | 'custom_image';

/** What a bubble belongs to, which may change after it was ready. */
interface Belonging {
  readonly teamId: string | null;
  readonly channelId: string | null;
  /** The account of `Bubble.author`. */
  readonly authorId: string | null;
}

/** What fan-out and each attempt judge a bubble by. */
export interface ReadyBubble extends Belonging {
  readonly id: string;
  readonly type: BubbleType;
}

export type EventType = 'bubble.ready' | 'meeting_recording.ready' | 'screen_recording.ready';
export type DeliveredType = EventType | 'webhook.test';

/** Echoed as it was set: a filter that was not given stays absent. */
export interface Filters {
  readonly bubbleTypes?: readonly BubbleType[];
  /** Only bubbles whose author the owner is. */
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
  /** The one before, which signs too for a while; null when there is none. */
  readonly previousSecret: { readonly sealed: string; readonly until: Date } | null;
  readonly createdAt: Date;
  readonly lastSuccessAt: Date | null;
  readonly lastFailureAt: Date | null;
  readonly disabledAt: Date | null;
  readonly disabledReason: string | null;
  /** Failed attempts in a row. */
  readonly consecutiveFailures: number;
  /** The keys of the latest of them, by which one that is reported again is not counted again. */
  readonly countedFailureKeys: readonly string[];
  /** Rises when it is enabled again: results of an older life do not count. */
  readonly epoch: number;
  /** When the tests of the last minute were asked for, and perhaps older ones. */
  readonly testedAt: readonly Date[];
}

/** How many subscriptions there may be, and tests of each. */
export interface SubscriptionQuota {
  readonly perUser: number;
  /** Of all members together, those that are for the team alone. */
  readonly perTeam: number;
  readonly testsPerMinute: number;
}

/** An account that was deleted and is opened again has another one, and nothing of before. */
export const FIRST_LIFE = 1;
export const MAX_CONSECUTIVE_FAILURES = 20;
export const DISABLED_BY_FAILURES = 'delivery_failures';

const TEST_WINDOW_MS = 60_000;

/** The tests of the last minute with one more, or after how many milliseconds there may be one more. */
export function withTest({ testedAt }: Pick<Subscription, 'testedAt'>, now: Date, { testsPerMinute }: SubscriptionQuota) {
  const recent = testedAt.filter((at) => at <= now && now.getTime() - at.getTime() < TEST_WINDOW_MS);
  const oldest = recent.at(-testsPerMinute);
  if (oldest === undefined) return { testedAt: [...recent, now], waitMs: 0 };
  return { testedAt: null, waitMs: oldest.getTime() + TEST_WINDOW_MS - now.getTime() };
}

/** One failed attempt of one delivery. */
export const failureKey = (deliveryId: string, attempt: number): string => `${deliveryId}#${attempt}`;
export const attemptOfKey = (key: string): { readonly deliveryId: string; readonly attempt: number } => {
  const [deliveryId = '', attempt] = key.split('#');
  return { deliveryId, attempt: Number(attempt) };
};

export const EVENT_TYPES: readonly EventType[] = ['bubble.ready', 'meeting_recording.ready', 'screen_recording.ready'];
const EVENTS_OF_TYPE: Readonly<Record<BubbleType, readonly EventType[]>> = {
  meeting_recording: ['bubble.ready', 'meeting_recording.ready'],
  screen_recording: ['bubble.ready', 'screen_recording.ready'],
  custom_image: ['bubble.ready'],
};
/** What fires when a bubble of this type is ready. */
export const eventsOf = (type: BubbleType): readonly EventType[] => EVENTS_OF_TYPE[type];

/** Filters that say nothing are none. */
export const emptyToNull = (filters: Filters): Filters | null => (Object.keys(filters).length === 0 ? null : filters);

/** Scope and filters. */
export function covers(
  { teamId, spaceId, filters, ownerId }: Pick<Subscription, 'teamId' | 'spaceId' | 'filters' | 'ownerId'>,
  bubble: ReadyBubble,
): boolean {
  if (teamId !== null && teamId !== bubble.teamId) return false;
  if (spaceId !== null && spaceId !== bubble.channelId) return false;
  if (filters?.bubbleTypes && !filters.bubbleTypes.includes(bubble.type)) return false;
  return !filters?.onlyMyBubbles || bubble.authorId === ownerId;
}
