import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { ProviderEvent, ProviderWebhook } from '../../ports.ts';
import { parsedJson } from './provider-http.ts';

const SIGNATURE_HEADER = 'x-webhook-signature';
/** Limits of unverified JSON; Attendee's own messages have a few levels and some hundred tokens. */
const MAX_DEPTH = 100;
const MAX_TOKENS = 20_000;
const MAX_ID_CHARACTERS = 200;
/** Strings, numbers and words, and where objects and arrays begin and end. Of text that is known to be JSON nothing more is needed. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]]|[^\s,:"{}[\]]+/g;

/** What has no form that Python could have signed. */
class Unsignable extends Error {}

const tokensOf = (text: string): readonly string[] => {
  const tokens: string[] = [];
  let depth = 0;
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === '{' || token === '[') depth += 1;
    if (token === '}' || token === ']') depth -= 1;
    if (tokens.push(token) > MAX_TOKENS || depth > MAX_DEPTH) throw new Unsignable();
  }
  return tokens;
};

/** Decodes a JSON string as Python does. */
const decoded = (quoted: string): string => {
  if (!quoted.includes('\\')) return quoted.slice(1, -1);
  const text = String(JSON.parse(quoted));
  // Half of a surrogate pair has no UTF-8.
  if (!text.isWellFormed()) throw new Unsignable();
  return text;
};
/** What JavaScript escapes Python escapes too, and nothing else. */
const canonicalString = (quoted: string): string => (quoted.includes('\\') ? JSON.stringify(decoded(quoted)) : quoted);

const SURROGATES = 0xd800;
const ABOVE_SURROGATES = 0xe000;
/** Two of these stand for a code point above all that one unit can be. */
const rankOf = (unit: number): number => (unit >= SURROGATES && unit < ABOVE_SURROGATES ? unit + 0x1_0000 : unit);
/** Python sorts by code points, JavaScript by UTF-16 units. */
const byCodePoint = ([left]: readonly [string, string], [right]: readonly [string, string]): number => {
  const shorter = Math.min(left.length, right.length);
  for (let at = 0; at < shorter; at += 1) {
    const difference = rankOf(left.charCodeAt(at)) - rankOf(right.charCodeAt(at));
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
};

/**
 * The text that Python's `json.dumps(…, sort_keys=True, ensure_ascii=False, separators=(',', ':'))` makes of what it reads in these tokens, which must be those
 * of JSON. Numbers stay as they are written: Python writes 2.0 and 1e-07 where JavaScript would write 2 and 1e-7. Throws when Python could not sign it.
 */
const canonicalForm = (tokens: readonly string[]): string => {
  let next = 0;
  const take = () => tokens[next++] ?? '';
  const array = (): string => {
    const items: string[] = [];
    while (tokens[next] !== ']') items.push(value());
    take();
    return `[${items.join(',')}]`;
  };
  const object = (): string => {
    // The last value of a repeated key counts, as in Python.
    const members = new Map<string, string>();
    while (tokens[next] !== '}') members.set(decoded(take()), value());
    take();
    const sorted = [...members].sort(byCodePoint);
    return `{${sorted.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`;
  };
  const value = (): string => {
    const token = take();
    if (token === '{') return object();
    if (token === '[') return array();
    return token.startsWith('"') ? canonicalString(token) : token;
  };
  return value();
};

const textOf = (body: Uint8Array): string | null => {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    // What is no UTF-8 is no JSON.
    return null;
  }
};

const readSigned = (json: string): { readonly canonical: string; readonly parsed: unknown } | null => {
  try {
    const parsed = parsedJson(json);
    // In text that is no JSON the search for the end of a string may take quadratic time.
    return parsed === undefined ? null : { canonical: canonicalForm(tokensOf(json)), parsed };
  } catch (error) {
    if (error instanceof Unsignable) return null;
    throw error;
  }
};

const SIGNATURE = /^[A-Za-z\d+/]{43}=$/;
const isSigned = (canonical: string, signature: string, secrets: readonly Buffer[]): boolean => {
  const given = Buffer.from(signature);
  return secrets.some((secret) => timingSafeEqual(given, Buffer.from(createHmac('sha256', secret).update(canonical).digest('base64'))));
};

const text = z.string().min(1).max(MAX_ID_CHARACTERS).nullable().catch(null);
const Webhook = z.object({
  idempotency_key: z.string().min(1).max(MAX_ID_CHARACTERS),
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
  const signature = headers[SIGNATURE_HEADER] ?? '';
  const json = SIGNATURE.test(signature) ? textOf(body) : null;
  const signed = json === null ? null : readSigned(json);
  if (signed === null || !isSigned(signed.canonical, signature, secrets)) return null;
  const { data, success } = Webhook.safeParse(signed.parsed);
  if (!success) return null;
  const isOfRun = TRIGGERS_OF_RUNS.has(data.trigger);
  return {
    id: data.idempotency_key,
    joinId: isOfRun ? (data.bot_metadata?.join_id ?? null) : null,
    ref: isOfRun ? data.bot_id : null,
  };
};
