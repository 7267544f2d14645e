import type { ErrorKind } from '@bubbles/kernel/errors.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import { type ZodType, z } from 'zod';
import type { Audit } from './audit.ts';
import { type AnswerKind, type Answers, type BodyKind, bodyOf, type QueryKind } from './content.ts';
import { type Deprecation, deprecationFaults } from './deprecation.ts';
import type { Guard } from './guard.ts';
import type { Handled } from './reply.ts';

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** How all refusals of a route are written: our envelope, as RFC 6749 (5.2) has it, or as a page for a person. */
export type ErrorFormat = 'envelope' | 'rfc6749' | 'page';

/** The contract of an endpoint, from which guard, validation, answers, OpenAPI operation and the gateway's marks follow. */
export interface RouteSpec<I extends object, Ports, P = unknown, Q = unknown, H = unknown, B = unknown, A extends Answers = Answers> {
  readonly method: Method;
  /** OpenAPI template, e.g. `/v1/bubbles/{id}`. */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  /** Tag of the merged document, e.g. `Bubbles`. */
  readonly tag: string;
  readonly guard: Guard<I, Ports>;
  /** Raw path segments, nothing decoded. What the schema refuses answers the same 404 as an id that does not exist, after the query and body were checked. */
  readonly params?: ZodType<P>;
  /** Wire names. Unknown parameters are ignored; a repeated or empty known one is refused before the schema sees it, unless it is an array there. */
  readonly query?: ZodType<Q> | QueryKind<Q>;
  /** By their names in lower case; others are ignored. */
  readonly headers?: ZodType<H>;
  /** A schema alone is JSON: an object, of which an empty body is `{}`. */
  readonly body?: ZodType<B> | BodyKind<B>;
  /** How large a body of JSON or of a form may be; 64 KiB when absent, and always below `/v1`. The gateway reads no more either. */
  readonly bodyLimitBytes?: number;
  readonly answers: A;
  /** Refusals beyond those that guard, parameters and body imply. */
  readonly errors?: readonly ErrorKind[];
  /** `envelope` when absent. */
  readonly errorFormat?: ErrorFormat;
  /** How long the handler may take, when it is not the usual time; the gateway waits as long. */
  readonly timeLimitMs?: number;
  /** Honours `Idempotency-Key`: what it creates takes its ids from the input's. Only a POST whose guard knows whose the key is. */
  readonly idempotent?: boolean;
  /** The request or its answer carries a secret: `Cache-Control: no-store`, `Pragma: no-cache` and `Referrer-Policy: no-referrer`. */
  readonly secret?: boolean;
  /** A GET that changes something (RFC 9110, 9.2.1): HEAD is 405 and runs nothing, and the gateway sends it once. */
  readonly unsafe?: boolean;
  /** Everybody may keep the answer for so long; without it no answer may be kept. Only where the guard reads no credential. */
  readonly publicMaxAgeSeconds?: number;
  /** Each request writes an audit line; JSON in and out. */
  readonly audit?: Audit;
  /** Not part of the interface's own list of endpoints; marked so in the document. */
  readonly extension?: boolean;
  /** Polled by other processes of the product: successful requests are logged at debug. */
  readonly isRoutine?: boolean;
  /** Deprecates the whole endpoint; single parameters and fields are marked with `deprecated(…)`. */
  readonly deprecated?: Deprecation;
  /** False for what the gateway routes to and the public document does not show. */
  readonly documented?: boolean;
  /** True for what is asked without a gateway before it. */
  readonly isAskedDirectly?: boolean;
}

export interface HandlerInput<P, Q, H, B> {
  readonly params: P;
  readonly query: Q;
  readonly headers: H;
  readonly body: B;
  readonly requestId: string;
  /** Those of a request that comes again under its `Idempotency-Key` are the same again. */
  readonly ids: Ids;
  /** Aborts when the caller went away or the time limit has passed. */
  readonly signal: AbortSignal;
  /** The client's address as the gateway forwarded it, else that of the peer. */
  readonly clientAddress: () => string;
  /** Null when it is absent, damaged or sent more than once. */
  readonly cookie: (name: string) => string | null;
}

/** A spec with its handler, types erased: what a service lists. `Ports` is what the guards need of the host. */
export interface Route<Ports = unknown> {
  readonly spec: RouteSpec<object, Ports>;
  readonly handle: (input: object) => Promise<unknown>;
}

/** Binds a handler to its contract: the one place that erases their types. */
export const route = <
  I extends object,
  Ports,
  P = undefined,
  Q = undefined,
  H = undefined,
  B = undefined,
  const A extends Answers = Answers,
>(
  spec: RouteSpec<I, Ports, P, Q, H, B, A>,
  handle: (input: I & HandlerInput<P, Q, H, B>) => Promise<Handled<A>>,
): Route<Ports> =>
  // The input is what the schemas of `spec` have parsed and what its guard has found.
  ({ spec, handle }) as unknown as Route<Ports>;

