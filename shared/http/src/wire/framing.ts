import type { IncomingMessage } from 'node:http';
import { parseAuthority } from './authority.ts';
import { headerValues } from './headers.ts';

/** Behind two slashes the framework's parser looks for a host, with a user before it, as soon as something is there that belongs in no path. */
const PATH = /^\/(?!\/.*[#\s])/s;

/** More than the gateway takes of a client, since it adds some. */
export const MAX_HEADER_FIELDS = 120;

/** What node's parser lets through and we do not; null when the request is well framed. */
export const framingFault = (req: IncomingMessage): string | null => {
  if (req.httpVersion !== '1.1' && req.httpVersion !== '1.0') return 'HTTP version must be 1.1 or 1.0';
  if (req.rawHeaders.length > 2 * MAX_HEADER_FIELDS) return `at most ${MAX_HEADER_FIELDS} headers`;
  const hosts = headerValues(req, 'host');
  if (hosts.length !== 1 || parseAuthority(hosts[0] ?? '') === null) return 'Host must be given once and well-formed';
  const coding = req.headers['transfer-encoding'];
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') return 'Transfer-Encoding must be chunked';
  if (!PATH.test(req.url ?? '')) return 'the target must be a path';
  return null;
};
