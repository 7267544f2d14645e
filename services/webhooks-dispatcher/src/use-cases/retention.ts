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

/** Deliveries and their bodies are kept for thirty days; the bodies a day longer, so that none is missing to a delivery that is still there. */
export const sweepDeliveries =
  ({ deliveries, events, clock }: Ports) =>
  async (): Promise<void> => {
    const before = clock.now().getTime() - KEPT_DAYS * DAY_MS;
    await deliveries.sweep(new Date(before));
    await events.sweep(new Date(before - DAY_MS));
  };

/** Nothing of a removed recording stays in the bodies of its events. It never comes there either when the message that it is ready is handled later. */
export const dropBodies =
  ({ events, clock }: Pick<Ports, 'events' | 'clock'>) =>
  async (bubbleId: string): Promise<void> => {
    const at = clock.now();
    await Promise.all(EVENT_TYPES.map((type) => events.dropBody({ id: eventId(bubbleId, type), type, bubbleId, at })));
  };
