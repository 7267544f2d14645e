import { hash } from 'node:crypto';
import { isIP, isIPv4 } from 'node:net';
import { bearerToken, parseAuthority } from '@bubbles/http/wire/framing.ts';
import { isObject, parsedJson } from './json.ts';
import type { RequestHead } from './request-head.ts';

/** The networks whose forwarded headers count. */
export interface TrustedProxies {
  has(address: string): boolean;
}

const MAPPED_IPV4 = '::ffff:';

/** An IPv4 address of a socket in its own notation. */
const plainAddress = (address: string): string => {
  if (!address.startsWith(MAPPED_IPV4)) return address;
  const short = address.slice(MAPPED_IPV4.length);
  return isIPv4(short) ? short : address;
};

interface Hop {
  readonly peer: string;
  /** Addresses that `X-Forwarded-For` lists. */
  readonly forwarded: readonly string[];
  readonly proxies: TrustedProxies;
}

/** The first address from the right that is not one of our proxies. Anybody may have written what stands left of it. */
export const clientAddress = ({ peer, forwarded, proxies }: Hop): string => {
  let client = plainAddress(peer);
  for (const text of forwarded.toReversed()) {
    if (!proxies.has(client)) return client;
    const address = plainAddress(text);
    if (isIP(address) === 0) return client;
    client = address;
  }
  return client;
};

const REQUEST_ID = /^[A-Za-z0-9._-]{8,64}$/;
const TRACEPARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** The id that a trusted proxy gave the request, when it is well-formed. */
export const acceptedRequestId = (sent: string | null): string | null => (sent !== null && REQUEST_ID.test(sent) ? sent : null);

export const acceptedTraceparent = (sent: string | null): string | null => (sent !== null && TRACEPARENT.test(sent) ? sent : null);

const TRACE_BYTES = 24;
const TRACES_PER_DRAW = 128;

/** Traces of our own, not sampled. Random bytes are drawn for many at once, since each draw is slow. */
export const newTraceparents = (draw: (bytes: number) => Buffer): (() => string) => {
  let entropy: Buffer = Buffer.alloc(0);
  let used = 0;
  return () => {
    if (used === entropy.length) {
      entropy = draw(TRACE_BYTES * TRACES_PER_DRAW);
      used = 0;
    }
    const at = used;
    used += TRACE_BYTES;
    return `00-${entropy.toString('hex', at, at + 16)}-${entropy.toString('hex', at + 16, at + TRACE_BYTES)}-00`;
  };
};

export interface OriginRules {
  /** Configured: then no header has a say. */
  readonly publicBaseUrl: string | null;
  /** Host names that are ours; empty for any. */
  readonly allowedHosts: readonly string[];
}

const DEFAULT_PORTS = { http: 80, https: 443 } as const;

/** The origin under which a client has reached us, without a default port. Null when its Host is malformed or not ours. */
export const requestOrigin = (head: RequestHead, trusted: boolean, { publicBaseUrl, allowedHosts }: OriginRules): string | null => {
  const sent = parseAuthority(head.hosts[0] ?? '');
  const authority = trusted && head.forwarded.host !== null ? parseAuthority(head.forwarded.host) : sent;
  if (sent === null || authority === null) return null;
  const { host, port } = authority;
  if (allowedHosts.length > 0 && !allowedHosts.includes(host)) return null;
  if (publicBaseUrl !== null) return publicBaseUrl;
  const scheme = trusted && head.forwarded.proto === 'https' ? 'https' : 'http';
  return port === null || port === DEFAULT_PORTS[scheme] ? `${scheme}://${host}` : `${scheme}://${host}:${port}`;
};

const JWT = /^eyJ[\w-]*\.([\w-]+)\.[\w-]+$/;
const MAX_TOKEN_LENGTH = 8192;

/** A bearer token as presented, before identity has judged it. */
export interface BearerToken {
  /** Lower-case hex SHA-256 of the token. */
  readonly hash: string;
  /** The token itself when it has the form of a JWT, else null: an opaque token goes no further than this. */
  readonly jwt: string | null;
}

/** The credential that a request presents; null for none, a malformed one or more than one. */
export const credentialOf = (authorization: readonly string[]): BearerToken | null => {
  const token = bearerToken(authorization);
  if (token === null || token.length > MAX_TOKEN_LENGTH) return null;
  return { hash: hash('sha256', token, 'hex'), jwt: JWT.test(token) ? token : null };
};

/** Decides which replica of identity counts a credential: the grant of an OAuth token (unverified, a wrong one moves only its own budget), else the token. */
export const affinityOf = ({ hash, jwt }: BearerToken): string => (jwt === null ? hash : (grantOf(jwt) ?? hash));

const grantOf = (jwt: string): string | null => {
  const payload = JWT.exec(jwt)?.[1];
  if (payload === undefined) return null;
  const claims = parsedJson(Buffer.from(payload, 'base64url').toString());
  return isObject(claims) && typeof claims['gid'] === 'string' ? claims['gid'] : null;
};
