import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { DomainError, ISSUE_WORDING } from '@bubbles/kernel/errors.ts';
import { type ZodType, z } from 'zod';
import { headerValues } from '../wire/framing.ts';
import { readBody } from '../wire/read-body.ts';
import { bodyOf, describeIssues, mediaTypesOf, type QueryKind } from './content.ts';
import { announceUses, useFinder } from './deprecation.ts';
import { fieldsOf, parameterNames, type RouteSpec } from './route.ts';

export const JSON_BODY_LIMIT_BYTES = 64 * 1024;
const MAX_PARAMETERS = 50;
const MAX_DEPTH = 32;
/** A NUL or half of a surrogate pair is not text: stores and receivers would keep something else than what was sent. */
const PLAIN_TEXT_RULE = 'must be well-formed text without NUL';
const isPlainText = (text: string): boolean => text.isWellFormed() && !text.includes('\0');

const NO_PARAMETERS: ReadonlyMap<string, readonly string[]> = new Map();

const invalid = (message: string, cause?: unknown): DomainError => new DomainError('invalid', message, { cause });

/** What the schemas of a route read of a request. Each rejects with `invalid` and names every faulty field; `params` with `not_found`. */
interface InputReader {
  query(req: IncomingMessage, res: ServerResponse): unknown;
  headers(req: IncomingMessage, res: ServerResponse): unknown;
  body(req: IncomingMessage, res: ServerResponse): Promise<unknown>;
  params(captures: readonly string[]): unknown;
}

export const inputReader = (spec: RouteSpec<object, never>): InputReader => {
  const names = parameterNames(spec.path);
  const inHeaders = spec.headers ? fieldsIn(spec.headers) : [];
  const parseHeaders = spec.headers && parserOf(spec.headers, 'headers');
  return {
    query: spec.query ? queryReader(spec.query) : () => undefined,
    headers: (req, res) => {
      const sent = new Map(inHeaders.map(({ name }) => [name, headerValues(req, name)]));
      return parseHeaders?.(pick(sent, inHeaders), res);
    },
    body: bodyReader(spec),
    params: (captures) => {
      if (spec.params === undefined) return undefined;
      const parsed = spec.params.safeParse(Object.fromEntries(names.map((name, index) => [name, captures[index]])));
      if (!parsed.success) throw new DomainError('not_found', 'No such resource.');
      return parsed.data;
    },
  };
};

const queryReader = (query: ZodType | QueryKind): InputReader['query'] => {
  const sentIn = ({ url = '' }: IncomingMessage) =>
    url.includes('?') ? parameters(url.slice(url.indexOf('?') + 1), 'query') : NO_PARAMETERS;
  if ('kind' in query) return sentIn;
  const known = fieldsIn(query);
  const parseQuery = parserOf(query, 'query');
  return (req, res) => parseQuery(pick(sentIn(req), known, false), res);
};

/** Parses by the schema and reports deprecated fields. */
const parserOf = (schema: ZodType, root: string) => {
  const usesIn = useFinder(schema);
  return (value: unknown, res: ServerResponse): unknown => {
    if (usesIn !== null) announceUses(res, usesIn(value));
    const parsed = schema.safeParse(value, ISSUE_WORDING);
    if (parsed.success) return parsed.data;
    throw invalid(describeIssues(parsed.error.issues, root));
  };
};

interface Field {
  readonly name: string;
  /** All of its values are read. */
  readonly isList: boolean;
}

const fieldsIn = (schema: ZodType): readonly Field[] =>
  Object.entries(fieldsOf(schema)).map(([name, field]) => ({ name, isList: isList(field) }));

const isList = (schema: unknown): boolean =>
  schema instanceof z.ZodOptional || schema instanceof z.ZodDefault ? isList(schema.unwrap()) : schema instanceof z.ZodArray;

/** The known ones; each may be given once, unless it is a list. */
const pick = (all: ReadonlyMap<string, readonly string[]>, known: readonly Field[], mayBeEmpty = true): object => {
  const picked: Record<string, unknown> = Object.create(null);
  for (const { name, isList } of known) {
    const values = all.get(name) ?? [];
    if (values.length === 0) continue;
    if (values.length > 1 && !isList) throw invalid(`${name}: may be given once`);
    if (!mayBeEmpty && values.includes('')) throw invalid(`${name}: must not be empty`);
    picked[name] = isList ? values : values[0];
  }
  return picked;
};

