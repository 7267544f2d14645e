import type { LookupAddress } from 'node:dns';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import { createSecureContext, getCACertificates } from 'node:tls';
import { isDomainError } from '@bubbles/shared/errors.ts';
import { buildConnector } from 'undici';
import { isLoopbackAddress } from '../../domain/public-address.ts';
import { bare, isLoopbackHost, isOwnListener, type ReceiverPolicy } from '../../domain/receiver-url.ts';
import { passOverContinue } from './continue.ts';
import { type DiedIdle, noteDeath } from './died-idle.ts';

/** Asks the DNS; rejects with a `code` when there is no answer, and with `unavailable` when there is nobody to ask. */
export interface Resolver {
  resolve4(name: string): Promise<string[]>;
  resolve6(name: string): Promise<string[]>;
}

/** The address is not one that may be dialled. Its message never says which it was. */
export class BlockedAddress extends Error {
  readonly code = 'BLOCKED_ADDRESS';
  constructor() {
    super('The receiver has no address that may be dialled.');
    this.name = 'BlockedAddress';
  }
}

const NO_RECORD = new Set(['ENODATA', 'ENOTFOUND']);

/** The name has no address, or its name servers did not say. Under codes of its own: a connection that a name server refuses is none to the receiver. */
class Unresolved extends Error {
  readonly code: 'ENOTFOUND' | 'EAI_AGAIN';
  constructor(faults: readonly { readonly code?: string }[]) {
    super('The name could not be resolved.', { cause: faults[0] });
    this.name = 'Unresolved';
    this.code = faults.every(({ code = '' }) => NO_RECORD.has(code)) ? 'ENOTFOUND' : 'EAI_AGAIN';
  }
}

const LOOPBACK: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/** How long the addresses of one family wait for those of the other. Name servers that never answer for a family are common. */
const OTHER_FAMILY_MS = 250;

type Family = PromiseSettledResult<string[]>;

/** Both families, or the one that is enough when the other keeps silent. */
async function familiesOf(name: string, resolver: Resolver, isEnough: (addresses: readonly string[]) => boolean): Promise<Family[]> {
  const heard: [Family | null, Family | null] = [null, null];
  const either = Promise.withResolvers<void>();
  const hear = async (family: 0 | 1, asked: Promise<string[]>): Promise<void> => {
    const [answer] = await Promise.allSettled([asked]);
    heard[family] = answer;
    if (answer.status === 'fulfilled' && isEnough(answer.value)) setTimeout(either.resolve, OTHER_FAMILY_MS);
  };
  await Promise.race([Promise.all([hear(0, resolver.resolve4(name)), hear(1, resolver.resolve6(name))]), either.promise]);
  return heard.filter((answer) => answer !== null);
}

/** Those that may be dialled, IPv4 first. No record of one family is an empty list; any other fault of one family counts only when the other has none. */
async function addressesOf(name: string, resolver: Resolver, mayBeDialled: (address: string) => boolean): Promise<LookupAddress[]> {
  const families = await familiesOf(name, resolver, (addresses) => addresses.some(mayBeDialled));
  const found = families.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  if (found.length > 0) return found.filter(mayBeDialled).map((address) => ({ address, family: isIP(address) }));
  const faults = families.filter((answer) => answer.status === 'rejected').map(({ reason }) => reason);
  throw faults.find(isDomainError) ?? new Unresolved(faults);
}

/** May `address` be dialled for `host`? The exemption of loopback is for those who name it, not for names that resolve to it, and a denial wins over it. */
const mayDial = (policy: ReceiverPolicy, host: string, address: string): boolean =>
  policy.addresses.mayDial(address) ||
  (policy.loopback && isLoopbackHost(host) && isLoopbackAddress(address) && !policy.addresses.denies(address));

/** `net.connect`'s lookup that answers only addresses that may be dialled. */
export const vettingLookup =
  (policy: ReceiverPolicy, resolver: Resolver): LookupFunction =>
  (host, options, callback) => {
    const answer = async () => {
      const may = (address: string) => mayDial(policy, host, address);
      const isHere = policy.loopback && isLoopbackHost(host);
      const vetted = isHere ? LOOPBACK.filter(({ address }) => may(address)) : await addressesOf(host, resolver, may);
      if (vetted.length === 0) throw new BlockedAddress();
      return vetted;
    };
    answer().then(
      (vetted) => (options.all ? callback(null, [...vetted]) : callback(null, vetted[0]?.address ?? '', vetted[0]?.family)),
      (error) => callback(error, []),
    );
  };

export interface GuardedConnectOptions {
  readonly policy: ReceiverPolicy;
  readonly resolver: Resolver;
  readonly connectMs: number;
  /** Certificate authorities beside the built-in ones, PEM. */
  readonly extraCa: readonly string[];
}

/** Authorities that are named take the place of the built-in ones, so they are named too; once, since there are many. */
const trusting = (extraCa: readonly string[]) =>
  extraCa.length === 0 ? {} : { secureContext: createSecureContext({ ca: [...getCACertificates('default'), ...extraCa] }) };

/**
 * undici's connector with the second stage of the address guard: literals are judged here (a custom lookup is never asked for them), names by what they
 * resolve to now, and the address that was really dialled once more.
 */
export function guardedConnect(
  { policy, resolver, connectMs, extraCa }: GuardedConnectOptions,
  diedIdle: DiedIdle,
): buildConnector.connector {
  const connect = buildConnector({
    timeout: connectMs,
    allowH2: false,
    lookup: vettingLookup(policy, resolver),
    autoSelectFamily: true,
    ...trusting(extraCa),
  });
  return (options, callback) => {
    const address = bare(options.hostname);
    if (isIP(address) !== 0 && !mayDial(policy, options.hostname, address)) return callback(new BlockedAddress(), null);
    connect(options, (...[error, socket]) => {
      if (error !== null) return callback(error, null);
      const isOwn = isThisMachine(socket) && isOwnListener(policy, { protocol: options.protocol, port: options.port });
      if (isOwn || !mayDial(policy, options.hostname, remoteAddress(socket))) {
        socket.destroy();
        return callback(new BlockedAddress(), null);
      }
      noteDeath(socket, diedIdle);
      passOverContinue(socket);
      callback(null, socket);
    });
  };
}

const remoteAddress = (socket: Socket): string => socket.remoteAddress ?? '';

/** The other end lies on this machine: a loopback address, or the very one that the connection leaves from. */
const isThisMachine = (socket: Socket): boolean =>
  isLoopbackAddress(remoteAddress(socket)) || remoteAddress(socket) === socket.localAddress;
