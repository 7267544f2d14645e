import { type Authority, parseAuthority } from '@bubbles/http/wire/authority.ts';
import type { RequestHead } from './request-head.ts';

export interface OriginRules {
  /** Configured: then no header has a say. */
  readonly publicBaseUrl: string | null;
  /** Host names that are ours; empty for any. */
  readonly allowedHosts: readonly string[];
}

/** The origin under which a client has reached us; null when its Host is not one that can be believed. Forwarded fields count only from a trusted proxy. */
export const requestOrigin = (head: RequestHead, trusted: boolean, { publicBaseUrl, allowedHosts }: OriginRules): string | null => {
  const isAllowed = ({ host }: Authority) => allowedHosts.length === 0 || allowedHosts.includes(host);
  const sent = parseAuthority(head.hosts[0] ?? '');
  const forwarded = trusted && head.forwarded.host !== null ? parseAuthority(head.forwarded.host) : sent;
  if (sent === null || forwarded === null || !isAllowed(forwarded)) return null;
  if (publicBaseUrl !== null) return publicBaseUrl;
  return originOf(trusted && head.forwarded.proto === 'https' ? 'https' : 'http', forwarded);
};

const DEFAULT_PORTS = { http: 80, https: 443 } as const;

/** `https://api.example`, the default port left out. */
const originOf = (scheme: 'http' | 'https', { host, port }: Authority): string =>
  port === null || port === DEFAULT_PORTS[scheme] ? `${scheme}://${host}` : `${scheme}://${host}:${port}`;
