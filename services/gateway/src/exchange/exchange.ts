import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { networkOf } from '@bubbles/http/wire/connections.ts';
import type { Clock } from '@bubbles/kernel/clock.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import type { Operation } from '../documents/fragment.ts';
import { pathOf, type RequestHead, readHead } from '../messages/request-head.ts';
import {
  acceptedRequestId,
  type BearerToken,
  clientAddress,
  credentialOf,
  type OriginRules,
  requestOrigin,
  type TrustedProxies,
} from '../messages/sender.ts';

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
  /** Clients of one network share their memory and their turns. */
  readonly network: string;
  /** Not judged yet; null for none, a malformed one or more than one. */
  readonly credential: BearerToken | null;
  /** The name under which it takes turns with others: that of its credential once that was good, else its network. */
  caller: string;
  readonly requestId: string;
  /** Upper case. */
  readonly method: string;
  /** The request target, bytes as sent. */
  readonly target: string;
  readonly path: string;
  /** Monotonic milliseconds. */
  readonly startedAt: number;
  /** Origin under which the client reached us; null when its Host is not accepted. */
  readonly origin: string | null;
  operation: Operation | null;
  reason: GatewayReason | null;
  /** For the log. */
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
}

export const createExchangeOpener = ({ proxies, origins, known, clock, ids }: ExchangeOptions) => {
  const peers = new WeakMap<Socket, Peer>();
  const newPeer = (socket: Socket): Peer => {
    const address = clientAddress({ peer: socket.remoteAddress ?? '', forwarded: [], proxies });
    const peer = { address, isProxy: proxies.has(socket.remoteAddress ?? ''), network: networkOf(address) };
    peers.set(socket, peer);
    return peer;
  };
  return (req: IncomingMessage, res: ServerResponse): Exchange => {
    const peer = peers.get(req.socket) ?? newPeer(req.socket);
    const head = readHead(req.rawHeaders);
    const target = req.url ?? '';
    const credential = credentialOf(head.authorization);
    const client = peer.isProxy ? clientAddress({ peer: peer.address, forwarded: head.forwarded.for, proxies }) : peer.address;
    const network = client === peer.address ? peer.network : networkOf(client);
    return {
      req,
      res,
      head,
      isFromProxy: peer.isProxy,
      client,
      network,
      credential,
      caller: credential !== null && known.has(credential.hash) ? credential.hash : network,
      requestId: (peer.isProxy ? acceptedRequestId(head.requestId) : null) ?? ids.uuid(),
      method: req.method ?? '',
      target,
      path: pathOf(target),
      startedAt: clock.monotonic(),
      origin: requestOrigin(head, peer.isProxy, origins),
      operation: null,
      reason: null,
      cause: null,
    };
  };
};
