import { setTimeout as pause } from 'node:timers/promises';
import { systemIds } from '@bubbles/kernel/ids.ts';
import { z } from 'zod';
import type { Bus, CloudEvent, EventDefinition } from '../src/bus.ts';

const Thing = z.object({ n: z.int() });
export type Thing = z.infer<typeof Thing>;

/** Names of one run, so that engines that outlive it start from nothing. */
const run = systemIds().uuid().slice(0, 8);

/** An event of one test, with consumers of its own. */
export const thingHappened = (name: string, consumers: readonly string[] = ['one']): EventDefinition<Thing> => ({
  type: `maker${run}.${name}.happened.v1`,
  publisher: 'maker',
  consumers: consumers.map((consumer) => `${consumer}-${name}-${run}`),
  schema: Thing,
});

export const anEvent = (definition: EventDefinition, data: unknown, id = systemIds().uuid()): CloudEvent => ({
  specversion: '1.0',
  id,
  source: 'maker',
  type: definition.type,
  time: '2026-01-31T09:30:00.000Z',
  datacontenttype: 'application/json',
  data,
});

/** Publishes until the bus accepts, as an outbox does. */
export const publishUntilTaken = async (bus: Bus, definition: EventDefinition, event: CloudEvent): Promise<void> => {
  for (;;) {
    try {
      return await bus.publish(definition, event);
    } catch (error) {
      if (!Error.isError(error) || error.name !== 'BusUnavailable') throw error;
      await pause(2);
    }
  }
};

export const consumerOf = ({ consumers }: EventDefinition, index = 0): string => {
  const consumer = consumers[index];
  if (consumer === undefined) throw new Error('the event has no such consumer');
  return consumer;
};
