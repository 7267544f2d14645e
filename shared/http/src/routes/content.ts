import { type ZodType, z } from 'zod';

/** One of the answers of a route. `T` is what its handler returns for it, `N` names the headers and cookies that it may set. */
export interface AnswerKind<T = unknown, N extends string = string> {
  readonly kind: 'json' | 'text' | 'bytes' | 'events' | 'redirect' | 'empty';
  /** As it is sent. Null: there is no body. */
  readonly contentType: string | null;
  /** Of the body; of the data of each event. */
  readonly schema: ZodType | null;
  readonly details: AnswerDetails<N>;
  /** For the type alone; never there. */
  readonly handled?: T;
}

interface AnswerDetails<N extends string> {
  readonly description?: string;
  /** Headers that a reply may set, and what each says. */
  readonly headers?: Readonly<Partial<Record<N, string>>>;
  /** Cookies that a reply may set, and what each is for. */
  readonly cookies?: Readonly<Partial<Record<N, string>>>;
}

/** By status. */
export type Answers = Readonly<Record<number, AnswerKind>>;

interface JsonKind<T> extends AnswerKind<T, never> {
  readonly kind: 'json';
  readonly schema: ZodType<T>;
}

/** JSON by its schema, which drops every other field. Of a body it is the long form of the schema. */
export const json = <T>(schema: ZodType<T>): JsonKind<T> => ({
  kind: 'json',
  contentType: 'application/json; charset=utf-8',
  schema,
  details: {},
});

const ofText = (contentType: string): AnswerKind<string, never> => ({ kind: 'text', contentType, schema: z.string(), details: {} });
export const text = ofText('text/plain; charset=utf-8');
/** A page. It loads nothing and runs no script unless its route sets another `Content-Security-Policy`. */
export const html = ofText('text/html; charset=utf-8');

/** Beside every page, unless its reply sets others. */
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

/** One server-sent event. */
export interface StreamedEvent<D> {
  readonly data: D;
  readonly event?: string;
  readonly id?: string;
}

/** Server-sent events, each with JSON by the schema; ends when the handler's iterable does, or when the client has gone. */
export const eventStream = <D>(schema: ZodType<D>): AnswerKind<AsyncIterable<StreamedEvent<D>>, never> => ({
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

/** `application/x-www-form-urlencoded`. A field is text; one that the schema has as an array is all of its values. */
export const form = <B>(schema: ZodType<B>): BodyKind<B> => ({ kind: 'form', schema });

/** Bytes as they were sent, such as a signature covers. A media type may end in a star: `image/*`. */
export const raw = (of: { readonly mediaTypes: readonly string[]; readonly limitBytes: number }): BodyKind<Buffer> => ({
  kind: 'raw',
  ...of,
});

/** Null: the route reads none. */
export const bodyOf = (body: ZodType | BodyKind | undefined): BodyKind | null => {
  if (body === undefined) return null;
  return 'kind' in body ? body : json(body);
};

export const mediaTypesOf = (body: BodyKind): readonly string[] => {
  if (body.kind === 'raw') return body.mediaTypes;
  return [body.kind === 'json' ? 'application/json' : 'application/x-www-form-urlencoded'];
};

const REPLY: unique symbol = Symbol('reply');

/** Says which of its answers a handler gives. */
export interface Reply<S extends number = number, T = unknown, N extends string = string> {
  readonly [REPLY]: true;
  readonly status: S;
  readonly body: T;
  readonly headers: readonly (readonly [name: N, value: string])[];
  readonly cookies: readonly Cookie<N>[];
}

interface ReplyExtras<H extends string, C extends string> {
  readonly headers?: Readonly<Record<H, string>>;
  readonly cookies?: readonly Cookie<C>[];
}

interface MakeReply {
  /** An empty one. */
  <const S extends number>(status: S): Reply<S, void, never>;
  <const S extends number, T, const H extends string = never, const C extends string = never>(
    status: S,
    body: T,
    extras?: ReplyExtras<H, C>,
  ): Reply<S, T, NoInfer<H | C>>;
}

// The body is left out where the answer is empty, whose body is of the type void.
export const reply = ((status: number, body?: unknown, { headers, cookies = [] }: ReplyExtras<string, string> = {}): Reply => ({
  [REPLY]: true,
  status,
  body,
  headers: Object.entries(headers ?? {}),
  cookies,
  // The types of the call say which body, headers and cookies these are.
})) as MakeReply;

/** The browser goes there with GET, whatever it has sent here. */
export const seeOther = <const H extends string = never, const C extends string = never>(
  url: string,
  extras: ReplyExtras<H, C> = {},
): Reply<303, string, NoInfer<H | C>> => reply(303, url, extras);

export const isReply = (result: unknown): result is Reply => typeof result === 'object' && result !== null && REPLY in result;

export interface Cookie<N extends string = string> {
  readonly name: N;
  /** Of the header `Set-Cookie`. */
  readonly line: string;
}

interface CookieOptions {
  /** Absent: until the browser is closed. */
  readonly maxAgeSeconds?: number;
  readonly path?: string;
  /** False where the product itself is reached over plain http. */
  readonly secure?: boolean;
}

/** RFC 6265, 4.1.1: anything else would end the value or be sent back as something else. */
const COOKIE_NAME = /^[\w!#$%&'*+.^`|~-]+$/;
const COOKIE_VALUE = /^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*$/;

/** No script reads it, no other site's form sends it. */
export const cookie = <const N extends string>(name: N, value: string, options: CookieOptions = {}): Cookie<N> => {
  const { maxAgeSeconds, path = '/', secure = true } = options;
  if (!COOKIE_NAME.test(name) || !COOKIE_VALUE.test(value)) throw new TypeError('A cookie has a character that no cookie may have.');
  const age = maxAgeSeconds === undefined ? '' : `; Max-Age=${maxAgeSeconds}`;
  return { name, line: `${name}=${value}; Path=${path}${age}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}` };
};

/** What a handler may return: a reply with one of its statuses; where there is one answer, its body alone. */
export type Handled<A extends Answers> =
  | { [S in keyof A & number]: A[S] extends AnswerKind<infer T, infer N> ? Reply<S, T, N> : never }[keyof A & number]
  | (IsUnion<keyof A> extends true ? never : A[keyof A & number] extends AnswerKind<infer T, string> ? T : never);

type IsUnion<U, V = U> = [U] extends [never] ? false : U extends unknown ? ([V] extends [U] ? false : true) : never;
