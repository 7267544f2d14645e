import { parseAuthority } from '@bubbles/http/wire/framing.ts';
import type { RequestHead } from './request-head.ts';

export interface OriginRules {
  /** Configured: then no header has a say. */
  readonly publicBaseUrl: string | null;
  /** Host names that are ours; empty for any. */
  readonly allowedHosts: readonly string[];
}

const DEFAULT_PORTS = { http: 80, https: 443 } as const;

/** The origin under which a client has reached us, without a default port; null when its Host is malformed or not ours. Forwarded fields count only from a trusted proxy. */
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
