import { isIPv6 } from 'node:net';

const NAME_AND_PORT = /^((?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)\.?(?::(\d{1,5}))?$/;
const IPV6_AND_PORT = /^(\[[0-9a-f:.]+\])(?::(\d{1,5}))?$/;
const MAX_HOST_LENGTH = 260;
const MAX_PORT = 65_535;

/** Where a request was sent to: lower case, without a final dot. */
export interface Authority {
  readonly host: string;
  readonly port: number | null;
}

/** Reads a `Host` value by a strict grammar; null when it is not one. */
export const parseAuthority = (value: string): Authority | null => {
  if (value.length > MAX_HOST_LENGTH) return null;
  const [, host, port] = NAME_AND_PORT.exec(value.toLowerCase()) ?? IPV6_AND_PORT.exec(value.toLowerCase()) ?? [];
  if (host === undefined) return null;
  if (host.startsWith('[') && !isIPv6(host.slice(1, -1))) return null;
  const number = port === undefined ? null : Number(port);
  return number !== null && (number === 0 || number > MAX_PORT) ? null : { host, port: number };
};

export type Scheme = 'http' | 'https';
const DEFAULT_PORTS = { http: 80, https: 443 } as const;

/** `https://api.example`, the default port left out. */
export const originOf = (scheme: Scheme, { host, port }: Authority): string =>
  port === null || port === DEFAULT_PORTS[scheme] ? `${scheme}://${host}` : `${scheme}://${host}:${port}`;
