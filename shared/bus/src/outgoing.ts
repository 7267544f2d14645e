import type { Clock } from '@bubbles/kernel/clock.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import type { CloudEvent, EventDefinition } from './bus.ts';

/** A fact that is to be told with the write that makes it true. */
export interface OutgoingEvent {
  readonly definition: EventDefinition;
  readonly data: unknown;
  /** Given where the fact itself has an identity; else one is drawn. */
  readonly id?: string;
  readonly subject?: string;
}

export const outgoing = <T>(
  definition: EventDefinition<T>,
  data: T,
  identity: { readonly id?: string; readonly subject?: string } = {},
): OutgoingEvent => ({ definition, data, ...identity });

export interface Stamper {
  readonly clock: Clock;
  readonly ids: Ids;
  /** The service's name. */
  readonly source: string;
}

/**
 * The event as it goes over the wire. Throws when the data is not what the definition says, or the event is another service's, so that no outbox ever
 * holds what nobody can read or no relay sends.
 */
export const stamp = ({ definition, data, id, subject }: OutgoingEvent, { clock, ids, source }: Stamper): CloudEvent => {
  if (definition.publisher !== source) throw new Error(`${source} does not publish ${definition.type}: ${definition.publisher} does`);
  return {
    specversion: '1.0',
    id: id ?? ids.uuid(),
    source,
    type: definition.type,
    time: clock.now().toISOString(),
    ...(subject === undefined ? {} : { subject }),
    datacontenttype: 'application/json',
    data: JSON.parse(JSON.stringify(definition.schema.parse(data))),
  };
};
