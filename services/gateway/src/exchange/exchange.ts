import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Operation } from '../documents/fragment.ts';
import type { Credential } from '../messages/credential.ts';
import type { RequestHead } from '../messages/request-head.ts';

/** Why the gateway answered in place of a service. */
export type GatewayReason = 'upstream-timeout' | 'upstream-down' | 'breaker' | 'overload';

/** The socket's other end. */
export interface Peer {
  readonly address: string;
  readonly trusted: boolean;
}

/** One request and its answer on their way through the gateway. */
export interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly head: RequestHead;
  readonly peer: Peer;
  /** The address that it comes from, behind our proxies. */
  readonly client: string;
  /** What it presents, before anybody has vouched for it; null for none, a malformed one or more than one. */
  readonly credential: Credential | null;
  /** The name under which it takes turns with others: that of its credential once that was good, else of where it comes from. */
  caller: string;
  readonly requestId: string;
  /** Upper case. */
  readonly method: string;
  /** The request target, bytes as sent. */
  readonly target: string;
  readonly path: string;
  /** Monotonic milliseconds. */
  readonly startedAt: number;
  /** Origin under which the client reached us; null while its Host has not been accepted. */
  origin: string | null;
  operation: Operation | null;
  reason: GatewayReason | null;
  /** For the log. */
  cause: unknown;
}
