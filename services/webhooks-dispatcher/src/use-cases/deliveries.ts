import type { Clock } from '@bubbles/kernel/clock.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import { type Delivery, maxAttemptsOf, originOf, queued } from '../domain/delivery.ts';
import { ID_BYTES, testEventId } from '../domain/ids.ts';
import { type Subscription, type SubscriptionQuota, withTest } from '../domain/subscription.ts';
import type { Access, DeliveryPage, DeliveryStore, EventStore, Requeue, SubscriptionStore } from '../ports.ts';
import { type Owner, requirePaidAccess } from './subscriptions.ts';

interface Ports {
  readonly subscriptions: SubscriptionStore;
  readonly events: EventStore;
  readonly deliveries: DeliveryStore;
  readonly access: Access;
  readonly quota: SubscriptionQuota;
  readonly clock: Clock;
  readonly wake: () => void;
  /** The synthetic bubble of a test, in the shape of every other. */
  readonly sampleBubble: (id: string, at: Date) => unknown;
}

const missing = (what: string): never => {
  throw new DomainError('not_found', `No such ${what}.`);
};

export const ownSubscription = (ports: Pick<Ports, 'subscriptions' | 'access'>) => {
  const paid = requirePaidAccess(ports);
  return async (owner: Owner, id: string) => {
    await paid(owner);
    return (await ports.subscriptions.ownedBy(owner.userId, id)) ?? missing('webhook subscription');
  };
};

export const requireEnabled = ({ status }: Subscription): void => {
  if (status === 'disabled')
    throw new DomainError('out_of_order', 'The subscription is disabled: enable it first, with PATCH {"status": "active"}.');
};

/** A schedule of its own for a delivery as it is now. */
export const requeueOf = (
  { attemptCount, type }: Delivery,
  subscription: Subscription,
  request: Pick<Requeue, 'at' | 'requeuedBy'>,
): Requeue => ({
  ...request,
  epoch: subscription.epoch,
  origin: originOf(subscription),
  attemptsBeforeQueue: attemptCount,
  maxAttempts: maxAttemptsOf(type, subscription),
});

/** Goes the way of every delivery, also to a disabled subscription: once then. */
export const testSubscription = (ports: Ports) => {
  const paid = requirePaidAccess(ports);
  /** In the subscription itself, so that the bound holds for tests that are asked for at once. */
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
    const eventId = testEventId(ids.bytes(ID_BYTES));
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
    const delivery = queued(event, subscription, at);
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

export interface Redelivery {
  readonly subscriptionId: string;
  readonly id: string;
  /** Those of the request: one that comes again queues nothing more. */
  readonly ids: Ids;
}

/** Sends a delivery again, under the same id and with a schedule of its own. One that is pending is on its way already, if the subscription has not been enabled anew since. */
export const redeliver = (ports: Ports) => {
  const own = ownSubscription(ports);
  return async (owner: Owner, { subscriptionId, id, ids }: Redelivery): Promise<Delivery> => {
    const subscription = await own(owner, subscriptionId);
    const delivery = (await ports.deliveries.ofSubscription(subscription.id, id)) ?? missing('delivery');
    if (delivery.type !== 'webhook.test') requireEnabled(subscription);
    const again = await ports.deliveries.requeue(id, requeueOf(delivery, subscription, { at: ports.clock.now(), requeuedBy: ids.uuid() }));
    if (again !== null) ports.wake();
    return again ?? delivery;
  };
};