/** Literal segments before parameters, so that `/v1/bubbles/search` is never the bubble `search`. */
export const byPrecedence = <Ports>(routes: readonly Route<Ports>[]): readonly Route<Ports>[] =>
  routes.toSorted((a, b) => (precedence(a.spec.path) < precedence(b.spec.path) ? -1 : 1));

/** A parameter sorts behind everything that a literal can be. */
const precedence = (path: string): string => path.replaceAll(/\{\w+\}/g, '\uffff');

export const parameterNames = (path: string): readonly string[] => [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '');

/** The fields of an object schema, also behind a transform or a refinement. */
export const fieldsOf = (schema: unknown): Readonly<Record<string, unknown>> => {
  if (schema instanceof z.ZodPipe) return fieldsOf(schema.in);
  if (schema instanceof z.ZodObject) return schema.shape;
  throw new TypeError('Parameters, query, headers and forms are described by an object schema.');
};

/** A route that cannot work is a fault of the program, found when it starts. */
export const checkRoutes = (routes: readonly Route<never>[]): void => {
  const seen = new Set<string>();
  for (const { spec } of routes) {
    for (const key of [spec.operationId, `${spec.method} ${spec.path.replaceAll(/\{\w+\}/g, '{}')}`]) {
      if (seen.has(key)) throw new TypeError(`Two routes claim ${key}.`);
      seen.add(key);
    }
    for (const fault of faultsOf(spec)) throw new TypeError(`${spec.operationId}: ${fault}.`);
  }
};

const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];
/** Headers that the registry writes itself. */
const RESERVED = /^(?:content-(?:type|length)|set-cookie|location|connection|transfer-encoding)$/i;

const faultsOf = (spec: RouteSpec<object, never>): readonly string[] => {
  const { method, path, params, headers, guard, publicMaxAgeSeconds, timeLimitMs, unsafe } = spec;
  const inPath = params ? Object.keys(fieldsOf(params)) : [];
  const faults = {
    'params and path name different parameters': inPath.toSorted().join() !== parameterNames(path).toSorted().join(),
    'names of headers are in lower case': headers !== undefined && /[A-Z]/.test(Object.keys(fieldsOf(headers)).join()),
    'an authenticated answer is never public': publicMaxAgeSeconds !== undefined && guard.reads !== null,
    'only a GET is unsafe': unsafe && method !== 'GET',
    'a time limit is more than nothing': timeLimitMs !== undefined && !(timeLimitMs > 0),
  };
  const found = Object.entries(faults).flatMap(([fault, applies]) => (applies ? [fault] : []));
  return [...found, ...deprecationFaults(spec.deprecated), ...bodyFaults(spec), ...answerFaults(spec)];
};

const bodyFaults = (spec: RouteSpec<object, never>): readonly string[] => {
  const body = bodyOf(spec.body);
  if (body?.kind !== 'raw') return [];
  return body.mediaTypes.length > 0 && body.limitBytes > 0 ? [] : ['raw bytes have a media type and a limit'];
};

const RANGE_NOT_SATISFIABLE = 416;
/** A page may show a form again with what is wrong in it; of a range that a file does not have its length is told. */
const isAnswered = (status: number, kind: AnswerKind['kind']): boolean =>
  status >= 200 && (status <= (kind === 'page' ? 499 : 399) || (kind === 'empty' && status === RANGE_NOT_SATISFIABLE));

const answerFaults = (spec: RouteSpec<object, never>): readonly string[] => {
  const answers = Object.entries(spec.answers).map(([status, answer]) => ({ status: Number(status), ...answer }));
  if (answers.length === 0) return ['there is no answer'];
  const faults = answers.flatMap(({ status, kind, details: { headers = {} } }) => [
    ...(isAnswered(status, kind) ? [] : ['a refusal is thrown, not answered']),
    ...(status === 204 && kind !== 'empty' ? ['204 has no body'] : []),
    ...(REDIRECTS.includes(status) === (kind === 'redirect') ? [] : ['a redirect has a status of its own']),
    ...(Object.keys(headers).some((name) => RESERVED.test(name)) ? ['a reply sets no header that the registry writes'] : []),
  ]);
  return spec.idempotent ? [...faults, ...idempotencyFaults(spec)] : faults;
};

/** Under a key a status and a text are kept, no headers. */
const idempotencyFaults = (spec: RouteSpec<object, never>): readonly string[] => {
  const isPlain = Object.values(spec.answers).every(
    ({ kind, details: { headers, cookies } }) => (kind === 'json' || kind === 'empty') && headers === undefined && cookies === undefined,
  );
  return [
    ...(spec.method === 'POST' && spec.guard.keyOwner !== undefined ? [] : ['only a POST of a user is idempotent']),
    ...(isPlain && (bodyOf(spec.body)?.kind ?? 'json') === 'json' ? [] : ['only JSON is kept under an Idempotency-Key']),
  ];
};
