import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { ProviderEvent, ProviderWebhook } from '../../ports.ts';

const SIGNATURE_HEADER = 'x-webhook-signature';
/** Attendee's own messages are a few levels deep. */
const MAX_DEPTH = 100;
/** Strings, numbers and words, and where objects and arrays begin and end. Of text that is known to be JSON nothing more is needed. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]]|[^\s,:"{}[\]]+/g;

/** What has no form that Python could have signed. */
class Unsignable extends Error {}

/** Escapes what Python escapes too, and nothing else. */
const canonicalString = (quoted: string): string => {
  const decoded = String(JSON.parse(quoted));
  // Half of a surrogate pair has no UTF-8.
  if (!decoded.isWellFormed()) throw new Unsignable();
  return JSON.stringify(decoded);
};

/** Python sorts by code points, JavaScript by UTF-16 units. UTF-8 has the order of code points. */
const byCodePoint = ([left]: readonly [string, string], [right]: readonly [string, string]): number =>
  Buffer.compare(Buffer.from(String(JSON.parse(left))), Buffer.from(String(JSON.parse(right))));

/**
 * The text that Python's `json.dumps(…, sort_keys=True, ensure_ascii=False, separators=(',', ':'))` makes of what it reads in `json`. Numbers stay as they
 * are written: Python writes 2.0 and 1e-07 where JavaScript would write 2 and 1e-7. `json` must be JSON; throws when Python could not have signed it.
 */
const canonicalForm = (json: string): string => {
  const tokens = json.match(TOKEN) ?? [];
  let next = 0;
  const take = () => tokens[next++] ?? '';
  const array = (depth: number): string => {
    const items: string[] = [];
    while (tokens[next] !== ']') items.push(value(depth));
    take();
    return `[${items.join(',')}]`;
  };
  const object = (depth: number): string => {
    // Of a key that comes twice the last value counts, as in Python.
    const members = new Map<string, string>();
    while (tokens[next] !== '}') members.set(canonicalString(take()), value(depth));
    take();
    const sorted = [...members].sort(byCodePoint);
    return `{${sorted.map(([name, text]) => `${name}:${text}`).join(',')}}`;
  };
  const value = (depth: number): string => {
    if (depth > MAX_DEPTH) throw new Unsignable();
    const token = take();
    if (token === '{') return object(depth + 1);
    if (token === '[') return array(depth + 1);
    return token.startsWith('"') ? canonicalString(token) : token;
  };
  return value(0);
};

const readJson = (body: Uint8Array): { readonly text: string; readonly parsed: unknown } | null => {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
    return { text, parsed: JSON.parse(text) };
  } catch {
    return null;
  }
};

const canonicalOrNull = (json: string): string | null => {
  try {
    return canonicalForm(json);
  } catch (error) {
    if (error instanceof Unsignable) return null;
    throw error;
  }
};

const isSigned = (canonical: string, signature: string, secrets: readonly Buffer[]): boolean => {
  const given = Buffer.from(signature);
  return secrets.some((secret) => {
    const expected = Buffer.from(createHmac('sha256', secret).update(canonical).digest('base64'));
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
};

const text = z.string().min(1).nullable().catch(null);
const Webhook = z.object({
  idempotency_key: z.string().min(1),
  trigger: text,
  bot_id: text,
  bot_metadata: z.object({ join_id: text }).nullable().catch(null),
});
/** Others come in numbers, and change nothing that a snapshot tells. */
const TRIGGERS_OF_RUNS: ReadonlySet<string | null> = new Set(['bot.state_change', 'async_transcription.state_change']);

/**
 * What a webhook of Attendee tells. Its signature has no time, so that an old one is genuine for ever: the caller keeps the ids that it has seen. It is
 * made over a canonical form, not over the bytes that are sent.
 */
export const verifyAttendeeWebhook = ({ headers, body }: ProviderWebhook, secrets: readonly Buffer[]): ProviderEvent | null => {
  const signature = headers[SIGNATURE_HEADER];
  const json = signature === undefined ? null : readJson(body);
  const canonical = json && canonicalOrNull(json.text);
  if (signature === undefined || canonical === null || !isSigned(canonical, signature, secrets)) return null;
  const { data, success } = Webhook.safeParse(json?.parsed);
  if (!success) return null;
  const isOfRun = TRIGGERS_OF_RUNS.has(data.trigger);
  return {
    id: data.idempotency_key,
    joinId: isOfRun ? (data.bot_metadata?.join_id ?? null) : null,
    ref: isOfRun ? data.bot_id : null,
  };
};
