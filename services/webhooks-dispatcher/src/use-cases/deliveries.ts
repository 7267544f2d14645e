import type { Clock } from '@bubbles/kernel/clock.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import { type AttemptRecord, type Delivery, queued, requeueOf } from '../domain/delivery.ts';
import { newId } from '../domain/ids.ts';
import { attemptOfKey, type Subscription, type SubscriptionQuota, withTest } from '../domain/subscription.ts';
import { type RequestNames, requestHeaders } from '../domain/webhook-request.ts';
import type { Access, DeliveryPage, DeliveryStore, EventStore, Readability, SubscriptionStore, Traces } from '../ports.ts';
import { type Owner, ownSubscription, requireEnabled, requirePaidAccess } from './subscriptions.ts';

interface Ports extends RequestNames {
  readonly subscriptions: SubscriptionStore;
  readonly events: EventStore;
  readonly deliveries: DeliveryStore;
  readonly access: Access;
  readonly readability: Readability;
  readonly quota: SubscriptionQuota;
  readonly traces: Pick<Traces, 'current'>;
  readonly clock: Clock;
  readonly wake: () => void;
  /** The made-up bubble of a test, in the shape of every other one. */
  readonly sampleBubble: (id: string, at: Date) => unknown;
}

const missing = (what: string): never => {
  throw new DomainError('not_found', `No such ${what}.`);
};

/** Queues a test like every other delivery, also for a disabled subscription: one attempt then. */
export const testSubscription = (ports: Ports) => {
  const paid = requirePaidAccess(ports);
  /** Counted in the subscription itself, so that the limit holds for tests that are asked for at the same time. */
  const counted = async (owner: Owner, id: string, now: Date) => {
    const change = (before: Subscription) => {
      const { testedAt, waitMs } = withTest(before, now, ports.quota);
      if (testedAt !== null) return { testedAt };
      const retryAfterSeconds = Math.ceil(waitMs / 1000);
      throw new DomainError('rate_limited', `A subscription may have ${ports.quota.testsPerMinute} tests a minute.`, { retryAfterSeconds });
    };
    return (await ports.subscriptions.update(owner.userId, id, change)) ?? missing('webhook subscription');
  };
  return async (owner: Owner, id: string, ids: Ids): Promise<Delivery> => {
    await paid(owner);
    const at = ports.clock.now();
    const subscription = await counted(owner, id, at);
    const eventId = newId('evt', ids);
    const payload = {
      id: eventId,
      type: 'webhook.test',
      created_at: at.toISOString(),
      data: { bubble: ports.sampleBubble(ids.uuid(), at) },
    };
    const event = {
      id: eventId,
      type: 'webhook.test',
      bubble: null,
      body: new TextEncoder().encode(JSON.stringify(payload)),
      createdAt: at,
    } as const;
    await ports.events.insert(event);
    const delivery = { ...queued(event, subscription, at), causedBy: ports.traces.current() };
    await ports.deliveries.insert(delivery);
    ports.wake();
    return delivery;
  };
};

export const listDeliveries = (ports: Ports) => {
  const own = ownSubscription(ports);
  return async (owner: Owner, id: string, page: Omit<DeliveryPage, 'subscriptionId'>): Promise<Delivery[]> => {
    const subscription = await own(owner, id);
    return ports.deliveries.page({ ...page, subscriptionId: subscription.id });
  };
};

interface Redelivery {
  readonly subscriptionId: string;
  readonly id: string;
  /** The ids of the request: when it is repeated it queues nothing more. */
  readonly ids: Ids;
}

/**
 * Sends a delivery again, under the same id and with a schedule of its own. One that is pending is left as it is, unless its subscription has been enabled
 * again since it was queued.
 */
export const redeliver = (ports: Ports) => {
  const own = ownSubscription(ports);
  return async (owner: Owner, { subscriptionId, id, ids }: Redelivery): Promise<Delivery> => {
    const subscription = await own(owner, subscriptionId);
    const delivery = (await ports.deliveries.ofSubscription(subscription.id, id)) ?? missing('delivery');
    if (delivery.type !== 'webhook.test') requireEnabled(subscription);
    const queue = { ...requeueOf(delivery, subscription), at: ports.clock.now(), requeuedBy: ids.uuid() };
    const again = await ports.deliveries.requeue(id, queue);
    if (again !== null) ports.wake();
    return again ?? delivery;
  };
};

interface SentRequest {
  readonly headers: Readonly<Record<string, string>>;
  /** Null when it is gone, or its owner may no longer read the bubble. */
  readonly body: string | null;
}

/** One delivery, with the request of its last attempt. */
export const readDelivery = (ports: Ports) => {
  const own = ownSubscription(ports);

  const mayRead = async ({ ownerId, bubble }: Delivery): Promise<boolean> => {
    if (bubble === null) return true;
    const [reading] = await ports.readability.ask([{ userId: ownerId, bubbleId: bubble.id }]);
    return reading?.participates === true && reading.bubble !== null;
  };
  const bodyOf = async (delivery: Delivery): Promise<string | null> => {
    if (!(await mayRead(delivery))) return null;
    const body = (await ports.events.bodies([delivery.eventId])).get(delivery.eventId) ?? null;
    return body && new TextDecoder().decode(body);
  };

  return async (
    owner: Owner,
    { subscriptionId, id }: Pick<Delivery, 'subscriptionId' | 'id'>,
  ): Promise<{ readonly delivery: Delivery; readonly request: SentRequest | null }> => {
    const subscription = await own(owner, subscriptionId);
    const delivery = (await ports.deliveries.ofSubscription(subscription.id, id)) ?? missing('delivery');
    const last = delivery.log.at(-1);
    if (last === undefined) return { delivery, request: null };
    const signed = `t=${Math.floor(last.startedAt.getTime() / 1000)},v1=…`;
    return { delivery, request: { headers: requestHeaders(ports, delivery, signed), body: await bodyOf(delivery) } };
  };
};

interface Failure extends AttemptRecord {
  readonly deliveryId: string;
}

/** The consecutive failed attempts of a subscription, newest first: why it is or soon will be disabled. */
export const listFailures = (ports: Ports) => {
  const own = ownSubscription(ports);
  return async (owner: Owner, id: string): Promise<{ readonly subscription: Subscription; readonly failures: readonly Failure[] }> => {
    const subscription = await own(owner, id);
    const keys = subscription.countedFailureKeys.map(attemptOfKey);
    const wanted = [...new Set(keys.map(({ deliveryId }) => deliveryId))];
    const found = await Promise.all(wanted.map((deliveryId) => ports.deliveries.ofSubscription(subscription.id, deliveryId)));
    const logOf = new Map(found.flatMap((delivery) => (delivery === null ? [] : [[delivery.id, delivery.log] as const])));
    const failures = keys.flatMap(({ deliveryId, attempt }) =>
      (logOf.get(deliveryId) ?? []).filter(({ number }) => number === attempt).map((record) => ({ ...record, deliveryId })),
    );
    return { subscription, failures: failures.reverse() };
  };
};
