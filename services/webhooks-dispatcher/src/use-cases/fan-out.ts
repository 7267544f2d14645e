import type { Clock } from '@bubbles/kernel/clock.ts';
import { batchWhileBusy } from '@bubbles/kernel/concurrency.ts';
import { isUnavailable } from '@bubbles/kernel/errors.ts';
import { missed, queued, type WebhookEvent } from '../domain/delivery.ts';
import { eventId } from '../domain/ids.ts';
import type { ReadyBubble } from '../domain/subscription.ts';
import { covers, type EventType, eventsOf, type Subscription } from '../domain/subscription.ts';
import type { EventStore, NewDelivery, SubscriptionStore, Traces } from '../ports.ts';

interface Ports {
  readonly subscriptions: SubscriptionStore;
  readonly events: EventStore;
  readonly traces: Pick<Traces, 'current'>;
  readonly clock: Clock;
  /** Inserts deliveries that are due. */
  readonly enqueue: (all: readonly NewDelivery[]) => Promise<void>;
}

/** A bubble that has just become ready. */
export interface ReadyNotice {
  readonly bubble: ReadyBubble;
  /** The bubble as participants read it, which receivers get. */
  readonly body: unknown;
  readonly participantIds: readonly string[];
  readonly readyAt: Date;
}

const OWNERS_PER_READ = 500;
/** Small enough that other writes are not held up. */
const INSERTS_PER_WRITE = 200;
const EVENTS_PER_WRITE = 50;

const made = ({ event, causedBy }: Fired, subscription: Subscription, at: Date) => ({
  ...(subscription.status === 'disabled' ? missed : queued)(event, subscription, at),
  causedBy,
});

/** The bytes that each attempt at each subscriber sends. `created_at` is when the bubble became ready, so a redelivered message makes the same bytes. */
const payload = (id: string, type: EventType, { body, readyAt }: ReadyNotice): Uint8Array =>
  new TextEncoder().encode(JSON.stringify({ id, type, created_at: readyAt.toISOString(), data: { bubble: body } }));

/** A message with its trace. */
interface CausedNotice extends ReadyNotice {
  readonly causedBy: string | null;
}

/** An event that a message fires, and the subscriptions that get it. */
interface Fired extends Pick<CausedNotice, 'causedBy'> {
  readonly event: WebhookEvent;
  readonly wanted: readonly Subscription[];
}

const firedBy = (ready: CausedNotice, subscriptions: readonly Subscription[], at: Date): readonly Fired[] => {
  const { bubble, causedBy } = ready;
  const matching = subscriptions.filter((subscription) => covers(subscription, bubble));
  return eventsOf(bubble.type).flatMap((type) => {
    const wanted = matching.filter((subscription) => subscription.events.includes(type));
    const id = eventId(bubble.id, type);
    return wanted.length === 0 ? [] : [{ event: { id, type, bubble, body: payload(id, type, ready), createdAt: at }, wanted, causedBy }];
  });
};

const slices = <T>(all: readonly T[], size: number): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, n) => all.slice(n * size, (n + 1) * size));

/**
 * Queues one delivery for each matching subscription of a participant; a disabled one gets it as missed. Messages that arrive together are fanned out
 * together. Events are written before their deliveries and all ids follow from the bubble, so a redelivered message adds what is missing and changes nothing
 * else.
 */
export const fanOut = ({ subscriptions, events, traces, clock, enqueue }: Ports) => {
  const subscriptionsOf = async (all: readonly ReadyNotice[]): Promise<ReadonlyMap<string, readonly Subscription[]>> => {
    const owners = [...new Set(all.flatMap(({ participantIds }) => participantIds))];
    const found: Subscription[] = [];
    for (const some of slices(owners, OWNERS_PER_READ)) for (const one of await subscriptions.ofOwners(some)) found.push(one);
    return Map.groupBy(found, ({ ownerId }) => ownerId);
  };
  /** Inserts the events; returns those whose body is the stored one. */
  const keep = async (fired: readonly Fired[]): Promise<ReadonlySet<WebhookEvent>> => {
    const kept = new Set<WebhookEvent>();
    for (const some of slices(fired, EVENTS_PER_WRITE)) {
      const inserted = await events.insertEach(some.map(({ event }) => event));
      for (const [n, { event }] of some.entries()) if (inserted[n]) kept.add(event);
    }
    return kept;
  };
  const fanOutAll = async (all: readonly CausedNotice[]): Promise<void> => {
    const byOwner = await subscriptionsOf(all);
    const of = ({ participantIds }: ReadyNotice) => [...new Set(participantIds)].flatMap((id) => byOwner.get(id) ?? []);
    const fired = all.flatMap((ready) => firedBy(ready, of(ready), clock.now()));
    const kept = await keep(fired);
    const wanted = fired.flatMap((one) => one.wanted.map((subscription) => ({ one, subscription })));
    for (const some of slices(wanted, INSERTS_PER_WRITE)) {
      // Each falls due when it is written, however long the writes before took.
      const at = clock.now();
      await enqueue(
        some.map(({ one, subscription }) => ({
          delivery: made(one, subscription, at),
          body: kept.has(one.event) ? one.event.body : null,
        })),
      );
    }
  };
  const together = batchWhileBusy(fanOutAll);
  return async (notice: ReadyNotice): Promise<void> => {
    const ready = { ...notice, causedBy: traces.current() };
    try {
      await together(ready);
    } catch (error) {
      if (isUnavailable(error)) throw error;
      // One message of the batch is at fault; handled alone, each shows whether it is the one.
      await fanOutAll([ready]);
    }
  };
};
