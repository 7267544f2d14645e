import { z } from 'zod';
import type { CloudEvent } from './bus.ts';

export const CLOUD_EVENT_TYPE = 'application/cloudevents+json';

const Envelope = z.object({
  specversion: z.literal('1.0'),
  id: z.string().min(1),
  source: z.string().min(1),
  type: z.string().min(1),
  time: z.iso.datetime({ offset: true }),
  subject: z.string().exactOptional(),
  datacontenttype: z.literal('application/json'),
  data: z.unknown(),
});

export const encodeEvent = (event: CloudEvent): Buffer => Buffer.from(JSON.stringify(event));

export type Decoded<T> = { readonly value: T; readonly reason: null } | { readonly value: null; readonly reason: string };

/** The value, or why it is none: paths and rules, never content. */
export const decodeWith = <T>(schema: z.ZodType<T>, input: unknown): Decoded<T> => {
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

export const decodeEvent = (bytes: Uint8Array): Decoded<CloudEvent> => {
  const json = parseJson(bytes);
  return json === undefined ? { value: null, reason: 'event: not JSON in UTF-8' } : decodeWith(Envelope, json);
};
