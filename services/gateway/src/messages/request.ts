import { hash } from 'node:crypto';
import { isIP, isIPv4 } from 'node:net';
import { JWT_FORM } from '@bubbles/contracts/access.ts';
import { bearerToken, parseAuthority } from '@bubbles/http/wire/framing.ts';
import { isObject, parsedJson } from './json.ts';

/** Header lines as the parser hands them over: name, value, name, value. */
export type RawHeaders = readonly string[];

/** What the gateway itself reads of a request's head; every value as sent, in order. */
export interface RequestHead {
  readonly hosts: readonly string[];
  readonly authorization: readonly string[];
  readonly transferEncoding: readonly string[];
  readonly contentLength: string | null;
  /** A body follows. */
  readonly hasBody: boolean;
  /** Lower-case names of the fields that `Connection` nominates. */
  readonly nominated: ReadonlySet<string>;
  readonly forwarded: ForwardedFields;
  readonly requestId: string | null;
  readonly traceparent: string | null;
}

/** Headers that count only from a trusted proxy. */
interface ForwardedFields {
  readonly for: readonly string[];
  readonly host: string | null;
  readonly proto: string | null;
}

export const readHead = (raw: RawHeaders): RequestHead => {
  const hosts: string[] = [];
  const authorization: string[] = [];
  const transferEncoding: string[] = [];
  const connection: string[] = [];
  const forwardedFor: string[] = [];
  const single: Record<string, string | undefined> = {};
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = (raw[index] ?? '').toLowerCase();
    const value = raw[index + 1] ?? '';
    switch (name) {
      case 'host':
        hosts.push(value);
        break;
      case 'authorization':
        authorization.push(value);
        break;
      case 'transfer-encoding':
        transferEncoding.push(value);
        break;
      case 'connection':
        connection.push(value);
        break;
      case 'x-forwarded-for':
        for (const one of splitList(value)) forwardedFor.push(one);
        break;
      case 'content-length':
      case 'x-forwarded-host':
      case 'x-forwarded-proto':
      case 'x-request-id':
      case 'traceparent':
        single[name] ??= value;
        break;
    }
  }
  const {
    'content-length': contentLength = null,
    'x-forwarded-host': forwardedHost = null,
    'x-forwarded-proto': forwardedProto = null,
  } = single;
  return {
    hosts,
    authorization,
    transferEncoding,
    contentLength,
    hasBody: transferEncoding.length > 0 || (contentLength !== null && contentLength !== '0'),
    nominated: nominatedBy(connection),
    forwarded: { for: forwardedFor, host: forwardedHost && firstOf(forwardedHost), proto: forwardedProto && firstOf(forwardedProto) },
    requestId: single['x-request-id'] ?? null,
    traceparent: single['traceparent'] ?? null,
  };
};

const splitList = (value: string): string[] => value.split(',').map((item) => item.trim());
const firstOf = (value: string): string => splitList(value)[0] ?? '';

const NOTHING_NOMINATED: ReadonlySet<string> = new Set();
/** They nominate no field; nearly every message says one of them or nothing. */
const CONNECTION_OPTIONS: ReadonlySet<string> = new Set(['keep-alive', 'close']);

/** The fields that a `Connection` header makes hop-by-hop. */
export const nominatedBy = (connection: readonly string[]): ReadonlySet<string> => {
  const [only = 'close'] = connection;
  if (connection.length < 2 && CONNECTION_OPTIONS.has(only.toLowerCase())) return NOTHING_NOMINATED;
  return new Set(connection.flatMap((value) => splitList(value.toLowerCase())));
};

const MAX_HEADERS = 100;
/** https://github.com/nodejs/llhttp/issues/877: a request line that ends in a bare LF passes as HTTP/0.9, with headers and a body. */
const SPOKEN_VERSIONS: ReadonlySet<string> = new Set(['1.0', '1.1']);

interface Message {
  readonly httpVersion: string;
  readonly rawHeaders: RawHeaders;
}

/** Why the framing of a request cannot be trusted, or null. Stricter than the parser, which lets some of these through. */
export const messageFault = ({ httpVersion, rawHeaders }: Message, head: RequestHead): string | null => {
  if (!SPOKEN_VERSIONS.has(httpVersion)) return 'The HTTP version is not supported.';
  if (rawHeaders.length > 2 * MAX_HEADERS) return `The request may have at most ${MAX_HEADERS} headers.`;
  if (head.hosts.length !== 1) return 'The request must have exactly one Host header.';
  return head.transferEncoding.length === 0 ? null : transferEncodingFault(httpVersion, head);
};

const transferEncodingFault = (httpVersion: string, head: RequestHead): string | null => {
  const [coding, ...more] = head.transferEncoding;
  if (more.length > 0 || coding?.trim().toLowerCase() !== 'chunked') return 'The only transfer coding that is supported is chunked.';
  if (head.contentLength !== null) return 'A request cannot have both Content-Length and Transfer-Encoding.';
  return httpVersion === '1.0' ? 'HTTP/1.0 has no transfer codings.' : null;
};

const OUTSIDE_VISIBLE_ASCII = /[^\x21-\x7e]/;
const MALFORMED_PERCENT = /%(?![0-9A-Fa-f]{2})/;
const REFUSED_OCTET = /%00|%5c/i;
const SEGMENT_BORDER = /\/|%2f/i;
const DOT_SEGMENT = /^(?:\.|%2e){1,2}$/i;

/** The path of a request target, without its query; the bytes as sent. */
export const pathOf = (target: string): string => {
  const query = target.indexOf('?');
  return query === -1 ? target : target.slice(0, query);
};

/** Why a request target is refused, or null. Nothing is decoded or normalised: what passes goes on byte for byte. */
export const targetFault = (target: string): string | null => {
  if (!target.startsWith('/')) return 'The request target must be a path.';
  if (OUTSIDE_VISIBLE_ASCII.test(target)) return 'The request target holds characters that must be percent-encoded.';
  const path = pathOf(target);
  if (path.includes('//')) return 'The path holds an empty segment.';
  if (path.includes('\\') || path.includes('#')) return 'The path holds a character that must be percent-encoded.';
  if (path.includes('%')) return escapeFault(path) ?? dotSegmentFault(path);
  return path.includes('/.') ? dotSegmentFault(path) : null;
};

const escapeFault = (path: string): string | null => {
  if (MALFORMED_PERCENT.test(path)) return 'The path holds a malformed percent-encoding.';
  return REFUSED_OCTET.test(path) ? 'The path holds an encoded character that is not allowed.' : null;
};

const dotSegmentFault = (path: string): string | null =>
  path.split(SEGMENT_BORDER).some((segment) => DOT_SEGMENT.test(segment)) ? 'The path holds a dot segment.' : null;

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

/** The id that a trusted proxy gave the request, when it is well-formed. */
export const acceptedRequestId = (sent: string | null): string | null => (sent !== null && REQUEST_ID.test(sent) ? sent : null);

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
  return { hash: hash('sha256', token, 'hex'), jwt: JWT_FORM.test(token) ? token : null };
};

/** Decides which replica of identity counts a credential: the grant of an OAuth token (unverified, a wrong one moves only its own budget), else the token. */
export const affinityOf = ({ hash, jwt }: BearerToken): string => (jwt === null ? hash : (grantOf(jwt) ?? hash));

const grantOf = (jwt: string): string | null => {
  const payload = JWT_FORM.exec(jwt)?.[1];
  if (payload === undefined) return null;
  const claims = parsedJson(Buffer.from(payload, 'base64url').toString());
  return isObject(claims) && typeof claims['gid'] === 'string' ? claims['gid'] : null;
};
