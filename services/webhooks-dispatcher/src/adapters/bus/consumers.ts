import { BubbleReadyV1 } from '@bubbles/contracts/events/bubble-events.ts';
import { type Subscription, subscription } from '@bubbles/shared/bus/bus.ts';
import type { App } from '../../app.ts';

export const CONSUMER = 'webhooks-dispatcher';

export const consumers = (app: App): readonly Subscription[] => [subscription(CONSUMER, BubbleReadyV1, (ready) => app.fanOut(ready))];
