import type { Clock } from '@bubbles/kernel/clock.ts';
import type { DeliveryStore, EventStore } from '../ports.ts';

const KEPT_DAYS = 30;
const DAY_MS = 86_400_000;

/** Deliveries and their bodies are kept for thirty days; the bodies a day longer, so that none is missing to a delivery that is still there. */
export const sweepDeliveries =
  ({ deliveries, events, clock }: { readonly deliveries: DeliveryStore; readonly events: EventStore; readonly clock: Clock }) =>
  async (): Promise<void> => {
    const before = clock.now().getTime() - KEPT_DAYS * DAY_MS;
    await deliveries.sweep(new Date(before));
    await events.sweep(new Date(before - DAY_MS));
  };
