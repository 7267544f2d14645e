import { isUnavailable } from '@bubbles/kernel/errors.ts';
import type { CloudEvent, EventHandler } from '../bus.ts';
import { type Decoded, decodeEvent, decodeWith } from '../cloud-event.ts';

/** What came of handing one message to a handler. */
export type HandlerResult =
  | { readonly kind: 'handled' }
  /** It will never be understood. */
  | { readonly kind: 'unreadable'; readonly reason: string }
  /** The consumer's own trouble: the message is not to blame. */
  | { readonly kind: 'unavailable'; readonly error: unknown }
  | { readonly kind: 'fault'; readonly error: unknown };

/** Never rejects. */
export const handleMessage = async ({ event: definition, handle }: EventHandler, bytes: Uint8Array): Promise<HandlerResult> => {
  const event = decodeAs(definition.type, bytes);
  if (event.reason !== null) return { kind: 'unreadable', reason: event.reason };
  const data = decodeWith(definition.schema, event.value.data);
  if (data.reason !== null) return { kind: 'unreadable', reason: `data: ${data.reason}` };
  try {
    await handle(data.value, event.value);
    return { kind: 'handled' };
  } catch (error) {
    return { kind: isUnavailable(error) ? 'unavailable' : 'fault', error };
  }
};

const decodeAs = (type: string, bytes: Uint8Array): Decoded<CloudEvent> => {
  const event = decodeEvent(bytes);
  if (event.reason !== null || event.value.type === type) return event;
  return { value: null, reason: `type: is not ${type}` };
};

/** For the log and the dead letter: the fault in a line. */
export const faultReason = (error: unknown): string =>
  Error.isError(error) ? `${error.name}: ${error.message}` : 'the handler threw no error';
