import { isIPv4, isIPv6 } from 'node:net';

const MAPPED_IPV4 = '::ffff:';
const GROUPS = 8;
const NETWORK_GROUPS = 4;

/** Who counts as one when things are shared: an IPv4 address, or the /64 network that one holder of IPv6 addresses has. */
export const networkOf = (address: string): string => {
  const plain = address.startsWith(MAPPED_IPV4) ? address.slice(MAPPED_IPV4.length) : address;
  if (isIPv4(plain) || !isIPv6(address)) return plain;
  const [left = '', right] = address.split('::');
  const head = left === '' ? [] : left.split(':');
  const tail = right === undefined || right === '' ? [] : right.split(':');
  const groups = right === undefined ? head : [...head, ...Array.from({ length: GROUPS - head.length - tail.length }, () => '0'), ...tail];
  return groups
    .slice(0, NETWORK_GROUPS)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
};
