import { isIPv4 } from 'node:net';
import { DomainError, isDomainError } from '@bubbles/kernel/errors.ts';
import { Agent } from 'undici';
import { type AttemptOutcome, outcomeOfStatus } from '../../domain/delivery.ts';
import type { Receiver } from '../../ports.ts';
import { detailOfFault, detailOfRedirect } from './detail.ts';
import type { DiedIdle } from './died-idle.ts';
import { exchange } from './exchange.ts';
import { type GuardedConnectOptions, guardedConnect } from './guarded-connect.ts';

const STOPPING = new DomainError('unavailable', 'The dispatcher is stopping.');
const KEEP_ALIVE_MS = 20_000;
const MAX_HEADER_BYTES = 16 * 1024;
const MAX_ANSWER_BYTES = 16 * 1024;
const PREVIEW_CHARACTERS = 500;

export interface ReceiverOptions extends GuardedConnectOptions {
  /** From the first look-up to the status line, and no longer for the body. */
  readonly deadlineMs: number;
  /** Milliseconds that never go back. Sockets live in real time, whatever the clock of the process says. */
  readonly elapsed: () => number;
  /** To one origin; as many as POSTs at once, so that none waits for a connection while its deadline runs. */
  readonly connections: number;
}

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
/** This machine has no more of something, or the dispatcher is stopping. */
const EXHAUSTED_CODES = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EAGAIN', 'UND_ERR_DESTROYED', 'UND_ERR_CLOSED']);
const DNS_CODES = new Set(['ENOTFOUND', 'ENODATA', 'ESERVFAIL', 'EREFUSED', 'ECANCELLED', 'EBADRESP', 'EBADNAME', 'EFORMERR', 'EAI_AGAIN']);
const RESET_CODES = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'ECONNABORTED', 'EPIPE']);
const TIMEOUT_CODES = new Set(['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'ETIMEOUT', 'UND_ERR_ABORTED', 'ABORT_ERR']);
/** Certificates and handshakes: node's own codes, and OpenSSL's verification results, which are code words like CERT_HAS_EXPIRED. */
const TLS_CODE =
  /^(ERR_TLS_|ERR_SSL_|ERR_OSSL_|EPROTO$|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED|ERROR_IN_|CRL_|UNSPECIFIED$)/;

interface Fault {
  readonly code?: unknown;
  readonly name?: unknown;
  readonly address?: unknown;
}
// Whatever a socket throws is an object with these fields or without them.
const fault = (error: unknown): Fault => (typeof error === 'object' && error !== null ? (error as Fault) : {});

/** No port of ours is left for this very address; of an IPv6 address the code says that there is no IPv6 here. */
const isOutOfPorts = ({ code, address }: Fault): boolean => code === 'EADDRNOTAVAIL' && isIPv4(String(address));

const isExhausted = (error: unknown): boolean => EXHAUSTED_CODES.has(String(fault(error).code));

/** Null for what only we can be blamed for: whatever it is that went wrong before anything was sent. */
function outcomeOfFault(error: unknown, isSent: boolean): AttemptOutcome['outcome'] | null {
  const { code, name } = fault(error);
  const text = String(code);
  if (isExhausted(error) || isOutOfPorts(fault(error))) return null;
  if (text === 'BLOCKED_ADDRESS') return 'blocked_address';
  if (TIMEOUT_CODES.has(text) || name === 'TimeoutError' || name === 'AbortError') return 'timeout';
  if (DNS_CODES.has(text)) return 'dns';
  if (CONNECT_CODES.has(text)) return 'connect';
  if (TLS_CODE.test(text)) return 'tls';
  if (RESET_CODES.has(text)) return 'reset';
  return isSent ? 'protocol' : null;
}

/** Whether the receiver may not have seen the request: a deadline that ran out says nothing of that. */
const mayBeUnseen = (error: unknown, diedIdle: DiedIdle): boolean =>
  Error.isError(error) && diedIdle.has(error) && RESET_CODES.has(String(fault(error).code));

/** Never decompressed. Characters are code points, of at most two units each. */
const previewOf = (body: Buffer): string =>
  [...body.toString('utf8').slice(0, 2 * PREVIEW_CHARACTERS)].slice(0, PREVIEW_CHARACTERS).join('').replaceAll(/\p{C}/gu, ' ');

/** Posts to receivers over shared keep-alive connections, with the address guard at every connect. Redirects are answers like others. */
export function receiver({ deadlineMs, elapsed, connections, ...guard }: ReceiverOptions): Receiver {
  const diedIdle: DiedIdle = new WeakSet();
  const common = {
    connect: guardedConnect(guard, diedIdle),
    allowH2: false,
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: deadlineMs,
    bodyTimeout: deadlineMs,
  };
  const pooled = new Agent({
    ...common,
    connections,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
  });
  const fresh = new Agent({ ...common, pipelining: 0 });
  const inFlight = new Set<AbortController>();

  return {
    async post({ url, headers, body }): Promise<AttemptOutcome> {
      const startedAt = elapsed();
      const deadline = new AbortController();
      inFlight.add(deadline);
      const timer = setTimeout(() => deadline.abort(), deadlineMs);
      let isSent = false;
      const onSend = () => {
        isSent = true;
      };
      const send = (agent: Agent) => {
        isSent = false;
        return exchange(agent, { url, headers, body, maxBytes: MAX_ANSWER_BYTES, signal: deadline.signal, onSend });
      };
      const tookMs = () => Math.round(elapsed() - startedAt);
      try {
        const {
          status,
          body: text,
          location,
        } = await send(pooled).catch((error) => (mayBeUnseen(error, diedIdle) ? send(fresh) : Promise.reject(error)));
        const outcome = outcomeOfStatus(status);
        const detail = outcome === '3xx' ? detailOfRedirect(location, url) : null;
        return { outcome, status, preview: previewOf(text), detail, tookMs: tookMs() };
      } catch (error) {
        if (isDomainError(error)) throw error;
        const outcome = outcomeOfFault(error, isSent);
        const detail = outcome && detailOfFault({ outcome, code: String(fault(error).code), isSent });
        if (outcome !== null) return { outcome, status: null, preview: null, detail, tookMs: tookMs() };
        throw isExhausted(error) ? new DomainError('unavailable', 'This process cannot connect now.', { cause: error }) : error;
      } finally {
        clearTimeout(timer);
        inFlight.delete(deadline);
      }
    },
    cut() {
      for (const ending of inFlight) ending.abort(STOPPING);
    },
    async close() {
      await Promise.all([pooled.destroy(), fresh.destroy()]);
    },
  };
}
