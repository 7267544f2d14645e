import { isIPv4 } from 'node:net';
import type { AttemptOutcome } from '../../domain/delivery.ts';

type Outcome = AttemptOutcome['outcome'];

const CONNECT_CODES = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EHOSTDOWN',
  'EACCES',
  'EADDRNOTAVAIL',
  'EAFNOSUPPORT',
  'ETIMEDOUT',
]);
/** This machine has run out of something, or the dispatcher is stopping. */
const EXHAUSTED_CODES = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EAGAIN', 'UND_ERR_DESTROYED', 'UND_ERR_CLOSED']);
const DNS_CODES = new Set(['ENOTFOUND', 'ENODATA', 'ESERVFAIL', 'EREFUSED', 'ECANCELLED', 'EBADRESP', 'EBADNAME', 'EFORMERR', 'EAI_AGAIN']);
const RESET_CODES = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'ECONNABORTED', 'EPIPE']);
const TIMEOUT_CODES = new Set(['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'ETIMEOUT', 'UND_ERR_ABORTED', 'ABORT_ERR']);
/** Certificates and handshakes: Node's own codes, and OpenSSL's verification results, such as CERT_HAS_EXPIRED. */
const TLS_CODE =
  /^(ERR_TLS_|ERR_SSL_|ERR_OSSL_|EPROTO$|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED|ERROR_IN_|CRL_|UNSPECIFIED$)/;

interface ErrorFields {
  readonly code?: unknown;
  readonly name?: unknown;
  readonly address?: unknown;
}
// Errors of sockets may have these fields.
const fieldsOf = (error: unknown): ErrorFields => (typeof error === 'object' && error !== null ? (error as ErrorFields) : {});

/** There is no local port left for this address. For an IPv6 address the code means that there is no IPv6 here. */
const isOutOfPorts = ({ code, address }: ErrorFields): boolean => code === 'EADDRNOTAVAIL' && isIPv4(String(address));

export const isExhausted = (error: unknown): boolean => EXHAUSTED_CODES.has(String(fieldsOf(error).code));

/** Null when the fault is ours: anything unknown that went wrong before the request was sent. */
function kindOfFault(error: unknown, isSent: boolean): Outcome | null {
  const { code, name } = fieldsOf(error);
  const text = String(code);
  if (isExhausted(error) || isOutOfPorts(fieldsOf(error))) return null;
  if (text === 'BLOCKED_ADDRESS') return 'blocked_address';
  if (TIMEOUT_CODES.has(text) || name === 'TimeoutError' || name === 'AbortError') return 'timeout';
  if (DNS_CODES.has(text)) return 'dns';
  if (CONNECT_CODES.has(text)) return 'connect';
  if (TLS_CODE.test(text)) return 'tls';
  if (RESET_CODES.has(text)) return 'reset';
  return isSent ? 'protocol' : null;
}

/** Whether the connection broke. A deadline that ran out does not say whether the receiver saw the request. */
export const isReset = (error: unknown): error is Error => Error.isError(error) && RESET_CODES.has(String(fieldsOf(error).code));

const NO_ADDRESS = 'The name has no address.';
const NO_WORD_OF_NAME_SERVERS = 'The name servers of the name gave no answer.';
const UNREACHABLE = 'The address cannot be reached.';
const UNKNOWN_AUTHORITY = 'The certificate chain is incomplete, or its authority is not known.';
const SELF_SIGNED = 'The certificate is self-signed.';
const OTHER_NAME = 'The certificate is for another name.';

/** What codes of sockets, resolver and TLS mean, in words for the owner of a receiver. */
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

/** For codes that are not listed. */
const BY_OUTCOME: Readonly<Partial<Record<Outcome, string>>> = {
  dns: NO_WORD_OF_NAME_SERVERS,
  connect: 'No connection could be made.',
  tls: 'The TLS handshake failed.',
  blocked_address: 'The receiver has no public address.',
  reset: 'The connection broke before an answer came.',
  protocol: 'The answer is not valid HTTP.',
};

const CODE = /^[A-Z][A-Z0-9_]{2,59}$/;
/** Outcomes whose detail also shows the code. */
const CODED = new Set<Outcome>(['tls', 'protocol']);

interface Fault {
  readonly outcome: Outcome;
  readonly code: string;
  readonly isSent: boolean;
}

/** Why there was no answer, in our own words and codes: never an address, never text from the other side. */
const detailOfFault = ({ outcome, code, isSent }: Fault): string | null => {
  if (outcome === 'timeout') return isSent ? 'No answer came in time.' : 'No connection was made in time.';
  const words = BY_CODE[code] ?? BY_OUTCOME[outcome] ?? null;
  return words !== null && CODED.has(outcome) && CODE.test(code) ? `${words} (${code})` : words;
};

/** The HTTP client breaks off at a `101` and says so in its message alone. */
const isSwitch = (error: unknown): boolean =>
  Error.isError(error) && fieldsOf(error).code === 'UND_ERR_SOCKET' && error.message === 'bad upgrade';
const SWITCHED = { outcome: 'protocol', detail: 'The receiver switched protocols (101) in place of an answer.' } as const;

/** The outcome of an attempt that failed with this error before the head of an answer arrived; null when the fault is ours. */
export function outcomeOfFault(error: unknown, isSent: boolean): Pick<AttemptOutcome, 'outcome' | 'detail'> | null {
  if (isSwitch(error)) return SWITCHED;
  const outcome = kindOfFault(error, isSent);
  return outcome && { outcome, detail: detailOfFault({ outcome, code: String(fieldsOf(error).code), isSent }) };
}

const MAX_TARGET_CHARACTERS = 200;

/** The target of a redirect without what may be secret in it: query, fragment and credentials. */
export const detailOfRedirect = (location: string | null, from: URL): string => {
  const target = location === null ? null : URL.parse(location, from);
  if (target === null || !/^https?:$/.test(target.protocol)) return 'Redirects are not followed.';
  return `Redirects are not followed: it leads to ${`${target.origin}${target.pathname}`.slice(0, MAX_TARGET_CHARACTERS)}`;
};
