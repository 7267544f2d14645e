import type { ErrorKind } from '@bubbles/kernel/errors.ts';
import type { Redirection } from './reply.ts';

/** A request as its guard sees it. */
export interface GuardRequest {
  /** Every value of the header as it was sent; `name` in lower case. */
  header(name: string): readonly string[];
  /** Null when it is absent, damaged or sent more than once. */
  cookie(name: string): string | null;
  /** Path and query as they were sent. */
  readonly target: string;
  /** The body by the route's own schema, for a credential that stands in it; read once. */
  body(): Promise<unknown>;
  /** The client's address as the gateway forwarded it, else that of the peer. */
  clientAddress(): string;
  /** Sets a header of the answer, also when it is a refusal. */
  answerWith(name: string, value: string): void;
  /** Origin under which clients reach the product, without a trailing slash. */
  readonly publicBaseUrl: string;
}

/** Decides who may call a route. `Input` is passed to the handler; `Ports` are the dependencies that the host provides. */
export interface Guard<Input extends object, Ports = unknown> {
  /** What it accepts, as OpenAPI says it. */
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  /** Tells the gateway which credentials to check before it forwards: `x-gw-auth`. */
  readonly gatewayMark: string;
  /** The services that alone may call: the gateway never routes to it. Null when it is called from outside. */
  readonly callers: readonly string[] | null;
  /** Requests use up a budget, which every answer shows (`RateLimit`). */
  readonly isCounted: boolean;
  /** What it refuses, beside `rate_limited` where it counts. */
  readonly refusals: readonly ErrorKind[];
  /** The header with the credential, on which answers depend; null when it reads none. */
  readonly reads: 'Authorization' | 'Cookie' | null;
  /** Rejects with the refusal; a redirection (`seeOther`) is answered in place of the handler. */
  readonly admit: (request: GuardRequest, ports: Ports) => Promise<Input | Redirection>;
  /** Owner of an `Idempotency-Key`; required for `idempotent` routes. */
  keyOwner?(input: Input): readonly (string | number)[];
  /** Kind and id of the caller's credential, for the log of deprecated uses; never its secret. */
  clientOf?(input: Input): string;
}
