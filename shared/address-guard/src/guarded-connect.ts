import { connect, isIP, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSecureContext, getCACertificates } from 'node:tls';
import { withTimeout } from '@bubbles/kernel/concurrency.ts';
import { isDomainError } from '@bubbles/kernel/errors.ts';
import { buildConnector, errors } from 'undici';
import { bare, type DestinationPolicy, isLoopbackHost, isOwnListener } from './destination-url.ts';
import { firstToConnect } from './happy-eyeballs.ts';
import { isLoopbackAddress } from './public-address.ts';
import type { Resolver } from './resolver.ts';

/** No address of the host may be dialled. The message never names an address. */
class BlockedAddress extends Error {
  readonly code = 'BLOCKED_ADDRESS';
  constructor() {
    super('The destination has no address that may be dialled.');
    this.name = 'BlockedAddress';
  }
}

const NO_RECORD = new Set(['ENODATA', 'ENOTFOUND']);

/** The name has no address, or its name servers gave none. The code is its own, so that a refused DNS query is not reported as a refused connection. */
class Unresolved extends Error {
  readonly code: 'ENOTFOUND' | 'EAI_AGAIN';
  constructor(faults: readonly { readonly code?: string }[]) {
    super('The name could not be resolved.', { cause: faults[0] });
    this.name = 'Unresolved';
    this.code = faults.every(({ code = '' }) => NO_RECORD.has(code)) ? 'ENOTFOUND' : 'EAI_AGAIN';
  }
}

/** RFC 8305, section 3: how long IPv4 waits for IPv6, which comes first. */
const RESOLUTION_DELAY_MS = 50;
const LOOPBACK = ['::1', '127.0.0.1'] as const;

/** Loopback is exempt only for hosts that name it, not for names that resolve to it, and an operator's denial wins over the exemption. */
const mayDial = (policy: DestinationPolicy, host: string, address: string): boolean =>
  policy.addresses.mayDial(address) ||
  (policy.loopback && isLoopbackHost(host) && isLoopbackAddress(address) && !policy.addresses.denies(address));

interface Family {
  /** Addresses that may be dialled and were not yielded yet. */
  readonly left: string[];
  readonly heard: Promise<void>;
  answer: PromiseSettledResult<string[]> | null;
}

const familyOf = (asked: Promise<string[]>, may: (address: string) => boolean): Family => {
  const left: string[] = [];
  const hear = async () => {
    const [answer] = await Promise.allSettled([asked]);
    family.answer = answer;
    if (answer.status === 'fulfilled') for (const one of answer.value.filter(may)) left.push(one);
  };
  const family: Family = { left, heard: hear(), answer: null };
  return family;
};

const isSilent = ({ answer }: Family): boolean => answer === null;

/** Addresses as they arrive, the families in turn. IPv6 comes first when it arrives soon after IPv4. */
async function* inTurns(six: Family, four: Family, sleep: (ms: number) => Promise<unknown>): AsyncGenerator<string> {
  await Promise.race([six.heard, four.heard]);
  if (isSilent(six) && four.left.length > 0) await Promise.race([six.heard, sleep(RESOLUTION_DELAY_MS)]);
  for (let turn = [six, four]; ; ) {
    const family = turn.find(({ left }) => left.length > 0);
    const next = family?.left.shift();
    if (next !== undefined) {
      turn = family === six ? [four, six] : [six, four];
      yield next;
      continue;
    }
    const silent = turn.filter(isSilent);
    if (silent.length === 0) return;
    await Promise.race(silent.map(({ heard }) => heard));
  }
}

/** Why a name has no address that may be dialled. */
const faultOf = (families: readonly Family[]): Error => {
  const answers = families.flatMap(({ answer }) => answer ?? []);
  if (answers.some((answer) => answer.status === 'fulfilled' && answer.value.length > 0)) return new BlockedAddress();
  const faults = answers.filter((answer) => answer.status === 'rejected').map(({ reason }) => reason);
  return faults.find(isDomainError) ?? new Unresolved(faults);
};

interface Guard {
  readonly policy: DestinationPolicy;
  readonly resolver: Resolver;
  readonly sleep: (ms: number) => Promise<unknown>;
}

/** The addresses of `host` that may be dialled, in the order in which to try them. Throws when there is none. */
export async function* addressesOf(host: string, { policy, resolver, sleep }: Guard): AsyncGenerator<string> {
  const may = (address: string) => mayDial(policy, host, address);
  const literals = isIP(bare(host)) === 0 ? [] : [bare(host)];
  const known = policy.loopback && literals.length === 0 && isLoopbackHost(host) ? LOOPBACK : literals;
  let count = 0;
  if (known.length > 0) {
    for (const address of known.filter(may)) {
      count += 1;
      yield address;
    }
    if (count === 0) throw new BlockedAddress();
    return;
  }
  const [six, four] = [familyOf(resolver.resolve6(host), may), familyOf(resolver.resolve4(host), may)];
  for await (const address of inTurns(six, four, sleep)) {
    count += 1;
    yield address;
  }
  if (count === 0) throw faultOf([four, six]);
}

interface GuardedConnectOptions {
  readonly policy: DestinationPolicy;
  readonly resolver: Resolver;
  /** For look-up, connection and TLS handshake together, however many addresses there are. */
  readonly connectMs: number;
  /** Certificate authorities beside the built-in ones, PEM. */
  readonly extraCa: readonly string[];
}

const KEEP_ALIVE_PROBE_MS = 60_000;
const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

/** `ca` replaces the built-in authorities, so they are listed too. Made once, because there are many. */
const trusting = (extraCa: readonly string[]) =>
  extraCa.length === 0 ? {} : { secureContext: createSecureContext({ ca: [...getCACertificates('default'), ...extraCa] }) };

const tcp = (host: string, port: number, signal: AbortSignal): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_PROBE_MS });
    const giveUp = () => socket.destroy(signal.reason);
    signal.addEventListener('abort', giveUp, { once: true });
    // This listener stays: there is no other one until undici gets the socket.
    socket.on('error', reject);
    socket.once('connect', () => {
      signal.removeEventListener('abort', giveUp);
      resolve(socket);
    });
  });

const remoteAddress = (socket: Socket): string => socket.remoteAddress ?? '';

/** Whether the other end is on this machine: a loopback address, or the address that the connection leaves from. */
const isThisMachine = (socket: Socket): boolean =>
  isLoopbackAddress(remoteAddress(socket)) || remoteAddress(socket) === socket.localAddress;

/**
 * A connector for undici with the second stage of the address guard: each address is judged right before it is dialled, and again once it is connected.
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
