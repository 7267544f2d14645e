import { isUnavailable } from '@bubbles/kernel/errors.ts';
import { endSpan, runInSpan, startSpan } from '@bubbles/kernel/trace.ts';
import { z } from 'zod';
import type { CloudEvent, EventHandler } from './bus.ts';

export const CLOUD_EVENT_TYPE = 'application/cloudevents+json';

const Envelope = z.object({
  specversion: z.literal('1.0'),
  id: z.string().min(1),
  source: z.string().min(1),
  type: z.string().min(1),
  time: z.iso.datetime({ offset: true }),
  subject: z.string().exactOptional(),
  // An invalid traceparent is dropped; the event itself is still valid.
  traceparent: z.unknown().optional(),
  datacontenttype: z.literal('application/json'),
  data: z.unknown(),
});

export const encodeEvent = (event: CloudEvent): Buffer => Buffer.from(JSON.stringify(event));

type Decoded<T> = { readonly value: T; readonly reason: null } | { readonly value: null; readonly reason: string };

/** The value, or why it does not parse: paths and rules, never content. */
const decodeWith = <T>(schema: z.ZodType<T>, input: unknown): Decoded<T> => {
  const parsed = schema.safeParse(input);
  if (parsed.success) return { value: parsed.data, reason: null };
  const reasons = parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'event'}: ${message}`);
  return { value: null, reason: reasons.slice(0, 5).join('; ') };
};

const parseJson = (bytes: Uint8Array): unknown => {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
};

const decodeAs = (type: string, bytes: Uint8Array): Decoded<z.infer<typeof Envelope>> => {
  const json = parseJson(bytes);
  if (json === undefined) return { value: null, reason: 'event: not JSON in UTF-8' };
  const event = decodeWith(Envelope, json);
  return event.reason !== null || event.value.type === type ? event : { value: null, reason: `type: is not ${type}` };
};

/** How often a handler may fail on one message and get it again; the next fault dead-letters the message. */
export const DELIVERY_LIMIT = 20;

export type HandlerResult =
  | { readonly kind: 'handled' }
  /** A poison message: no delivery will ever parse. */
  | { readonly kind: 'unreadable'; readonly reason: string }
  /** Something that the consumer needs is away; the message is not at fault. */
  | { readonly kind: 'unavailable'; readonly error: unknown }
  | { readonly kind: 'fault'; readonly error: unknown };

const resultOf = async ({ event: { schema }, handle }: EventHandler, event: CloudEvent): Promise<HandlerResult> => {
  const data = decodeWith(schema, event.data);
  if (data.reason !== null) return { kind: 'unreadable', reason: `data: ${data.reason}` };
  try {
    await handle(data.value, event);
    return { kind: 'handled' };
  } catch (error) {
    return { kind: isUnavailable(error) ? 'unavailable' : 'fault', error };
  }
};

/** Parses a message, runs the handler and passes its result to `settle`, both in the trace of the publisher. Rejects only when `settle` does. */
export const handleMessage = async <T>(
  eventHandler: EventHandler,
  bytes: Uint8Array,
  settle: (result: HandlerResult) => T | Promise<T>,
): Promise<T> => {
  const { type } = eventHandler.event;
  const decoded = decodeAs(type, bytes);
  if (decoded.reason !== null) return await settle({ kind: 'unreadable', reason: decoded.reason });
  const { traceparent, ...event } = decoded.value;
  const span = startSpan(traceparent);
  const handle = async () => {
    const result = await resultOf(eventHandler, event);
    const error = 'error' in result ? result.error : null;
    endSpan(span, () => ({ name: `process ${type}`, kind: 'consumer', attributes: { 'cloudevents.event_id': event.id }, error }));
    return settle(result);
  };
  return runInSpan(span, handle, { fields: { messageId: event.id, messageType: type } });
};

/** The fault in one line, for the log and the dead letter. */
export const faultReason = (error: unknown): string =>
  Error.isError(error) ? `${error.name}: ${error.message}` : 'the handler threw no error';
