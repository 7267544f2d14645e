import { type EventHandler, eventHandler } from '@bubbles/bus/bus.ts';
import { BubbleReadyV1 } from '@bubbles/contracts/events/bubble-events.ts';
import { BubbleRemovedV1 } from '@bubbles/contracts/events/recording-events.ts';
import type { App } from '../../app.ts';

export const CONSUMER = 'webhooks-dispatcher';

/** Messages in hand at the same time. */
const FANNED_OUT_TOGETHER = 128;

export const eventHandlers = (app: App): readonly EventHandler[] => [
  { ...eventHandler(CONSUMER, BubbleReadyV1, (ready) => app.fanOut(ready)), prefetch: FANNED_OUT_TOGETHER },
  eventHandler(CONSUMER, BubbleRemovedV1, ({ bubble_id }) => app.dropBodies(bubble_id)),
];
