import type { BubbleReadyV1 } from '@bubbles/contracts/events/bubble-events.ts';
import type { Clock } from '@bubbles/shared/clock.ts';
import type { z } from 'zod';
import { missed, queued, type WebhookEvent } from '../domain/delivery.ts';
import { eventId } from '../domain/ids.ts';
import type { ReadyBubble } from '../domain/ready-bubble.ts';
import { covers, type EventType, eventsOf, type Subscription } from '../domain/subscription.ts';
import type { DeliveryStore, EventStore, SubscriptionStore } from '../ports.ts';

interface Ports {
  readonly subscriptions: SubscriptionStore;
  readonly events: EventStore;
  readonly deliveries: DeliveryStore;
  readonly clock: Clock;
  /** There are deliveries that are due. */
  readonly wake: () => void;
}

type Ready = z.infer<typeof BubbleReadyV1.schema>;

const OWNERS_A_READ = 500;
/** Of one message; connections to the store are shared with others. */
const INSERTS_AT_ONCE = 16;

const readyBubble = ({ bubble, author_id, team_id, channel_id }: Ready): ReadyBubble => ({
  id: bubble.id,
  type: bubble.type,
  teamId: team_id,
  channelId: channel_id,
  authorId: author_id,
});

const made = (event: WebhookEvent, subscription: Subscription, at: Date) =>
  (subscription.status === 'disabled' ? missed : queued)(event, subscription, at);

/** The bytes that every attempt at every subscriber sends. Their `created_at` is when the bubble was ready, so that they are the same when the message comes again. */
const payload = (id: string, type: EventType, { bubble, ready_at }: Ready): Uint8Array =>
  new TextEncoder().encode(JSON.stringify({ id, type, created_at: ready_at, data: { bubble } }));

/**
 * One delivery for every subscription of a participant that asks for it, also for one that is disabled: there it stands as missed. The event is written
 * before its deliveries and all ids follow from the bubble, so a message that comes again finishes what is missing and changes nothing else.
 */
export const fanOut = ({ subscriptions, events, deliveries, clock, wake }: Ports) => {
  const interested = async (participants: readonly string[], bubble: ReadyBubble): Promise<Subscription[]> => {
    const found: Subscription[] = [];
    for (let n = 0; n < participants.length; n += OWNERS_A_READ)
      for (const one of await subscriptions.ofOwners(participants.slice(n, n + OWNERS_A_READ))) found.push(one);
    return found.filter((subscription) => covers(subscription, bubble));
  };
  /** Each falls due at the moment it is written, however many there are. */
  const queueAll = async (event: WebhookEvent, wanted: readonly Subscription[]): Promise<void> => {
    for (let n = 0; n < wanted.length; n += INSERTS_AT_ONCE) {
      const at = clock.now();
      await Promise.all(wanted.slice(n, n + INSERTS_AT_ONCE).map((subscription) => deliveries.insert(made(event, subscription, at))));
    }
  };
  return async (ready: Ready): Promise<void> => {
    const bubble = readyBubble(ready);
    const matching = await interested(ready.participant_user_ids, bubble);
    for (const type of eventsOf(bubble.type)) {
      const wanted = matching.filter((subscription) => subscription.events.includes(type));
      if (wanted.length === 0) continue;
      const id = eventId(bubble.id, type);
      const event: WebhookEvent = { id, type, bubble, body: payload(id, type, ready), createdAt: clock.now() };
      await events.insert(event);
      await queueAll(event, wanted);
    }
    if (matching.length > 0) wake();
  };
};
