import { BlockList, isIP, isIPv4 } from 'node:net';
import type { ForwardedFields } from './request-head.ts';

const REQUEST_ID = /^[A-Za-z0-9._-]{8,64}$/;
const TRACEPARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;
const MAPPED_IPV4 = '::ffff:';

/** The networks whose forwarded headers count. */
export interface TrustedProxies {
  readonly any: boolean;
  trusts(address: string): boolean;
}

/** `10.0.0.0/8` or a bare address; null when it is neither. */
export const parseNetwork = (
  text: string,
): { readonly address: string; readonly prefix: number; readonly family: 'ipv4' | 'ipv6' } | null => {
  const [address = '', prefix, ...rest] = text.split('/');
  const version = isIP(address);
  const bits = version === 4 ? 32 : 128;
  if (version === 0 || rest.length > 0 || (prefix !== undefined && !/^\d{1,3}$/.test(prefix))) return null;
  const length = prefix === undefined ? bits : Number(prefix);
  return length > bits ? null : { address, prefix: length, family: version === 4 ? 'ipv4' : 'ipv6' };
};

export const trustedProxies = (networks: readonly string[]): TrustedProxies => {
  const list = new BlockList();
  for (const text of networks) {
    const network = parseNetwork(text);
    if (network !== null) list.addSubnet(network.address, network.prefix, network.family);
  }
  return {
    any: networks.length > 0,
    trusts: (address) => networks.length > 0 && isIP(address) !== 0 && list.check(address, isIPv4(address) ? 'ipv4' : 'ipv6'),
  };
};

/** The address of a socket, an IPv4 one in its own notation. */
export const plainAddress = (address: string): string =>
  address.startsWith(MAPPED_IPV4) && isIPv4(address.slice(MAPPED_IPV4.length)) ? address.slice(MAPPED_IPV4.length) : address;

interface Hop {
  readonly peer: string;
  readonly forwarded: ForwardedFields;
  readonly proxies: TrustedProxies;
}

/** Who really calls: from the right, the first address that is not one of our proxies. What stands left of it anybody may have written. */
export const clientAddress = ({ peer, forwarded, proxies }: Hop): string => {
  let client = peer;
  for (const text of forwarded.for.toReversed()) {
    if (!proxies.trusts(client)) return client;
    const address = plainAddress(text);
    if (isIP(address) === 0) return client;
    client = address;
  }
  return client;
};

/** The id that a trusted proxy gave the request, when it has the form of one. */
export const acceptedRequestId = (sent: string | null): string | null => (sent !== null && REQUEST_ID.test(sent) ? sent : null);

export const acceptedTraceparent = (sent: string | null): string | null => (sent !== null && TRACEPARENT.test(sent) ? sent : null);

/** A trace of our own, not sampled. */
export const newTraceparent = (entropy: Buffer): string => `00-${entropy.toString('hex', 0, 16)}-${entropy.toString('hex', 16, 24)}-00`;
