import { type EventHandler, eventHandler } from '@bubbles/bus/bus.ts';
import { BubbleRemovedV1 } from '@bubbles/contracts/events/recording-events.ts';
import { BubbleReadyV1 } from '@bubbles/contracts/events/service-events.ts';
import { z } from 'zod';
import type { App } from '../../app.ts';
import type { ReadyNotice } from '../../use-cases/fan-out.ts';

/** Fan-out writes the deliveries of all unacknowledged messages together. */
const READY_PREFETCH = 128;

const RemovedBubble = z.object({ bubble_id: z.uuid().toLowerCase() });

const toReadyNotice = (ready: z.infer<typeof BubbleReadyV1.schema>): ReadyNotice => ({
  bubble: {
    id: ready.bubble.id,
    type: ready.bubble.type,
    teamId: ready.team_id,
    channelId: ready.channel_id,
    authorId: ready.author_id,
  },
  body: ready.bubble,
  participantIds: ready.participant_user_ids,
  readyAt: new Date(ready.ready_at),
});

export const eventHandlers = (app: App): readonly EventHandler[] => [
  eventHandler(BubbleReadyV1, (ready) => app.fanOut(toReadyNotice(ready)), { prefetch: READY_PREFETCH }),
  eventHandler({ ...BubbleRemovedV1, schema: RemovedBubble }, ({ bubble_id }) => app.dropBodies(bubble_id)),
];
