import { setTimeout as pause } from 'node:timers/promises';
import { type Bus, BusUnavailable, type CloudEvent } from '@bubbles/bus/bus.ts';
import { outgoing, stamp } from '@bubbles/bus/outgoing.ts';
import { BubbleReadyV1 } from '@bubbles/contracts/events/service-events.ts';
import { systemClock } from '@bubbles/kernel/clock.ts';
import { systemIds } from '@bubbles/kernel/ids.ts';
import { aBubble, readyEvent } from '../../../services/webhooks-dispatcher/test/builders.ts';

/** Takes part in every bubble, and has all subscriptions. */
export const OWNER = 'ada';
/** Every bubble's. */
export const TEAM = 'team';

const PUBLISH_AGAIN_MS = 50;
const stamper = { clock: systemClock(), ids: systemIds(), source: BubbleReadyV1.publisher };

/** The news that a bubble is ready. */
export const readyOf = (id: string): CloudEvent =>
  stamp(outgoing(BubbleReadyV1, readyEvent({ bubble: aBubble({ id }), participant_user_ids: [OWNER], team_id: TEAM })), stamper);

/** As an outbox does: the same event again until the broker holds it. */
export const publisherOn =
  (bus: Bus) =>
  async (bubble: string, signal: AbortSignal): Promise<void> => {
    for (const event = readyOf(bubble); ; ) {
      try {
        return await bus.publish(BubbleReadyV1, event);
      } catch (error) {
        if (!(error instanceof BusUnavailable)) throw error;
        await pause(PUBLISH_AGAIN_MS, undefined, { signal });
      }
    }
  };
