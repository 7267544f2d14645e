import type { IncomingHttpHeaders } from 'node:http';
import { DomainError } from '@bubbles/kernel/errors.ts';
import { isPlainText, PLAIN_TEXT_RULE } from './text.ts';

export const JSON_BODY_LIMIT_BYTES = 64 * 1024;
const MAX_DEPTH = 32;
/** RFC 9110, 8.4.1: the name of no encoding. */
const UNENCODED = /^identity$/i;
const JSON_MEDIA_TYPE = /^application\/json(?=[\t ;]|$)/i;
/** RFC 9110, 5.6.6: a semicolon with nothing behind it is one too. */
const PARAMETER = /[\t ]*;[\t ]*(?:([\w!#$%&'*+.^`|~-]+)=(?:([\w!#$%&'*+.^`|~-]+)|"((?:[^"\\]|\\.)*)"))?/y;
/** ASCII is UTF-8. */
const CHARSET = /^(?:utf-?8|us-ascii)$/i;

const invalidBody = (reason: string): DomainError => new DomainError('invalid', `body: ${reason}`);

/** Refuses a body by its headers; for a body that is not empty. */
export const checkJsonHeaders = (headers: IncomingHttpHeaders): void => {
  if (!UNENCODED.test(headers['content-encoding'] ?? 'identity')) throw invalidBody('must be sent without Content-Encoding');
  if (!isJson(headers['content-type'] ?? '')) throw invalidBody('Content-Type must be application/json');
};

/** Parameters that JSON does not know (RFC 8259, 11) change nothing; another charset would change what is read. */
const isJson = (contentType: string): boolean => {
  if (contentType === 'application/json') return true;
  let at = JSON_MEDIA_TYPE.exec(contentType)?.[0].length ?? 0;
  if (at === 0) return false;
  const end = contentType.trimEnd().length;
  while (at < end) {
    PARAMETER.lastIndex = at;
    const [text, name = '', token, quoted] = PARAMETER.exec(contentType) ?? [];
    if (text === undefined) return false;
    if (name.toLowerCase() === 'charset' && !CHARSET.test(token ?? quoted ?? '')) return false;
    at += text.length;
  }
  return true;
};

/** A byte order mark stays and is then no JSON; bytes that are not UTF-8 throw. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** An object as JSON says it; of a key that is there twice the last value counts. An empty body is `{}`. */
export const parseJsonObject = (bytes: Uint8Array): object => {
  if (bytes.length === 0) return {};
  const value = parse(bytes);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalidBody('must be a JSON object');
  checkTexts(value, { path: '', depth: 1 });
  return value;
};

const parse = (bytes: Uint8Array): unknown => {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch (cause) {
    throw new DomainError('invalid', 'body: must be UTF-8', { cause });
  }
  try {
    return JSON.parse(text);
  } catch {
    // The parser's message quotes the body, which may hold a secret: no cause.
    throw invalidBody('must be well-formed JSON');
  }
};

const checkTexts = (value: unknown, at: { readonly path: string; readonly depth: number }): void => {
  if (typeof value === 'string' && !isPlainText(value)) throw new DomainError('invalid', `${at.path}: ${PLAIN_TEXT_RULE}`);
  if (typeof value !== 'object' || value === null) return;
  if (at.depth > MAX_DEPTH) throw invalidBody(`must not be nested deeper than ${MAX_DEPTH}`);
  for (const [key, inner] of Object.entries(value)) {
    if (!isPlainText(key)) throw invalidBody(`names ${PLAIN_TEXT_RULE}`);
    checkTexts(inner, { path: at.path === '' ? key : `${at.path}.${key}`, depth: at.depth + 1 });
  }
};
