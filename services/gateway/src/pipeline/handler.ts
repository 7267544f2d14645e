import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { GATEWAY } from '@bubbles/contracts/services.ts';
import type { HttpMetrics } from '@bubbles/http/routes/http-metrics.ts';
import { networkOf } from '@bubbles/http/wire/connections.ts';
import type { LoadShedder } from '@bubbles/http/wire/overload.ts';
import type { Clock } from '@bubbles/kernel/clock.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import type { Operation } from '../documents/fragment.ts';
import { fail, refuse } from '../exchange/answer.ts';
import type { Exchange, Peer } from '../exchange/exchange.ts';
import type { SlowReaders } from '../exchange/slow-readers.ts';
import { credentialOf } from '../messages/credential.ts';
import { messageFault } from '../messages/message-rules.ts';
import { type OriginRules, requestOrigin } from '../messages/origin.ts';
import { acceptedRequestId, clientAddress, type TrustedProxies } from '../messages/peer.ts';
import { readHead } from '../messages/request-head.ts';
import { pathOf, targetFault } from '../messages/target.ts';
import type { RouteRequest } from './route-request.ts';
import type { Traffic } from './traffic.ts';

/** May take a request before it is routed; true when it has. At once: who has left meanwhile would never be counted as gone. */
export type Before = (req: IncomingMessage, res: ServerResponse) => boolean;

export interface HandlerOptions {
  readonly route: RouteRequest;
  readonly forward: (exchange: Exchange, operation: Operation) => Promise<void>;
  readonly showPage: (exchange: Exchange) => Promise<void>;
  readonly before: Before | null;
  /** Was this credential good a short time ago, by its hash? */
  readonly isKnown: (hash: string) => boolean;
  readonly proxies: TrustedProxies;
  readonly origins: OriginRules;
  readonly traffic: Traffic;
  readonly readers: SlowReaders;
  readonly shedder: LoadShedder;
  readonly maxInFlight: number;
  readonly metrics: HttpMetrics;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
}

/** One request from its first byte to the last of its answer. */
export const requestHandler = (options: HandlerOptions): RequestListener => {
  const peers = new WeakMap<Socket, Peer>();
  const peerOf = (socket: Socket): Peer => {
    const known = peers.get(socket);
    if (known !== undefined) return known;
    const address = socket.remoteAddress ?? '';
    const peer = { address, trusted: options.proxies.has(address) };
    peers.set(socket, peer);
    return peer;
  };
  return (req, res) => {
    const exchange = openExchange(req, res, { peer: peerOf(req.socket), options });
    serve(exchange, options).catch((error: unknown) => {
      options.log.error('request failed', { request_id: exchange.requestId, error });
      refuse(exchange, { error: new DomainError('internal', 'The gateway failed.', { cause: error }), close: true });
    });
  };
};

const openExchange = (req: IncomingMessage, res: ServerResponse, { peer, options }: { peer: Peer; options: HandlerOptions }): Exchange => {
  const head = readHead(req.rawHeaders);
  const target = req.url ?? '';
  const credential = credentialOf(head.authorization);
  const client = clientAddress({ peer: peer.address, forwarded: head.forwarded, proxies: options.proxies });
  return {
    req,
    res,
    head,
    peer,
    client,
    credential,
    caller: credential !== null && options.isKnown(credential.hash) ? credential.hash : networkOf(client),
    requestId: (peer.trusted ? acceptedRequestId(head.requestId) : null) ?? options.ids.uuid(),
    method: req.method ?? '',
    target,
    path: pathOf(target),
    startedAt: options.clock.monotonic(),
    origin: requestOrigin(head, peer.trusted, options.origins),
    operation: null,
    reason: null,
    cause: null,
  };
};

const serve = async (exchange: Exchange, options: HandlerOptions): Promise<void> => {
  const { req, res } = exchange;
  const framing = messageFault({ httpVersion: req.httpVersion, headerCount: req.rawHeaders.length / 2, head: exchange.head });
  const fault = framing ?? targetFault(exchange.target) ?? (exchange.origin === null ? 'The Host header is not valid.' : null);
  if (fault === null && options.before?.(req, res)) return;
  const { caller } = exchange;
  const leave = options.traffic.enter(caller);
  res.once('close', () => {
    leave();
    record(exchange, options);
  });
  if (fault !== null) return refuse(exchange, { error: new DomainError('invalid', fault), close: framing !== null });
  if (!options.shedder.admit() || options.traffic.exceeds(caller, options.maxInFlight)) return fail(exchange, 'overload');
  const operation = await options.route(exchange);
  if (operation === null) return;
  exchange.operation = operation;
  await (operation.service === GATEWAY ? options.showPage(exchange) : options.forward(exchange, operation));
  if (res.writableEnded && res.writableLength > 0) options.readers.watch(exchange);
};

const UNMATCHED = 'unmatched';

/** The template, never the path: ids, queries and tokens stay out of logs and metrics. */
const record = (exchange: Exchange, { metrics, clock, log }: HandlerOptions): void => {
  const { requestId, method, operation, res, startedAt, reason, cause } = exchange;
  const ms = clock.monotonic() - startedAt;
  const served = { method, route: operation?.template ?? UNMATCHED, status: res.statusCode };
  const fields = { request_id: requestId, ...served, ms: Math.round(ms * 10) / 10, ...(!res.writableFinished && { aborted: true }) };
  metrics.served({ service: GATEWAY, ...served, seconds: ms / 1000 });
  if (reason === null) log.info('request', fields);
  else log.warn('request could not be served', { ...fields, upstream: operation?.service ?? null, reason, error: cause });
};
