import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSecureContext, getCACertificates } from 'node:tls';
import { withTimeout } from '@bubbles/kernel/concurrency.ts';
import { buildConnector, errors } from 'undici';
import { type DestinationPolicy, isOwnListener } from './destination-url.ts';
import { addressesOf, BlockedAddress, mayDial } from './dialled-addresses.ts';
import { firstToConnect } from './happy-eyeballs.ts';
import { isLoopbackAddress } from './public-address.ts';
import type { Resolver } from './resolver.ts';

export interface GuardedConnectOptions {
  readonly policy: DestinationPolicy;
  readonly resolver: Resolver;
  /** For look-up, connection and TLS handshake together, whatever the number of addresses. */
  readonly connectMs: number;
  /** Certificate authorities beside the built-in ones, PEM. */
  readonly extraCa: readonly string[];
}

const KEEP_ALIVE_PROBE_MS = 60_000;
const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

/** Authorities that are named take the place of the built-in ones, so they are named too; once, since there are many. */
const trusting = (extraCa: readonly string[]) =>
  extraCa.length === 0 ? {} : { secureContext: createSecureContext({ ca: [...getCACertificates('default'), ...extraCa] }) };

const tcp = (host: string, port: number, signal: AbortSignal): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_PROBE_MS });
    const giveUp = () => socket.destroy(signal.reason);
    signal.addEventListener('abort', giveUp, { once: true });
    // It stays: nobody else listens until the socket is handed over.
    socket.on('error', reject);
    socket.once('connect', () => {
      signal.removeEventListener('abort', giveUp);
      resolve(socket);
    });
  });

const remoteAddress = (socket: Socket): string => socket.remoteAddress ?? '';

/** The other end lies on this machine: a loopback address, or the very one that the connection leaves from. */
const isThisMachine = (socket: Socket): boolean =>
  isLoopbackAddress(remoteAddress(socket)) || remoteAddress(socket) === socket.localAddress;

/**
 * A connector of undici with the second stage of the address guard: every address is judged right before it is dialled, and what was dialled once more.
 * `onConnect` gets each socket before undici does.
 */
export function guardedConnect(
  { policy, resolver, connectMs, extraCa }: GuardedConnectOptions,
  onConnect: (socket: Socket) => void,
): buildConnector.connector {
  const secure = buildConnector({ timeout: connectMs, allowH2: false, ...trusting(extraCa) });

  const dial = async ({ hostname, protocol, port }: buildConnector.Options, signal: AbortSignal): Promise<Socket> => {
    const number = Number(port) || (DEFAULT_PORTS[protocol] ?? 0);
    const addresses = addressesOf(hostname, { policy, resolver, sleep });
    const socket = await firstToConnect({ addresses, open: (address, over) => tcp(address, number, over), sleep, signal });
    const isOwn = isThisMachine(socket) && isOwnListener(policy, { protocol, port });
    if (!isOwn && mayDial(policy, hostname, remoteAddress(socket))) return socket;
    socket.destroy();
    throw new BlockedAddress();
  };
  const handshake = (options: buildConnector.Options, httpSocket: Socket, signal: AbortSignal): Promise<Socket> =>
    new Promise((resolve, reject) => {
      const giveUp = () => {
        reject(signal.reason);
        httpSocket.destroy();
      };
      signal.addEventListener('abort', giveUp, { once: true });
      secure({ ...options, httpSocket }, (...[error, socket]) => (error === null ? resolve(socket) : reject(error)));
    });
  const connected = async (options: buildConnector.Options, signal: AbortSignal): Promise<Socket> => {
    const socket = await dial(options, signal);
    return options.protocol === 'https:' ? handshake(options, socket, signal) : socket;
  };

  return (options, callback) => {
    withTimeout(connectMs, (signal) => connected(options, signal), { error: () => new errors.ConnectTimeoutError() }).then(
      (socket) => {
        onConnect(socket);
        callback(null, socket);
      },
      (error) => callback(error, null),
    );
  };
}