/** Every parameter with all its values, unknown ones too. */
const parameters = (encoded: string, root: 'query' | 'body'): Map<string, readonly string[]> => {
  const found = new Map<string, readonly string[]>();
  if (encoded === '') return found;
  const pairs = encoded.split('&').filter((pair) => pair !== '');
  if (pairs.length > MAX_PARAMETERS) throw invalid(`${root}: must have at most ${MAX_PARAMETERS} parameters`);
  for (const pair of pairs) {
    const at = pair.indexOf('=');
    const name = decode(at === -1 ? pair : pair.slice(0, at));
    const value = decode(at === -1 ? '' : pair.slice(at + 1));
    if (name === null || value === null) throw invalid(`${root}: malformed percent-encoding`);
    if (!isPlainText(name) || !isPlainText(value)) throw invalid(`${root}: ${PLAIN_TEXT_RULE}`);
    found.set(name, [...(found.get(name) ?? []), value]);
  }
  return found;
};

/** `+` is a blank; the bytes behind `%` must be UTF-8. */
const decode = (encoded: string): string | null => {
  const spaced = encoded.includes('+') ? encoded.replaceAll('+', ' ') : encoded;
  if (!spaced.includes('%')) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    return null;
  }
};

const bodyReader = (spec: RouteSpec<object, never>): InputReader['body'] => {
  const body = bodyOf(spec.body);
  if (body === null) return () => Promise.resolve(undefined);
  const limitBytes = body.kind === 'raw' ? body.limitBytes : (spec.bodyLimitBytes ?? JSON_BODY_LIMIT_BYTES);
  const mediaTypes = mediaTypesOf(body);
  const fields = body.kind === 'form' ? fieldsIn(body.schema) : [];
  const parseBody = body.kind === 'raw' ? null : parserOf(body.schema, 'body');
  return async (req, res) => {
    const received = await readBody(req, res, { limitBytes });
    if (received.length > 0) checkHeaders(req.headers, mediaTypes, body.kind !== 'raw');
    if (parseBody === null) return received;
    return parseBody(body.kind === 'json' ? parseJsonObject(received) : pick(parameters(textOf(received), 'body'), fields), res);
  };
};

/** RFC 9110, 8.4.1: the name of no encoding. */
const UNENCODED = /^identity$/i;
const MEDIA_TYPE = /^[^\t ;]+(?=[\t ;]|$)/;
/** RFC 9110, 5.6.6: a semicolon with nothing behind it is one too. */
const PARAMETER = /[\t ]*;[\t ]*(?:([\w!#$%&'*+.^`|~-]+)=(?:([\w!#$%&'*+.^`|~-]+)|"((?:[^"\\]|\\.)*)"))?/y;
/** ASCII is UTF-8. */
const CHARSET = /^(?:utf-?8|us-ascii)$/i;

/** Refuses a body by its headers; for a body that is not empty. */
const checkHeaders = (headers: IncomingHttpHeaders, expected: readonly string[], isText: boolean): void => {
  if (!UNENCODED.test(headers['content-encoding'] ?? 'identity')) throw invalid('body: must be sent without Content-Encoding');
  const contentType = headers['content-type'] ?? '';
  if (expected.includes(contentType)) return;
  const sent = MEDIA_TYPE.exec(contentType)?.[0] ?? '';
  const isExpected = expected.some((mediaType) => isOfType(sent.toLowerCase(), mediaType));
  if (!isExpected || (isText && !hasKnownCharset(contentType, sent.length)))
    throw invalid(`body: Content-Type must be ${expected.join(' or ')}`);
};

const isOfType = (sent: string, expected: string): boolean =>
  expected.endsWith('*') ? sent.startsWith(expected.slice(0, -1)) : sent === expected;

/** Other parameters change nothing (RFC 8259, 11); another charset would change what is read. */
const hasKnownCharset = (contentType: string, from: number): boolean => {
  let at = from;
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

const textOf = (received: Uint8Array): string => {
  try {
    return utf8.decode(received);
  } catch (cause) {
    throw invalid('body: must be UTF-8', cause);
  }
};

/** An object as JSON says it; of a key that is there twice the last value counts. An empty body is `{}`. */
const parseJsonObject = (received: Uint8Array): object => {
  if (received.length === 0) return {};
  const text = textOf(received);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's message quotes the body, which may hold a secret: no cause.
    throw invalid('body: must be well-formed JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalid('body: must be a JSON object');
  checkTexts(value, { path: '', depth: 1 });
  return value;
};

const checkTexts = (value: unknown, at: { readonly path: string; readonly depth: number }): void => {
  if (typeof value === 'string' && !isPlainText(value)) throw invalid(`${at.path}: ${PLAIN_TEXT_RULE}`);
  if (typeof value !== 'object' || value === null) return;
  if (at.depth > MAX_DEPTH) throw invalid(`body: must not be nested deeper than ${MAX_DEPTH}`);
  for (const [key, inner] of Object.entries(value)) {
    if (!isPlainText(key)) throw invalid(`body: names ${PLAIN_TEXT_RULE}`);
    checkTexts(inner, { path: at.path === '' ? key : `${at.path}.${key}`, depth: at.depth + 1 });
  }
};
