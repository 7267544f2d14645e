import { BlockList, isIP } from 'node:net';

/**
 * Addresses that the public internet does not route (RFC 6890 and the IANA special-purpose registries), and 168.63.129.16, which is the host agent in one
 * cloud.
 */
const NOT_PUBLIC_4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
];
const NOT_PUBLIC_6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3ffe::/16', '3fff::/20'];
/** Networks for egress firewalls. IPv6 is limited to global unicast, which excludes mapped, translated, local and multicast addresses. */
export const PUBLIC_NETWORKS = {
  ipv4: { cidr: '0.0.0.0/0', except: NOT_PUBLIC_4 },
  ipv6: { cidr: '2000::/3', except: NOT_PUBLIC_6 },
} as const;

const family = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

/** Throws when an entry is not of the form `address/bits`. */
function addressList(cidrs: readonly string[]): BlockList {
  const list = new BlockList();
  for (const cidr of cidrs) {
    const [network = '', bits = ''] = cidr.split('/');
    if (!/^\d{1,3}$/.test(bits)) throw new Error(`${cidr} is not a CIDR block`);
    list.addSubnet(network, Number(bits), family(network));
  }
  return list;
}

const notPublic = addressList([...NOT_PUBLIC_4, ...NOT_PUBLIC_6]);
const global6 = addressList([PUBLIC_NETWORKS.ipv6.cidr]);
/** One list per family: an IPv4 block also matches its IPv4-mapped addresses. */
const loopback = { ipv4: addressList(['127.0.0.0/8']), ipv6: addressList(['::1/128']) };

const isPublicAddress = (address: string): boolean => {
  const kind = family(address);
  return !notPublic.check(address, kind) && (kind === 'ipv4' || global6.check(address, kind));
};

/** `address` has no brackets. False for a name. */
export const isLoopbackAddress = (address: string): boolean => {
  const kind = family(address);
  return isIP(address) !== 0 && loopback[kind].check(address, kind);
};

/** Which addresses may be dialled: never those that an operator denies, always those that an operator allows, else the public ones. */
export interface AddressPolicy {
  mayDial(address: string): boolean;
  /** Whether an operator denies it, so that no exemption applies. False for a name. */
  denies(address: string): boolean;
}

export function addressPolicy({ allow, deny }: { readonly allow: readonly string[]; readonly deny: readonly string[] }): AddressPolicy {
  const allowed = addressList(allow);
  const denied = addressList(deny);
  const denies = (address: string): boolean => isIP(address) !== 0 && denied.check(address, family(address));
  return {
    denies,
    mayDial: (address) => isIP(address) !== 0 && !denies(address) && (allowed.check(address, family(address)) || isPublicAddress(address)),
  };
}
