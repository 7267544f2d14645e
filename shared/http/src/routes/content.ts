import { Readable } from 'node:stream';
import { type ZodType, z } from 'zod';
import type { Markup } from './markup.ts';

/** One of the answers of a route. `T` is what its handler returns for it, `N` names the headers and cookies that it may set. */
export interface AnswerKind<T = unknown, N extends string = string> {
  readonly kind: 'json' | 'text' | 'page' | 'bytes' | 'file' | 'events' | 'redirect' | 'empty';
  /** The header as it is sent; null without a body. */
  readonly contentType: string | null;
  /** Describes the body, or the data of each event. */
  readonly schema: ZodType | null;
  /** What the document lists in place of `contentType`, where the handler says which of them it is. */
  readonly mediaTypes?: readonly string[];
  readonly details: AnswerDetails<N>;
  /** Never set: it only carries the type `T`. */
  readonly handled?: T;
}

interface AnswerDetails<N extends string> {
  readonly description?: string;
  /** Headers that a reply may set, and what each says. */
  readonly headers?: Readonly<Partial<Record<N, string>>>;
  /** Cookies that a reply may set, and what each is for. */
  readonly cookies?: Readonly<Partial<Record<N, string>>>;
}

/** The answers of a route by their status. */
export type Answers = Readonly<Record<number, AnswerKind>>;

interface JsonKind<T> extends AnswerKind<T, never> {
  readonly kind: 'json';
  readonly schema: ZodType<T>;
}

/** JSON by its schema, which drops every other field. As a body it says the same as the schema alone. */
export const json = <T>(schema: ZodType<T>, contentType = 'application/json; charset=utf-8'): JsonKind<T> => ({
  kind: 'json',
  contentType,
  schema,
  details: {},
});

export const text: AnswerKind<string, never> = { kind: 'text', contentType: 'text/plain; charset=utf-8', schema: z.string(), details: {} };
/** A page. It loads nothing and runs no script unless its route sets another `Content-Security-Policy`. */
export const html: AnswerKind<Markup, never> = { kind: 'page', contentType: 'text/html; charset=utf-8', schema: z.string(), details: {} };

/** Sent beside every page, unless its reply sets others. */
export const PAGE_HEADERS = {
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
};

export const bytes = (mediaType: string): AnswerKind<Uint8Array, never> => ({
  kind: 'bytes',
  contentType: mediaType,
  schema: z.instanceof(Uint8Array),
  details: {},
});

/** Bytes that are sent as they are read; `contentType` is sent in place of that of the answer. */
export interface SentFile {
  readonly contentType: string;
  readonly length: number;
  /** Not begun where the head alone is asked for. */
  readonly bytes: AsyncIterable<Uint8Array>;
}

export const file: AnswerKind<SentFile, never> = { kind: 'file', contentType: '*/*', schema: null, details: {} };

/** A file of text, of one of these media types. */
export const textFile = (mediaTypes: readonly string[]): AnswerKind<SentFile, never> => ({ ...file, mediaTypes, schema: z.string() });

/** A file that is there already. */
export const wholeFile = (contentType: string, content: Uint8Array): SentFile => ({
  contentType,
  length: content.length,
  bytes: Readable.from([content], { objectMode: true }),
});

/** One server-sent event. */
export interface StreamedEvent<D> {
  readonly data: D;
  readonly event?: string;
  readonly id?: string;
}

export type EventStream<D = unknown> = AsyncIterable<StreamedEvent<D>>;

/** Server-sent events, each with JSON by the schema; ends when the handler's iterable does, or when the client has gone. */
export const eventStream = <D>(schema: ZodType<D>): AnswerKind<EventStream<D>, never> => ({
  kind: 'events',
  contentType: 'text/event-stream; charset=utf-8',
  schema,
  details: {},
});

/** To another page; what a handler returns for it is the URL. */
export const redirect: AnswerKind<string, never> = { kind: 'redirect', contentType: null, schema: null, details: {} };
export const empty: AnswerKind<void, never> = { kind: 'empty', contentType: null, schema: null, details: {} };

/** The same answer with what it is, and with the headers and cookies that a reply may set. */
export const withDetails = <T, const N extends string>(kind: AnswerKind<T, never>, details: AnswerDetails<N>): AnswerKind<T, N> => ({
  ...kind,
  details,
});

/** The body of a request. JSON and forms have the fields of their schema; of raw bytes the route says which media types it reads. */
export type BodyKind<B = unknown> =
  | { readonly kind: 'json' | 'form'; readonly schema: ZodType<B> }
  | { readonly kind: 'raw'; readonly mediaTypes: readonly string[]; readonly limitBytes: number; readonly read?: B };

/** `application/x-www-form-urlencoded`. A field is text, or all of its values where the schema has an array. */
export const form = <B>(schema: ZodType<B>): BodyKind<B> => ({ kind: 'form', schema });

/** Bytes as they were sent, such as a signature covers. A media type may end in a star: `image/*`. */
export const raw = (of: { readonly mediaTypes: readonly string[]; readonly limitBytes: number }): BodyKind<Buffer> => ({
  kind: 'raw',
  ...of,
});

/** Null when the route reads no body. */
export const bodyOf = (body: ZodType | BodyKind | undefined): BodyKind | null => {
  if (body === undefined) return null;
  return 'kind' in body ? body : json(body);
};

export const mediaTypesOf = (body: BodyKind): readonly string[] => {
  if (body.kind === 'raw') return body.mediaTypes;
  return [body.kind === 'json' ? 'application/json' : 'application/x-www-form-urlencoded'];
};

/** Passes every query parameter with all its values to a handler that validates them itself. The schema only describes them in the document. */
export const everyParameter = (described: ZodType): QueryKind<ReadonlyMap<string, readonly string[]>> => ({
  kind: 'every parameter',
  described,
});

export interface QueryKind<Q = unknown> {
  readonly kind: 'every parameter';
  readonly described: ZodType;
  /** Never set: it only carries the type `Q`. */
  readonly read?: Q;
}

const MAX_REPORTED = 5;
const MAX_MESSAGE_LENGTH = 400;

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
  /** Unknown fields, for an object that refuses them. */
  readonly keys?: readonly string[];
}

/** `path: reason`, without the values. */
export const describeIssues = (issues: readonly Issue[], root: string): string =>
  issues
    .flatMap(
      ({ path, message, keys }) => keys?.map((key) => ({ path: [...path, key], message: 'there is no such field' })) ?? { path, message },
    )
    .slice(0, MAX_REPORTED)
    .map(({ path, message }) => `${path.length === 0 ? root : path.map(String).join('.')}: ${message}`)
    .join('; ')
    .slice(0, MAX_MESSAGE_LENGTH)
    .toWellFormed();
