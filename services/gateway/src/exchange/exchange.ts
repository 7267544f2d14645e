import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { RATE_LIMIT_HEADERS } from '@bubbles/contracts/access.ts';
import { PAGES_PREFIXES } from '@bubbles/contracts/services.ts';
import { PAGE_HEADERS } from '@bubbles/http/routes/content.ts';
import { answerOf } from '@bubbles/http/routes/http-errors.ts';
import type { ErrorFormat } from '@bubbles/http/routes/route.ts';
import { networkOf, siteOf } from '@bubbles/http/wire/connections.ts';
import { linger } from '@bubbles/http/wire/read-body.ts';
import type { Clock } from '@bubbles/kernel/clock.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import { type Span, startSpan } from '@bubbles/kernel/trace.ts';
import { isWithin, type Operation } from '../documents/fragment.ts';
import {
  acceptedRequestId,
  type BearerToken,
  clientAddress,
  credentialOf,
  type OriginRules,
  pathOf,
  type RequestHead,
  readHead,
  requestOrigin,
  type TrustedProxies,
} from '../messages/request.ts';

/** Why the gateway answered in place of a service. */
export type GatewayReason = 'upstream-timeout' | 'upstream-down' | 'breaker' | 'overload';

/** One request and its answer on their way through the gateway. */
export interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly head: RequestHead;
  /** The socket's other end is one of our proxies. */
  readonly isFromProxy: boolean;
  /** The address that it comes from, behind our proxies. */
  readonly client: string;
  /** Clients of one network share their memory. */
  readonly network: string;
  /** Not judged yet; null for none, a malformed one or more than one. */
  readonly credential: BearerToken | null;
  /** The name under which it takes turns with others: that of its credential once that was good, else its site. */
  caller: string;
  readonly requestId: string;
  /** Continues the trace of a trusted proxy or begins one. */
  readonly span: Span;
  /** Upper case. */
  readonly method: string;
  /** The request target, bytes as sent. */
  readonly target: string;
  readonly path: string;
  /** Monotonic milliseconds. */
  readonly startedAt: number;
  /** Origin under which the client reached us; null when its Host is not accepted. */
  readonly origin: string | null;
  /** Scripts of any origin may call: bearer tokens only, no cookies. */
  readonly isCrossOrigin: boolean;
  operation: Operation | null;
  /** Trace id of the batch that carried this request's credential check; null when the check ran in its own trace. */
  checkedInTrace: string | null;
  /** How it is refused: as its operation says, or what its path has. */
  errorFormat: ErrorFormat;
  reason: GatewayReason | null;
  /** The service that the reason is about, and what went wrong: for the log. */
  upstream: string | null;
  cause: unknown;
}

export interface ExchangeOptions {
  readonly proxies: TrustedProxies;
  readonly origins: OriginRules;
  /** The hashes of credentials that were good a short time ago: each takes turns under its own name. */
  readonly known: { has(hash: string): boolean };
  readonly clock: Clock;
  readonly ids: Ids;
}

/** The socket's other end. */
interface Peer {
  readonly address: string;
  readonly isProxy: boolean;
  readonly network: string;
  readonly site: string;
}

const TOLD_NOTHING = { requestId: null, traceparent: null } as const;

export const createExchangeOpener = ({ proxies, origins, known, clock, ids }: ExchangeOptions) => {
  const peers = new WeakMap<Socket, Peer>();
  const newPeer = (socket: Socket): Peer => {
    const address = clientAddress({ peer: socket.remoteAddress ?? '', forwarded: [], proxies });
    const peer = { address, isProxy: proxies.has(socket.remoteAddress ?? ''), network: networkOf(address), site: siteOf(address) };
    peers.set(socket, peer);
    return peer;
  };
  return (req: IncomingMessage, res: ServerResponse): Exchange => {
    const peer = peers.get(req.socket) ?? newPeer(req.socket);
    const head = readHead(req.rawHeaders);
    // Trace headers of untrusted clients are ignored.
    const told = peer.isProxy ? head : TOLD_NOTHING;
    const target = req.url ?? '';
    const path = pathOf(target);
    const credential = credentialOf(head.authorization);
    const client = peer.isProxy ? clientAddress({ peer: peer.address, forwarded: head.forwarded.for, proxies }) : peer.address;
    const { network, site } = client === peer.address ? peer : { network: networkOf(client), site: siteOf(client) };
    return {
      req,
      res,
      head,
      isFromProxy: peer.isProxy,
      client,
      network,
      credential,
      caller: credential !== null && known.has(credential.hash) ? credential.hash : site,
      requestId: acceptedRequestId(told.requestId) ?? ids.uuid(),
      span: startSpan(told.traceparent),
      method: req.method ?? '',
      target,
      path,
      startedAt: clock.monotonic(),
      origin: requestOrigin(head, peer.isProxy, origins),
      isCrossOrigin: CROSS_ORIGIN_PATH.test(path),
      operation: null,
      checkedInTrace: null,
      errorFormat: PAGES_PREFIXES.some((prefix) => isWithin(path, prefix)) ? 'page' : 'envelope',
      reason: null,
      upstream: null,
      cause: null,
    };
  };
};

