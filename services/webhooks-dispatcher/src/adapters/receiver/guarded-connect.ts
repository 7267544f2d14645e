import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSecureContext, getCACertificates } from 'node:tls';
import { buildConnector, errors } from 'undici';
import { isLoopbackAddress } from '../../domain/public-address.ts';
import { isOwnListener, type ReceiverPolicy } from '../../domain/receiver-url.ts';
import { addressesOf, BlockedAddress, mayDial, type Resolver } from './addresses.ts';
import { passOverContinue } from './continue.ts';
import { type DiedIdle, noteDeath } from './died-idle.ts';
import { firstToConnect } from './happy-eyeballs.ts';

export interface GuardedConnectOptions {
  readonly policy: ReceiverPolicy;
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
 */
export function guardedConnect(
  { policy, resolver, connectMs, extraCa }: GuardedConnectOptions,
  diedIdle: DiedIdle,
): buildConnector.connector {
  const secure = buildConnector({ timeout: connectMs, allowH2: false, ...trusting(extraCa) });

  const dial = async ({ hostname, protocol, port }: buildConnector.Options, signal: AbortSignal): Promise<Socket> => {
    const number = Number(port) || (DEFAULT_PORTS[protocol] ?? 0);
    const addresses = addressesOf(hostname, { policy, resolver, sleep });
    const socket = await firstToConnect({ addresses, open: (address, over) => tcp(address, number, over), sleep, signal });
    if (!(isThisMachine(socket) && isOwnListener(policy, { protocol, port })) && mayDial(policy, hostname, remoteAddress(socket)))
      return socket;
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
  const connected = async (options: buildConnector.Options): Promise<Socket> => {
    const ending = new AbortController();
    const timer = setTimeout(() => ending.abort(new errors.ConnectTimeoutError()), connectMs);
    try {
      const socket = await dial(options, ending.signal);
      return options.protocol === 'https:' ? await handshake(options, socket, ending.signal) : socket;
    } finally {
      clearTimeout(timer);
    }
  };

  return (options, callback) => {
    connected(options).then(
      (socket) => {
        noteDeath(socket, diedIdle);
        passOverContinue(socket);
        callback(null, socket);
      },
      (error) => callback(error, null),
    );
  };
}
