/**
 * Ends of names that the public DNS does not have, or that mean another host in every network, with where that is said. `test`, `example` and `invalid`
 * (RFC 6761) are not among them: they resolve nowhere.
 */
const PRIVATE_NAMES: Readonly<Record<string, readonly string[]>> = {
  'RFC 6761: this machine': ['localhost'],
  'hosts files of Linux distributions': ['localdomain', 'localdomain4', 'localdomain6'],
  'RFC 6762: multicast DNS': ['local'],
  'RFC 6762, appendix G: private names in use': ['intranet', 'internal', 'private', 'corp', 'home', 'lan'],
  'ICANN, 2018: never delegated since networks use them': ['mail'],
  // Reverse zones, `home.arpa` (RFC 8375), `ipv4only.arpa` (RFC 8880), `resolver.arpa` (RFC 9462), `service.arpa` (RFC 9665): no host of anybody's.
  'RFC 3172: the infrastructure of the internet': ['arpa'],
  'RFC 7686 and RFC 9476: no names of the DNS': ['onion', 'alt'],
  'other roots than that of the DNS': ['i2p', 'exit', 'gnu', 'zkey', 'bit'],
  'Kubernetes, Consul, Docker': ['svc', 'cluster', 'consul', 'docker'],
  'names that routers and office networks give out, as the root servers see them': [
    'localnet',
    'workgroup',
    'domain',
    'dhcp',
    'router',
    'gateway',
    'server',
    'wpad',
    'intra',
    'belkin',
    'dlink',
  ],
};

const ENDS: ReadonlySet<string> = new Set(Object.values(PRIVATE_NAMES).flat());

/** Whether the name, lower case and without a dot at its end, exists inside networks only. */
export const isPrivateName = (name: string): boolean => ENDS.has(name.slice(name.lastIndexOf('.') + 1));
