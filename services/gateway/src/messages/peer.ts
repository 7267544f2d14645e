import { isIP, isIPv4 } from 'node:net';
import type { ForwardedFields } from './request-head.ts';

const REQUEST_ID = /^[A-Za-z0-9._-]{8,64}$/;
const TRACEPARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;
const MAPPED_IPV4 = '::ffff:';

/** The networks whose forwarded headers count. */
export interface TrustedProxies {
  has(address: string): boolean;
}

/** The address of a socket, an IPv4 one in its own notation. */
const plainAddress = (address: string): string => {
  const short = address.startsWith(MAPPED_IPV4) ? address.slice(MAPPED_IPV4.length) : address;
  return isIPv4(short) ? short : address;
};

interface Hop {
  readonly peer: string;
  readonly forwarded: ForwardedFields;
  readonly proxies: TrustedProxies;
}

/** Who really calls: from the right, the first address that is not one of our proxies. What stands left of it anybody may have written. */
export const clientAddress = ({ peer, forwarded, proxies }: Hop): string => {
  let client = plainAddress(peer);
  for (const text of forwarded.for.toReversed()) {
    if (!proxies.has(client)) return client;
    const address = plainAddress(text);
    if (isIP(address) === 0) return client;
    client = address;
  }
  return client;
};

/** The id that a trusted proxy gave the request, when it has the form of one. */
export const acceptedRequestId = (sent: string | null): string | null => (sent !== null && REQUEST_ID.test(sent) ? sent : null);

export const acceptedTraceparent = (sent: string | null): string | null => (sent !== null && TRACEPARENT.test(sent) ? sent : null);

const TRACE_BYTES = 24;
const TRACES_A_DRAW = 128;

/** Traces of our own, not sampled. Randomness is drawn for many at once: a draw costs more than the rest of a request's head. */
export const newTraceparents = (draw: (bytes: number) => Buffer): (() => string) => {
  let entropy: Buffer = Buffer.alloc(0);
  let used = 0;
  return () => {
    if (used === entropy.length) {
      entropy = draw(TRACE_BYTES * TRACES_A_DRAW);
      used = 0;
    }
    const at = used;
    used += TRACE_BYTES;
    return `00-${entropy.toString('hex', at, at + 16)}-${entropy.toString('hex', at + 16, at + TRACE_BYTES)}-00`;
  };
};
