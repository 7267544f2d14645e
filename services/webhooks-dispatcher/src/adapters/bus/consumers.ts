import { BubbleReadyV1 } from '@bubbles/contracts/events/bubble-events.ts';
import { BubbleRemovedV1 } from '@bubbles/contracts/events/recording-events.ts';
import { type Subscription, subscription } from '@bubbles/shared/bus/bus.ts';
import type { App } from '../../app.ts';

export const CONSUMER = 'webhooks-dispatcher';

export const consumers = (app: App): readonly Subscription[] => [
  subscription(CONSUMER, BubbleReadyV1, (ready) => app.fanOut(ready)),
  subscription(CONSUMER, BubbleRemovedV1, ({ bubble_id }) => app.dropBodies(bubble_id)),
];
