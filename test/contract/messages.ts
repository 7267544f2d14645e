import type { EventDefinition, EventHandler } from '@bubbles/bus/bus.ts';
import { handleMessage } from '@bubbles/bus/cloud-event.ts';
import type { PactV4 } from '@pact-foundation/pact';
import { z } from 'zod';
import { AT } from './examples.ts';
import { expecting } from './expecting.ts';

const messageOf = <T>({ type, schema, publisher }: EventDefinition<T>, data: T) => {
  const Message = z.object({
    specversion: z.literal('1.0'),
    id: z.string(),
    source: z.string(),
    type: z.literal(type),
    time: z.iso.datetime(),
    datacontenttype: z.literal('application/json'),
    data: schema,
  });
  // A generic schema inside an object is more than the compiler follows; the parse in `expecting` proves the example.
  const example = {
    specversion: '1.0',
    id: 'event-1',
    source: publisher,
    type,
    time: AT,
    datacontenttype: 'application/json',
    data,
  } as z.infer<typeof Message>;
  return expecting(Message, example);
};

const handlerOf = (eventHandlers: readonly EventHandler[], type: string): EventHandler => {
  const handler = eventHandlers.find((one) => one.event.type === type);
  if (!handler) throw new Error(`nobody consumes ${type}`);
  return handler;
};

/** A fact that was told before the message of the test. */
export const publish = (eventHandlers: readonly EventHandler[], definition: EventDefinition, data: unknown): Promise<void> =>
  receive(eventHandlers, messageOf(definition, data).body);

/** Hands a message to the consumer as the bus does: bytes, envelope, payload, handler. */
const receive = async (eventHandlers: readonly EventHandler[], content: unknown): Promise<void> => {
  const { type } = z.object({ type: z.string() }).parse(content);
  const result = await handleMessage(handlerOf(eventHandlers, type), Buffer.from(JSON.stringify(content)));
  if (result.kind === 'unreadable') throw new Error(result.reason);
  if (result.kind !== 'handled') throw result.error;
};

export interface ExpectedMessage<T> {
  readonly definition: EventDefinition<T>;
  readonly data: T;
  readonly eventHandlers: readonly EventHandler[];
}

/**
 * The pact holds the fields that the handler reads, and no others. The type of an event is the description of its message: the provider is asked for it
 * by this name.
 */
export const expectMessage = <T>(pact: PactV4, { definition, data, eventHandlers }: ExpectedMessage<T>): Promise<unknown> => {
  const { body, rules } = messageOf(handlerOf(eventHandlers, definition.type).event, definition.schema.parse(data));
  return pact
    .addAsynchronousInteraction()
    .expectsToReceive(definition.type, (message) => {
      message.withJSONContent(body).withMatchingRules({ body: [...rules] });
    })
    .executeTest(({ contents }) => receive(eventHandlers, contents.content));
};
