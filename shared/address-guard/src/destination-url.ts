import { isIP } from 'node:net';
import { DomainError } from '@bubbles/kernel/errors.ts';
import { type AddressPolicy, addressPolicy, isLoopbackAddress } from './public-address.ts';

/** Which URLs may be called, beside public ones over https. */
export interface DestinationPolicy {
  readonly addresses: AddressPolicy;
  /** Plain http to any host. */
  readonly http: boolean;
  /** Loopback literals and `localhost`, over https or http, except those that an operator denies: the sandbox. */
  readonly loopback: boolean;
  /** How long a URL may be, as it is sent; 2048 when absent. */
  readonly maxCharacters?: number;
  /** Ports of this machine on which the product itself listens; they may not be called: the sandbox. */
  readonly ownPorts?: (() => ReadonlySet<number>) | undefined;
}

/** What an operator, or the sandbox, says of the destinations of a service. */
export interface Destinations extends Omit<DestinationPolicy, 'addresses' | 'maxCharacters'> {
  /** Networks that may be dialled although they are not public. */
  readonly allow: readonly string[];
  /** Networks that may not be dialled although they are public. */
  readonly deny: readonly string[];
  /** There may be no name servers: names do not resolve then. Otherwise work waits for name servers to come back. */
  readonly offline: boolean;
  /** Certificate authorities beside the built-in ones, PEM. */
  readonly extraCa: readonly string[];
}

export const policyOf = ({ allow, deny, http, loopback, ownPorts }: Destinations): DestinationPolicy => ({
  addresses: addressPolicy({ allow, deny }),
  http,
  loopback,
  ownPorts,
});

/** Counted in the URL as it is sent: without fragment, percent-encoded, the host in ASCII. */
const MAX_URL_CHARACTERS = 2048;
const MAX_NAME_CHARACTERS = 253;
const NOT_PUBLIC_HTTPS = 'must be an absolute https URL of a public host.';
const OWN = 'must not be an address of this service itself.';

/** Controls, format characters, separators, unassigned characters and lone surrogates: invisible, and read differently by different parsers. */
const INVISIBLE = /[\p{C}\p{Z}]/u;
/** What a host has not: a user, an escape, and what a renderer may leave out and a parser of names drops. In a path the latter is part of many emojis. */
const NOT_IN_HOST = /[@%\p{Default_Ignorable_Code_Point}]/u;
const ABSOLUTE = /^(https?):\/\/([^/?#\\]+)([/?#][^\\]*)?$/i;
/** A label of a host name in ASCII. The underscore is not allowed in host names, but is in use; nothing else that a parser lets through is. */
const LABEL = /^[a-z0-9_-]{1,63}$/;
/** Ports of other protocols, from the Fetch standard, "port blocking"; and 0. */
const BAD_PORTS = new Set(
  (
    '0 1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117 119 123 135 137 139 143 161 179 389 427 465 512 513 ' +
    '514 515 526 530 531 532 540 548 554 556 563 587 601 636 989 990 993 995 1719 1720 1723 2049 3659 4045 4190 5060 5061 6000 6566 6665 6666 6667 6668 6669 6679 ' +
    '6697 10080'
  )
    .split(' ')
    .map(Number),
);

/** A loopback address in its plain form, or the name that stands for it. */
export const isLoopbackHost = (host: string): boolean => host.toLowerCase() === 'localhost' || isLoopbackAddress(bare(host));

/** Whether the product itself listens on this port. `port` is that of a URL: empty for the default of its scheme. */
export const isOwnListener = ({ ownPorts }: DestinationPolicy, { protocol, port }: Pick<URL, 'protocol' | 'port'>): boolean =>
  ownPorts?.().has(Number(port || (protocol === 'http:' ? 80 : 443))) ?? false;

/** The host without the brackets of an IPv6 address. */
export const bare = (host: string): string => (host.startsWith('[') ? host.slice(1, -1) : host);

const isPublicName = (host: string): boolean => {
  const labels = host.replace(/\.$/, '').split('.');
  const plain = labels.join('.');
  return labels.length > 1 && plain.length <= MAX_NAME_CHARACTERS && labels.every((label) => LABEL.test(label)) && !isPrivateName(plain);
};

/** `written` is the host as the caller wrote it: an address in another spelling than the plain one hides something. */
function mayBeHost(written: string, host: string, addresses: AddressPolicy): boolean {
  const address = bare(host);
  if (isIP(address) === 0) return isPublicName(host);
  if (isIP(address) === 4 && written !== address) return false;
  return addresses.mayDial(address);
}

/**
 * Last labels of names that are not in the public DNS, or that mean another host in each network, with their sources. `test`, `example` and `invalid`
 * (RFC 6761) are not among them: they never resolve.
 */
const PRIVATE_NAMES: Readonly<Record<string, readonly string[]>> = {
  'RFC 6761: this machine': ['localhost'],
  'hosts files of Linux distributions': ['localdomain', 'localdomain4', 'localdomain6'],
  'RFC 6762: multicast DNS': ['local'],
  'RFC 6762, appendix G: private names in use': ['intranet', 'internal', 'private', 'corp', 'home', 'lan'],
  'ICANN, 2018: never delegated since networks use them': ['mail'],
  // Reverse zones, `home.arpa` (RFC 8375), `ipv4only.arpa` (RFC 8880), `resolver.arpa` (RFC 9462), `service.arpa` (RFC 9665): none of them is a public host.
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

const PRIVATE_ENDS: ReadonlySet<string> = new Set(Object.values(PRIVATE_NAMES).flat());

/** Whether the name exists only inside networks. It is in lower case, without a dot at its end. */
const isPrivateName = (name: string): boolean => PRIVATE_ENDS.has(name.slice(name.lastIndexOf('.') + 1));

/** The URL, or what is wrong with it in words that follow the name of its field. */
function parse(text: string, policy: DestinationPolicy): URL | string {
  const [, scheme = '', authority = ''] = (!INVISIBLE.test(text) && ABSOLUTE.exec(text)) || [];
  if (scheme === '' || NOT_IN_HOST.test(authority) || !URL.canParse(text)) return NOT_PUBLIC_HTTPS;
  const url = new URL(text);
  const { maxCharacters = MAX_URL_CHARACTERS } = policy;
  if (url.href.length - url.hash.length > maxCharacters) return `must have at most ${maxCharacters} characters, counted percent-encoded.`;
  if (url.port !== '' && BAD_PORTS.has(Number(url.port))) return NOT_PUBLIC_HTTPS;
  const written = authority.replace(/:\d*$/, '');
  const isExempt = policy.loopback && isLoopbackHost(written) && !policy.addresses.denies(bare(written));
  if (isLoopbackHost(written) && isOwnListener(policy, url)) return OWN;
  if (scheme.toLowerCase() === 'http' && !policy.http && !isExempt) return NOT_PUBLIC_HTTPS;
  return isExempt || mayBeHost(written, url.hostname, policy.addresses) ? url : NOT_PUBLIC_HTTPS;
}

/**
 * The URL of the text that a caller gave in this field; throws `invalid` when it may not be called. What a name resolves to is not judged here but at every
 * connect.
 */
export function destinationUrl(field: string, text: string, policy: DestinationPolicy): URL {
  const url = parse(text, policy);
  if (typeof url === 'string') throw new DomainError('invalid', `${field}: ${url}`);
  return url;
}
