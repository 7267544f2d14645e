import type { ErrorKind } from '@bubbles/kernel/errors.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import type { ZodType } from 'zod';

export type CredentialKind = 'pat' | 'oauth' | 'session';

/** Who calls, as identity vouches for it. Which teams they belong to, a service asks where it needs it: there is no bound to them. */
export interface Caller {
  readonly userId: string;
  /** Of the account: rises when a deleted one is opened again, and what belonged to an earlier life has ended. */
  readonly life: number;
  /** The key, the session or the OAuth grant. */
  readonly credentialId: string;
  readonly kind: CredentialKind;
  readonly scopes: readonly string[];
}

/** What a route takes. `pat` admits OAuth access tokens too; `internal` takes a service token of one of `callers` and no user. */
export type Auth =
  | { readonly kind: 'none' }
  | { readonly kind: 'pat'; readonly scope: string | null }
  | { readonly kind: 'session' }
  | { readonly kind: 'pat+session'; readonly scope: string | null }
  | { readonly kind: 'internal'; readonly callers: readonly string[] };

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The contract of an endpoint: from it come handler, validation, OpenAPI operation and the test of all three. */
export interface RouteSpec<P = unknown, Q = unknown, B = unknown, R = unknown, A extends Auth = Auth> {
  readonly method: Method;
  /** OpenAPI template, e.g. `/v1/bubbles/{id}`. */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  /** Tag of the merged document, e.g. `Bubbles`. */
  readonly tag: string;
  readonly auth: A;
  /** Raw path segments, nothing decoded. What the schema refuses answers the same 404 as an id that does not exist, after the query and body were checked. */
  readonly params?: ZodType<P>;
  /** Wire names. Unknown parameters are ignored; a repeated or empty known one is refused before the schema sees it. */
  readonly query?: ZodType<Q>;
  /** An object. An empty body is validated as `{}`. */
  readonly body?: ZodType<B>;
  /** How large a body may be; 64 KiB when absent, and always below `/v1`. The gateway reads no more either. */
  readonly bodyLimitBytes?: number;
  readonly success: Success<R>;
  /** Refusals beyond those that its `auth`, parameters and body imply. */
  readonly errors: readonly ErrorKind[];
  /** Honours `Idempotency-Key`: what it creates takes its ids from the input's. Only a POST of a user. */
  readonly idempotent?: boolean;
  /** The response carries a secret: `Cache-Control: no-store` and `Pragma: no-cache`. */
  readonly secret?: boolean;
  /** Everybody may keep the answer for so long; without it no answer may be kept. Only where `auth` is `none`. */
  readonly publicMaxAgeSeconds?: number;
  /** Not part of the interface's own list of endpoints; marked so in the document. */
  readonly extension?: boolean;
}

export interface Success<R> {
  readonly status: 200 | 201 | 202 | 204;
  readonly schema: ZodType<R> | null;
  readonly description?: string;
  /** `application/json` when absent; the charset is added. */
  readonly mediaType?: string;
}

export interface HandlerInput<P, Q, B> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  readonly requestId: string;
  /** Those of a request that comes again under its `Idempotency-Key` are the same again. */
  readonly ids: Ids;
  /** Aborts when the caller went away or the time budget is spent. */
  readonly signal: AbortSignal;
}
export interface AuthenticatedInput<P, Q, B> extends HandlerInput<P, Q, B> {
  readonly caller: Caller;
}
export interface InternalInput<P, Q, B> extends HandlerInput<P, Q, B> {
  /** Name of the calling service. */
  readonly service: string;
}

export type InputFor<A extends Auth, P, Q, B> = A extends { kind: 'none' }
  ? HandlerInput<P, Q, B>
  : A extends { kind: 'internal' }
    ? InternalInput<P, Q, B>
    : AuthenticatedInput<P, Q, B>;

/** A spec with its handler, types erased: what a service lists and `mount` serves. */
export interface Route {
  readonly spec: RouteSpec;
  handle(input: HandlerInput<unknown, unknown, unknown> & { readonly caller?: Caller; readonly service?: string }): Promise<unknown>;
}
