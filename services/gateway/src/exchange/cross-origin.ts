import { RATE_LIMIT_HEADERS } from '@bubbles/contracts/access.ts';
import { isWithin } from '../documents/fragment.ts';

/** Where scripts of any origin may call: bearer tokens only, no cookies. The pages of /oauth/authorize are not among them. */
const OPEN_PREFIXES = ['/v1', '/.well-known/', '/oauth/token', '/oauth/register', '/oauth/revoke', '/oauth/jwks'] as const;

const EXPOSED = ['X-Request-Id', 'Retry-After', ...RATE_LIMIT_HEADERS, 'WWW-Authenticate', 'Idempotency-Replayed'].join(', ');
const REQUEST_HEADERS = 'Authorization, Content-Type, Idempotency-Key, If-None-Match, MCP-Protocol-Version';
const PREFLIGHT_MAX_AGE_SECONDS = '600';

export const isOpen = (path: string): boolean => OPEN_PREFIXES.some((prefix) => isWithin(path, prefix));

export const CROSS_ORIGIN_HEADERS: readonly string[] = ['Access-Control-Allow-Origin', '*', 'Access-Control-Expose-Headers', EXPOSED];

/** Names that only the gateway writes where it answers for all origins. */
export const CROSS_ORIGIN_NAMES: readonly string[] = [
  'access-control-allow-origin',
  'access-control-allow-credentials',
  'access-control-allow-headers',
  'access-control-allow-methods',
  'access-control-expose-headers',
  'access-control-max-age',
];

export const preflightHeaders = (allow: string): readonly string[] => [
  'Access-Control-Allow-Methods',
  allow,
  'Access-Control-Allow-Headers',
  REQUEST_HEADERS,
  'Access-Control-Max-Age',
  PREFLIGHT_MAX_AGE_SECONDS,
];
