import { type EventHandler, eventHandler } from '@bubbles/bus/bus.ts';
import { AccountChangedV1 } from '@bubbles/contracts/events/service-events.ts';
import { z } from 'zod';
import type { App } from '../../app.ts';

const ChangedAccount = z.object({ user_id: z.string() });

export const eventHandlers = (app: App): readonly EventHandler[] => [
  eventHandler({ ...AccountChangedV1, schema: ChangedAccount }, ({ user_id }) => app.checkGrantsOf(user_id)),
];
