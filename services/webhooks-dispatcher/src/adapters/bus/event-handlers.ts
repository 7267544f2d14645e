import { type EventHandler, eventHandler } from '@bubbles/bus/bus.ts';
import { BubbleRemovedV1 } from '@bubbles/contracts/events/recording-events.ts';
import { BubbleReadyV1 } from '@bubbles/contracts/events/service-events.ts';
import { z } from 'zod';
import type { App } from '../../app.ts';
import type { ReadyNotice } from '../../use-cases/fan-out.ts';

/** Fan-out writes the deliveries of all unacknowledged messages together. */
const READY_PREFETCH = 128;

/** The fields that decide about deliveries. All other fields pass through to receivers unchanged. */
const ReadyBubble = z.object({
  bubble: z.object({ id: z.string(), type: z.string() }),
  participant_user_ids: z.array(z.string()),
  author_id: z.string().nullable(),
  team_id: z.string().nullable(),
  channel_id: z.string().nullable(),
  ready_at: z.iso.datetime({ offset: true }),
});
const RemovedBubble = z.object({ bubble_id: z.uuid().toLowerCase() });

const toReadyNotice = (ready: z.infer<typeof ReadyBubble>, body: unknown): ReadyNotice => ({
  bubble: {
    id: ready.bubble.id,
    type: ready.bubble.type,
    teamId: ready.team_id,
    channelId: ready.channel_id,
    authorId: ready.author_id,
  },
  body,
  participantIds: ready.participant_user_ids,
  readyAt: new Date(ready.ready_at),
});

export const eventHandlers = (app: App): readonly EventHandler[] => [
  eventHandler({ ...BubbleReadyV1, schema: ReadyBubble }, (ready, { data }) => app.fanOut(toReadyNotice(ready, data.bubble)), {
    prefetch: READY_PREFETCH,
  }),
  eventHandler({ ...BubbleRemovedV1, schema: RemovedBubble }, ({ bubble_id }) => app.dropBodies(bubble_id)),
];
