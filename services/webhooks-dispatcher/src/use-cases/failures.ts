import type { AttemptRecord } from '../domain/delivery.ts';
import { attemptOfKey, type Subscription } from '../domain/subscription.ts';
import type { Access, DeliveryStore, SubscriptionStore } from '../ports.ts';
import { ownSubscription } from './deliveries.ts';
import type { Owner } from './subscriptions.ts';

interface Ports {
  readonly subscriptions: SubscriptionStore;
  readonly deliveries: DeliveryStore;
  readonly access: Access;
}

export interface Failure extends AttemptRecord {
  readonly deliveryId: string;
}

/** The failed attempts in a row of a subscription, newest first: why it is disabled, or what brings it there. */
export const listFailures = (ports: Ports) => {
  const own = ownSubscription(ports);
  return async (owner: Owner, id: string): Promise<{ readonly subscription: Subscription; readonly failures: readonly Failure[] }> => {
    const subscription = await own(owner, id);
    const keys = subscription.countedFailureKeys.map(attemptOfKey);
    const wanted = [...new Set(keys.map(({ deliveryId }) => deliveryId))];
    const found = await Promise.all(wanted.map((deliveryId) => ports.deliveries.ofSubscription(subscription.id, deliveryId)));
    const logOf = new Map(found.flatMap((delivery) => (delivery === null ? [] : [[delivery.id, delivery.log] as const])));
    const failures = keys.flatMap(({ deliveryId, attempt }) =>
      (logOf.get(deliveryId) ?? []).filter(({ number }) => number === attempt).map((line) => ({ ...line, deliveryId })),
    );
    return { subscription, failures: failures.reverse() };
  };
};
