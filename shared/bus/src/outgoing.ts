import type { Clock } from '@bubbles/kernel/clock.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import { currentTraceparent } from '@bubbles/kernel/trace.ts';
import type { CloudEvent, EventDefinition } from './bus.ts';

/** A fact that leaves with the write that makes it true; the outbox stamps it. */
export interface OutgoingEvent {
  readonly definition: EventDefinition;
  readonly data: unknown;
  /** Given where the fact itself has an identity; otherwise the stamp draws one. */
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
 * The event as it is published, with the trace of the current work. Throws when the data does not parse, or when another service publishes this event: an outbox never holds what no
 * consumer can read or no relay sends.
 */
export const stamp = ({ definition, data, id, subject }: OutgoingEvent, { clock, ids, source }: Stamper): CloudEvent => {
  if (definition.publisher !== source) throw new Error(`${source} does not publish ${definition.type}: ${definition.publisher} does`);
  const traceparent = currentTraceparent();
  return {
    specversion: '1.0',
    id: id ?? ids.uuid(),
    source,
    type: definition.type,
    time: clock.now().toISOString(),
    ...(subject === undefined ? {} : { subject }),
    ...(traceparent === null ? {} : { traceparent }),
    datacontenttype: 'application/json',
    data: JSON.parse(JSON.stringify(definition.schema.parse(data))),
  };
};
