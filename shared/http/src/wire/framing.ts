import type { IncomingMessage } from 'node:http';
import { isIPv6 } from 'node:net';

const LABEL = '[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?';
const NAME_AND_PORT = new RegExp(`^((?:${LABEL}\\.)*${LABEL})\\.?(?::(\\d*))?$`);
const IPV6_AND_PORT = /^(\[[0-9a-f:.]+\])(?::(\d*))?$/;
const MAX_AUTHORITY_LENGTH = 260;
const MAX_PORT = 65_535;

/** Where a request was sent to: lower case, without a final dot. */
interface Authority {
  readonly host: string;
  readonly port: number | null;
}

/** Reads a `Host` value (RFC 3986, 3.2.2), also names of containers with `_` and an empty port. Null when it is malformed. */
export const parseAuthority = (value: string): Authority | null => {
  if (value.length > MAX_AUTHORITY_LENGTH) return null;
  const lower = value.toLowerCase();
  const [, host, port] = NAME_AND_PORT.exec(lower) ?? IPV6_AND_PORT.exec(lower) ?? [];
  if (host === undefined) return null;
  if (host.startsWith('[') && !isIPv6(host.slice(1, -1))) return null;
  const number = port === undefined || port === '' ? null : Number(port);
  return number !== null && (number === 0 || number > MAX_PORT) ? null : { host, port: number };
};

/** Every value of a header as sent; node joins or drops repeated ones in `headers`. `name` in lower case. */
export const headerValues = ({ rawHeaders }: IncomingMessage, name: string): readonly string[] => {
  const values: string[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const sent = rawHeaders[index] ?? '';
    if (sent.length === name.length && sent.toLowerCase() === name) values.push(rawHeaders[index + 1] ?? '');
  }
  return values;
};

/** After two slashes koa's parser looks for a host with a user before it, once the target holds what belongs in no path. */
const PATH = /^\/(?!\/.*[#\s])/s;

/** More than the gateway takes of a client, since it adds some. */
export const MAX_HEADER_FIELDS = 120;

/** Why a request that node's parser lets through is refused; null when it is well framed. */
export const framingFault = (req: IncomingMessage): string | null => {
  // https://github.com/nodejs/llhttp/issues/877: a request line that ends in a bare LF passes as HTTP/0.9, with headers and a body.
  if (req.httpVersion !== '1.1' && req.httpVersion !== '1.0') return 'HTTP version must be 1.1 or 1.0';
  if (req.rawHeaders.length > 2 * MAX_HEADER_FIELDS) return `there may be at most ${MAX_HEADER_FIELDS} headers`;
  const hosts = headerValues(req, 'host');
  if (hosts.length !== 1 || parseAuthority(hosts[0] ?? '') === null) return 'Host must be given once and well-formed';
  const coding = req.headers['transfer-encoding'];
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') return 'Transfer-Encoding must be chunked';
  if (!PATH.test(req.url ?? '')) return 'the target must be a path';
  return null;
};

/** RFC 6265, 4.1.1: the characters of a value. */
const COOKIE_VALUE = /^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*$/;

/** Value of a cookie (RFC 6265, 5.4). Null when the name is missing or repeated, or when the value has invalid characters. */
export const cookieValue = (headers: readonly string[], name: string): string | null => {
  let found: string | null = null;
  for (const pair of headers.join(';').split(';')) {
    // No other blanks: to a browser they are a part of the name, which it then does not hold to the rules of `__Host-`.
    const cookie = pair.replace(/^[ \t]+/, '');
    if (!cookie.startsWith(`${name}=`)) continue;
    if (found !== null) return null;
    found = cookie.slice(name.length + 1);
  }
  return found !== null && COOKIE_VALUE.test(found) ? found : null;
};

const BEARER = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i;

/** The token of the one `Authorization: Bearer` header; null when there is none, another scheme, a malformed one, or more than one header. */
export const bearerToken = (authorization: readonly string[]): string | null => {
  const [only] = authorization;
  return authorization.length === 1 && only !== undefined ? (BEARER.exec(only)?.[1] ?? null) : null;
};
