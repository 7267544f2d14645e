import type { AttemptOutcome } from '../../domain/delivery.ts';

const NO_ADDRESS = 'The name has no address.';
const NO_WORD_OF_NAME_SERVERS = 'The name servers of the name gave no answer.';
const UNREACHABLE = 'The address cannot be reached.';
const UNKNOWN_AUTHORITY = 'The certificate chain is incomplete, or its authority is not known.';
const SELF_SIGNED = 'The certificate is self-signed.';
const OTHER_NAME = 'The certificate is for another name.';

/** What codes of sockets, resolver and TLS mean to the owner of a receiver. */
const BY_CODE: Readonly<Record<string, string>> = {
  ENOTFOUND: NO_ADDRESS,
  ENODATA: NO_ADDRESS,
  ECONNREFUSED: 'The connection was refused.',
  EHOSTUNREACH: UNREACHABLE,
  ENETUNREACH: UNREACHABLE,
  EHOSTDOWN: UNREACHABLE,
  CERT_HAS_EXPIRED: 'The certificate has expired.',
  CERT_NOT_YET_VALID: 'The certificate is not valid yet.',
  CERT_REVOKED: 'The certificate was revoked.',
  DEPTH_ZERO_SELF_SIGNED_CERT: SELF_SIGNED,
  SELF_SIGNED_CERT_IN_CHAIN: SELF_SIGNED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_AUTHORITY,
  ERR_TLS_CERT_ALTNAME_INVALID: OTHER_NAME,
  HOSTNAME_MISMATCH: OTHER_NAME,
};

/** Where no code says more. */
const BY_OUTCOME: Readonly<Partial<Record<AttemptOutcome['outcome'], string>>> = {
  dns: NO_WORD_OF_NAME_SERVERS,
  connect: 'No connection could be made.',
  tls: 'The TLS handshake failed.',
  blocked_address: 'The receiver has no public address.',
  reset: 'The connection broke before an answer came.',
  protocol: 'What came is no HTTP answer.',
};

const CODE = /^[A-Z][A-Z0-9_]{2,59}$/;
/** Whose codes tell more than the words. */
const CODED = new Set<AttemptOutcome['outcome']>(['tls', 'protocol']);

interface Faulty {
  readonly outcome: AttemptOutcome['outcome'];
  readonly code: string;
  readonly isSent: boolean;
}

/** Why there was no answer: words and codes of ours alone, no address, no text of the other side. */
export const detailOfFault = ({ outcome, code, isSent }: Faulty): string | null => {
  if (outcome === 'timeout') return isSent ? 'No answer came in time.' : 'No connection was made in time.';
  const words = BY_CODE[code] ?? BY_OUTCOME[outcome] ?? null;
  return words !== null && CODED.has(outcome) && CODE.test(code) ? `${words} (${code})` : words;
};

const MAX_TARGET_CHARACTERS = 200;

/** Where a redirect leads, without what may be secret in it: query, fragment and credentials. */
export const detailOfRedirect = (location: string | null, from: URL): string => {
  const target = location === null ? null : URL.parse(location, from);
  if (target === null || !/^https?:$/.test(target.protocol)) return 'Redirects are not followed.';
  return `Redirects are not followed: it leads to ${`${target.origin}${target.pathname}`.slice(0, MAX_TARGET_CHARACTERS)}`;
};
