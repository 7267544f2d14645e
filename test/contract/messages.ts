import type { EventDefinition, EventHandler } from '@bubbles/bus/bus.ts';
import { handleMessage } from '@bubbles/bus/cloud-event.ts';
import type { PactV4 } from '@pact-foundation/pact';
import { z } from 'zod';
import { AT } from './examples.ts';
import { expecting } from './expecting.ts';

/** As the bus carries it. */
const envelopeOf = ({ type, publisher }: Pick<EventDefinition, 'type' | 'publisher'>, data: unknown) => ({
  specversion: '1.0',
  id: 'event-1',
  source: publisher,
  type,
  time: AT,
  datacontenttype: 'application/json',
  data,
});

const messageOf = ({ schema, ...definition }: EventDefinition, data: unknown) => {
  const Message = z.object({
    specversion: z.literal('1.0'),
    id: z.string(),
    source: z.string(),
    type: z.literal(definition.type),
    time: z.iso.datetime(),
    datacontenttype: z.literal('application/json'),
    data: schema,
  });
  return expecting<object>(Message, envelopeOf(definition, data));
};

const handlerOf = (eventHandlers: readonly EventHandler[], type: string): EventHandler => {
  const handler = eventHandlers.find((one) => one.event.type === type);
  if (!handler) throw new Error(`nobody consumes ${type}`);
  return handler;
};

/** A fact that was told before the message of the test. */
export const publish = (eventHandlers: readonly EventHandler[], definition: EventDefinition, data: unknown): Promise<void> =>
  receive(eventHandlers, envelopeOf(definition, data));

/** Hands a message to the consumer as the bus does: bytes, envelope, payload, handler. */
const receive = async (eventHandlers: readonly EventHandler[], content: unknown): Promise<void> => {
  const { type } = z.object({ type: z.string() }).parse(content);
  const result = await handleMessage(handlerOf(eventHandlers, type), Buffer.from(JSON.stringify(content)), (one) => one);
  if (result.kind === 'unreadable') throw new Error(result.reason);
  if (result.kind !== 'handled') throw result.error;
};

export interface ExpectedMessage {
  readonly definition: EventDefinition;
  readonly data: unknown;
  readonly eventHandlers: readonly EventHandler[];
}

/**
 * The pact holds the fields that the handler's own schema reads, and no others. The type of an event is the description of its message: the provider is
 * asked for it by this name.
 */
export const expectMessage = (pact: PactV4, { definition, data, eventHandlers }: ExpectedMessage): Promise<unknown> => {
  const { body, rules } = messageOf(handlerOf(eventHandlers, definition.type).event, data);
  return pact
    .addAsynchronousInteraction()
    .expectsToReceive(definition.type, (message) => {
      message.withJSONContent(body).withMatchingRules({ body: [...rules] });
    })
    .executeTest(({ contents }) => receive(eventHandlers, contents.content));
};
