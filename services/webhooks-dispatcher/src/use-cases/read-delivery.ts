import { DomainError } from '@bubbles/kernel/errors.ts';
import type { Delivery } from '../domain/delivery.ts';
import type { Access, DeliveryStore, EventStore, Readability, SubscriptionStore } from '../ports.ts';
import { ownSubscription } from './deliveries.ts';
import { type PostPorts, requestHeaders } from './post.ts';
import type { Owner } from './subscriptions.ts';

interface Ports extends Pick<PostPorts, 'headerName' | 'userAgent'> {
  readonly subscriptions: SubscriptionStore;
  readonly deliveries: DeliveryStore;
  readonly events: EventStore;
  readonly access: Access;
  readonly readability: Readability;
}

export interface SentRequest {
  readonly headers: Readonly<Record<string, string>>;
  /** Null when it is gone, or its owner may no longer read the bubble. */
  readonly body: string | null;
}

export interface DeliveryName {
  readonly subscriptionId: string;
  readonly id: string;
}

/** One delivery with what its last attempt sent. */
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

  return async (owner: Owner, { subscriptionId, id }: DeliveryName): Promise<{ delivery: Delivery; request: SentRequest | null }> => {
    const subscription = await own(owner, subscriptionId);
    const delivery = await ports.deliveries.ofSubscription(subscription.id, id);
    if (delivery === null) throw new DomainError('not_found', 'No such delivery.');
    const last = delivery.log.at(-1);
    if (last === undefined) return { delivery, request: null };
    const signed = `t=${Math.floor(last.startedAt.getTime() / 1000)},v1=…`;
    return { delivery, request: { headers: requestHeaders(ports, delivery, signed), body: await bodyOf(delivery) } };
  };
};
