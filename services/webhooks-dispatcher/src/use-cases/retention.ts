import type { Clock } from '@bubbles/kernel/clock.ts';
import { eventId } from '../domain/ids.ts';
import { EVENT_TYPES } from '../domain/subscription.ts';
import type { DeliveryStore, EventStore } from '../ports.ts';

interface Ports {
  readonly deliveries: DeliveryStore;
  readonly events: EventStore;
  readonly clock: Clock;
}

const KEPT_DAYS = 30;
const DAY_MS = 86_400_000;

/** Deliveries are kept for thirty days. Bodies are kept a day longer, so that every stored delivery has its body. */
export const sweepDeliveries =
  ({ deliveries, events, clock }: Ports) =>
  async (): Promise<void> => {
    const before = clock.now().getTime() - KEPT_DAYS * DAY_MS;
    await deliveries.sweep(new Date(before));
    await events.sweep(new Date(before - DAY_MS));
  };

/** Drops the bodies of the events of a removed recording, also when the message that it became ready is handled later. */
export const dropBodies =
  ({ events, clock }: Pick<Ports, 'events' | 'clock'>) =>
  async (bubbleId: string): Promise<void> => {
    const at = clock.now();
    await Promise.all(EVENT_TYPES.map((type) => events.dropBody({ id: eventId(bubbleId, type), type, bubbleId, at })));
  };
