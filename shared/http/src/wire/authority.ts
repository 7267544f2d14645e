import { isIPv6 } from 'node:net';

const LABEL = '[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?';
const NAME_AND_PORT = new RegExp(`^((?:${LABEL}\\.)*${LABEL})\\.?(?::(\\d*))?$`);
const IPV6_AND_PORT = /^(\[[0-9a-f:.]+\])(?::(\d*))?$/;
const MAX_LENGTH = 260;
const MAX_PORT = 65_535;

/** Where a request was sent to: lower case, without a final dot. */
export interface Authority {
  readonly host: string;
  readonly port: number | null;
}

/** Reads a `Host` value (RFC 3986, 3.2.2), names of containers with `_` and an empty port too; null when it is none, or holds what a name does not need. */
export const parseAuthority = (value: string): Authority | null => {
  if (value.length > MAX_LENGTH) return null;
  const [, host, port] = NAME_AND_PORT.exec(value.toLowerCase()) ?? IPV6_AND_PORT.exec(value.toLowerCase()) ?? [];
  if (host === undefined) return null;
  if (host.startsWith('[') && !isIPv6(host.slice(1, -1))) return null;
  const number = port === undefined || port === '' ? null : Number(port);
  return number !== null && (number === 0 || number > MAX_PORT) ? null : { host, port: number };
};
