import { DomainError } from '@bubbles/kernel/errors.ts';
import type { ZodType } from 'zod';
import { type AnswerKind, type Answers, describeIssues, type EventStream, redirect, type SentFile } from './content.ts';
import { isMarkup } from './markup.ts';

const REPLY: unique symbol = Symbol('reply');

/** Says which of its answers a handler gives. */
interface Reply<S extends number = number, T = unknown, N extends string = string> {
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
  /** With an empty body. */
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

/** What a guard answers in place of the handler: where the browser has to go first. */
export type Redirection = Reply<303, string>;

/** Only `reply` makes objects with this symbol. */
const isReply = (value: unknown): value is Reply => typeof value === 'object' && value !== null && REPLY in value;

/** Null when the guard has let the caller in. */
export const redirectionOf = (admitted: object): Answer | null => (isReply(admitted) ? written(redirect, admitted) : null);

interface Cookie<N extends string = string> {
  readonly name: N;
  /** The value of `Set-Cookie`. */
  readonly line: string;
}

interface CookieOptions {
  /** Without it the browser keeps the cookie until it is closed. */
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

/** What a handler has answered, proved against its route and ready to be written. */
export interface Answer extends Pick<Reply, 'status' | 'headers' | 'cookies'> {
  readonly body: string | Buffer | EventStream | SentFile | null;
}

/** A fault of ours: the log says what it is, the caller does not learn it. */
export const fault = (what: string): DomainError => new DomainError('internal', 'Unexpected response.', { cause: new Error(what) });

/** Strips what a handler returned to the schema of its answer; what its route does not declare is a fault of ours and does not leave. */
export const answerWriter = ({
  answers,
  operationId,
}: {
  readonly answers: Answers;
  readonly operationId: string;
}): ((result: unknown) => Answer) => {
  const [only, ...others] = Object.keys(answers).map(Number);
  const single = others.length === 0 ? only : undefined;
  const undeclared = (what: string) => fault(`${operationId} declares no ${what}`);
  const checkExtras = ({ headers, cookies }: Reply, { details }: AnswerKind) => {
    for (const [name] of headers) if (details.headers?.[name] === undefined) throw undeclared(`header ${name}`);
    for (const { name } of cookies) if (details.cookies?.[name] === undefined) throw undeclared(`cookie ${name}`);
  };
  return (result) => {
    const said = isReply(result) ? result : null;
    const status = said?.status ?? single;
    const kind = status === undefined ? undefined : answers[status];
    if (status === undefined || kind === undefined) throw undeclared(`answer ${status ?? 'without a status'}`);
    if (said === null) return written(kind, { status, body: result, headers: [], cookies: [] });
    checkExtras(said, kind);
    return written(kind, said);
  };
};

const written = ({ kind, schema }: AnswerKind, { status, body, headers, cookies }: Omit<Reply, symbol>): Answer => {
  switch (kind) {
    case 'json':
      return { status, body: JSON.stringify(proved(schema, body)), headers, cookies };
    case 'text':
      return { status, body: String(proved(schema, body)), headers, cookies };
    case 'page':
      if (!isMarkup(body)) throw fault('the page is not of markup');
      return { status, body: body.text, headers, cookies };
    case 'bytes':
      return { status, body: bufferOf(proved(schema, body)), headers, cookies };
    case 'file':
      // The handler's type says so.
      return { status, body: body as SentFile, headers, cookies };
    case 'events':
      // The handler's type says so; each event is proved when it is sent.
      return { status, body: body as EventStream, headers, cookies };
    case 'redirect':
      return { status, body: null, headers: [...headers, ['Location', String(body)]], cookies };
    case 'empty':
      return { status, body: null, headers, cookies };
  }
};

/** A mismatch is reported without the values. */
export const proved = (schema: ZodType | null, value: unknown): unknown => {
  const parsed = schema?.safeParse(value);
  if (parsed?.success) return parsed.data;
  throw fault(`response does not match its schema: ${describeIssues(parsed?.error.issues ?? [], 'response')}`);
};

const bufferOf = (bytes: unknown): Buffer => {
  if (!(bytes instanceof Uint8Array)) throw fault('the answer is not of bytes');
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
};
