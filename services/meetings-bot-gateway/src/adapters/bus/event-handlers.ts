import { type EventHandler, eventHandler } from '@bubbles/bus/bus.ts';
import { BubbleRemovedV1 } from '@bubbles/contracts/events/recording-events.ts';
import { AccountChangedV1 } from '@bubbles/contracts/events/service-events.ts';
import { z } from 'zod';
import type { App } from '../../app.ts';

const RemovedBubble = z.object({ bubble_id: z.uuid().toLowerCase() });
const ChangedAccount = z.object({ user_id: z.string(), state: z.string() });

export const eventHandlers = (app: App): readonly EventHandler[] => [
  eventHandler({ ...AccountChangedV1, schema: ChangedAccount }, async ({ user_id, state }) => {
    if (state !== 'active') await app.endJoinsOf(user_id);
  }),
  eventHandler({ ...BubbleRemovedV1, schema: RemovedBubble }, ({ bubble_id }) => app.removeMedia(bubble_id)),
];