export interface Answer {
  readonly status: number;
  /** Name, value, name, value. */
  readonly headers: readonly string[];
  readonly body: string | Buffer;
}

/** The pages of /oauth/authorize are not among them. */
const CROSS_ORIGIN_PATH = /^\/(?:\.well-known\/|(?:v1|oauth\/(?:token|register|revoke|jwks))(?:\/|$))/;

const EXPOSED = [
  'X-Request-Id',
  'Retry-After',
  ...RATE_LIMIT_HEADERS,
  'WWW-Authenticate',
  'Idempotency-Replayed',
  'Deprecation',
  'Sunset',
  'Content-Disposition',
].join(', ');
const REQUEST_HEADERS = 'Authorization, Content-Type, Idempotency-Key, If-None-Match, MCP-Protocol-Version';
const PREFLIGHT_MAX_AGE_SECONDS = '600';

const CROSS_ORIGIN_HEADERS: readonly string[] = ['Access-Control-Allow-Origin', '*', 'Access-Control-Expose-Headers', EXPOSED];

/** Names that only the gateway writes where it answers for all origins. */
const CROSS_ORIGIN_NAMES = [
  'access-control-allow-origin',
  'access-control-allow-credentials',
  'access-control-allow-headers',
  'access-control-allow-methods',
  'access-control-expose-headers',
  'access-control-max-age',
];

/** Lower-case names of a service's answer that `commonHeaders` writes instead. */
export const REPLACED_HEADERS: ReadonlySet<string> = new Set(['x-content-type-options']);
export const REPLACED_CROSS_ORIGIN: ReadonlySet<string> = new Set([...REPLACED_HEADERS, ...CROSS_ORIGIN_NAMES]);

const preflightHeaders = (allow: string): readonly string[] => [
  'Access-Control-Allow-Methods',
  allow,
  'Access-Control-Allow-Headers',
  REQUEST_HEADERS,
  'Access-Control-Max-Age',
  PREFLIGHT_MAX_AGE_SECONDS,
];

/** The answer to OPTIONS. */
export const answerOptions = (exchange: Exchange, allow: string): void => {
  const headers = ['Allow', allow, ...(exchange.isCrossOrigin ? preflightHeaders(allow) : [])];
  answer(exchange, { status: 204, headers, body: '' });
};

/** Headers of every answer, from services and from the gateway. */
export const commonHeaders = ({ requestId, isCrossOrigin, origin }: Exchange): string[] => [
  'X-Request-Id',
  requestId,
  'X-Content-Type-Options',
  'nosniff',
  ...(origin?.startsWith('https:') ? ['Strict-Transport-Security', 'max-age=63072000; includeSubDomains'] : []),
  ...(isCrossOrigin ? CROSS_ORIGIN_HEADERS : []),
];

/** Answers with a document or a refusal of the gateway's own. */
export const answer = (exchange: Exchange, { status, headers, body }: Answer): void => {
  const { req, res, head, method } = exchange;
  if (res.headersSent || res.destroyed) return;
  const lines = [...headers, ...commonHeaders(exchange)];
  if (status !== 204 && status !== 304) lines.push('Content-Length', String(Buffer.byteLength(body)));
  const unread = head.hasBody && !req.complete;
  if (unread) lines.push('Connection', 'close');
  res.writeHead(status, lines);
  if (!unread) {
    res.end(method === 'HEAD' ? undefined : body);
    return;
  }
  res.flushHeaders();
  // The answer is out; that the sender still has to finish changes nothing about it.
  void linger(req, res, method === 'HEAD' ? '' : body.toString());
};

interface Refusal {
  readonly error: DomainError;
  readonly headers?: readonly string[];
  /** The connection cannot be trusted to be in step any more. */
  readonly close?: boolean;
}

/** Where a base URL is needed and the request gave none that can be believed. */
const NO_ORIGIN = '';

export const refuse = (exchange: Exchange, { error, headers = [], close = false }: Refusal): void => {
  const { errorFormat: format, origin } = exchange;
  const { status, contentType, headers: implied, body } = answerOf(error, origin ?? NO_ORIGIN, { format });
  const lines = Object.entries({ ...implied, ...(format === 'page' && PAGE_HEADERS) }).flat();
  if (close) lines.push('Connection', 'close');
  answer(exchange, { status, headers: ['Content-Type', contentType, 'Cache-Control', 'no-store', ...lines, ...headers], body });
};

/** Seconds after which a service that is down, slow or overloaded may be asked again. */
const RETRY_AFTER_SECONDS = 2;

interface Failed {
  readonly cause?: unknown;
  /** The service of the operation when absent. */
  readonly upstream?: string;
}

/** A service did not answer, or may not be asked: 500 with the cause for those who operate it. */
export const fail = (exchange: Exchange, reason: GatewayReason, { cause, upstream }: Failed = {}): void => {
  exchange.reason = reason;
  exchange.upstream = upstream ?? exchange.operation?.service ?? null;
  exchange.cause = cause;
  const error = new DomainError('unavailable', 'The service is not available.', { retryAfterSeconds: RETRY_AFTER_SECONDS });
  refuse(exchange, { error, headers: ['X-Gateway-Reason', reason] });
};
