import type { Clock } from '@bubbles/kernel/clock.ts';
import { eventId } from '../domain/ids.ts';
import { EVENT_TYPES } from '../domain/subscription.ts';
import type { EventStore } from '../ports.ts';

/** Nothing of a recording that was removed stays in the bodies of its events, nor comes there when it is heard to be ready afterwards. */
export const dropBodies =
  ({ events, clock }: { readonly events: EventStore; readonly clock: Clock }) =>
  async (bubbleId: string): Promise<void> => {
    const at = clock.now();
    await Promise.all(EVENT_TYPES.map((type) => events.dropBody({ id: eventId(bubbleId, type), type, bubbleId, at })));
  };
