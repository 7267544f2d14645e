import type { Clock } from '@bubbles/kernel/clock.ts';
import { withTimeout } from '@bubbles/kernel/concurrency.ts';
import { errorCode } from '@bubbles/kernel/errors.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import type { Dispatcher } from 'undici';
import type { ZodType } from 'zod';
import { NotetakerError } from '../../ports.ts';

/**
 * Result of a call. `refused`: another 4xx. `failed`: a 5xx. `nonsense`: an answer outside of the provider's documentation, such as the page of a firewall,
 * a redirect or an empty refusal. `unreachable`: no connection, or one that broke.
 */
type ProviderOutcome = 'ok' | 'refused' | 'unauthorized' | 'rate_limited' | 'failed' | 'nonsense' | 'timeout' | 'unreachable';
/** Counts a call of a provider. */
export type ProviderCalled = (provider: string, outcome: ProviderOutcome) => void;

interface ProviderHttpOptions {
  readonly provider: string;
  readonly baseUrl: string;
  /** Sent with each call, with the key. */
  readonly headers: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly log: Log;
  readonly called: ProviderCalled;
  /** For a whole call, in real time. */
  readonly deadlineMs?: number;
}

export interface ProviderCall<T> {
  /** For the log: a path may hold a part of a meeting's link. */
  readonly name: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below the base URL, with its query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** What an answer of success must be; null stands for an empty one. */
  readonly schema: ZodType<T>;
  /** Statuses of refusals that the caller reads itself. */
  readonly reads?: readonly number[];
  readonly maxBytes?: number;
}

/** `body` is the text of the provider: it may be judged, and is never passed on. */
type ProviderAnswer<T> =
  | { readonly refused: false; readonly value: T }
  | { readonly refused: true; readonly status: number; readonly body: unknown; readonly retryAfterSeconds: number | null };

/** Calls to one provider. What was not answered as documented, or with a status that nobody reads, rejects with `NotetakerError`. */
export interface ProviderHttp {
  call<T>(call: ProviderCall<T>): Promise<ProviderAnswer<T>>;
  close(): Promise<void>;
}

const DEADLINE_MS = 15_000;
const CONNECT_MS = 5000;
const KEEP_ALIVE_MS = 20_000;
const CONNECTIONS = 32;
const MAX_BYTES = 8 * 1024 * 1024;
/** A provider that asks for more must not keep a join waiting beyond its own limits. */
const MAX_RETRY_AFTER_SECONDS = 600;
/** What a wrong key or an empty account lets fail is mended by an operator, and must lose no recording until then. */
const UNAUTHORIZED: readonly number[] = [401, 402, 403];
const TOO_MANY_REQUESTS = 429;
/** Request time-out, conflict with a call in flight, misdirected, locked, too early: the same call may pass later. */
const PASSING: readonly number[] = [408, 409, 421, 423, 425];
const UNAVAILABLE = 'notetaker_unavailable';
const TIMEOUT_CODES: readonly unknown[] = ['UND_ERR_CONNECT_TIMEOUT', 'ETIMEDOUT'];

/** An answer that is not what the provider documents. It holds nothing of it. */
class Nonsense extends Error {}

/** What came, before anybody knows what it means. */
interface Received {
  readonly status: number;
  /** Undefined for what is no JSON. */
  readonly body: unknown;
  readonly retryAfterSeconds: number | null;
}

const isSuccess = (status: number): boolean => status >= 200 && status < 300;

const outcomeOf = (status: number): ProviderOutcome => {
  if (isSuccess(status)) return 'ok';
  if (status >= 500) return 'failed';
  if (status === TOO_MANY_REQUESTS) return 'rate_limited';
  if (UNAUTHORIZED.includes(status)) return 'unauthorized';
  return status >= 400 ? 'refused' : 'nonsense';
};

const outcomeOfFault = (error: unknown): ProviderOutcome => {
  const name = Error.isError(error) ? error.name : '';
  if (error instanceof Nonsense || name === 'HTTPParserError') return 'nonsense';
  return name === 'TimeoutError' || TIMEOUT_CODES.includes(errorCode(error)) ? 'timeout' : 'unreachable';
};

const transient = (retryAfterSeconds: number | null): NotetakerError =>
  new NotetakerError('transient', UNAVAILABLE, retryAfterSeconds === null ? {} : { retryAfterSeconds });

type Judged<T> = { readonly outcome: ProviderOutcome } & (
  | { readonly answer: ProviderAnswer<T> }
  | { readonly answer: null; readonly error: NotetakerError }
);

const judge = <T>({ schema, reads = [] }: ProviderCall<T>, { status, body, retryAfterSeconds }: Received): Judged<T> => {
  const outcome = outcomeOf(status);
  // A page or an empty refusal comes from something before the provider, which does not know what the call asks for.
  const isForeign = (body === undefined && outcome !== 'failed') || (body === null && outcome === 'refused');
  const nonsense: Judged<T> = { outcome: 'nonsense', answer: null, error: transient(retryAfterSeconds) };
  if (isForeign || outcome === 'nonsense') return nonsense;
  if (outcome === 'ok') {
    const { data, success } = schema.safeParse(body);
    return success ? { outcome, answer: { refused: false, value: data } } : nonsense;
  }
  if (reads.includes(status)) return { outcome, answer: { refused: true, status, body, retryAfterSeconds } };
  const isFinal = outcome === 'refused' && !PASSING.includes(status);
  return { outcome, answer: null, error: isFinal ? new NotetakerError('permanent', 'notetaker_error') : transient(retryAfterSeconds) };
};

/** Seconds or a date (RFC 9110, 10.2.3); null for anything else. */
const retryAfterOf = (value: string | string[] | undefined, now: Date): number | null => {
  const text = Array.isArray(value) ? value[0] : value;
  if (text === undefined) return null;
  const isDate = /^[A-Z][a-z]{2,8}[, ]/.test(text);
  const seconds = /^\d{1,9}$/.test(text) ? Number(text) : isDate ? Math.ceil((Date.parse(text) - now.getTime()) / 1000) : Number.NaN;
  return Number.isNaN(seconds) ? null : Math.min(Math.max(seconds, 0), MAX_RETRY_AFTER_SECONDS);
};

/** Undefined for what is no JSON. */
export const parsedJson = (text: string): unknown => {
  try {
    return text === '' ? null : JSON.parse(text);
  } catch {
    // The error names a part of the text, which stays here.
    return undefined;
  }
};

/** All bytes of it, up to a limit. Leaving early ends the transfer. */
export const bytesOf = async (body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Buffer> => {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > maxBytes) throw new Nonsense();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
};

/** Loads undici now and not at import: a gateway whose notetakers are all simulated keeps its memory. */
const loadHttp = async () => {
  const { Agent, request } = await import('undici');
  const dispatcher = new Agent({
    connections: CONNECTIONS,
    pipelining: 1,
    connect: { timeout: CONNECT_MS },
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    // The deadline of a call covers both.
    headersTimeout: 0,
    bodyTimeout: 0,
    allowH2: false,
  });
  return { dispatcher, request };
};

export const createProviderHttp = (options: ProviderHttpOptions): ProviderHttp => {
  const { provider, baseUrl, headers, clock, log, called, deadlineMs = DEADLINE_MS } = options;
  const loading = loadHttp();

  const receive = async (call: ProviderCall<unknown>, signal: AbortSignal): Promise<Received> => {
    const { dispatcher, request } = await loading;
    const answer: Dispatcher.ResponseData = await request(`${baseUrl}${call.path}`, {
      dispatcher,
      method: call.method,
      headers: {
        accept: 'application/json',
        ...headers,
        ...(call.body !== undefined && { 'content-type': 'application/json' }),
        ...call.headers,
      },
      body: call.body === undefined ? null : JSON.stringify(call.body),
      signal,
    });
    const bytes = await bytesOf(answer.body, call.maxBytes ?? MAX_BYTES);
    return {
      status: answer.statusCode,
      body: parsedJson(bytes.toString()),
      retryAfterSeconds: retryAfterOf(answer.headers['retry-after'], clock.now()),
    };
  };

  return {
    async call<T>(call: ProviderCall<T>) {
      const startedAt = clock.monotonic();
      const tell = (outcome: ProviderOutcome, fields: object) => {
        called(provider, outcome);
        const told = { provider, call: call.name, outcome, tookMs: Math.round(clock.monotonic() - startedAt), ...fields };
        if (outcome === 'ok') log.debug('provider called', told);
        else log.warn('provider call failed', told);
      };
      let judged: Judged<T>;
      try {
        const received = await withTimeout(deadlineMs, (signal) => receive(call, signal));
        judged = judge(call, received);
        tell(judged.outcome, { status: received.status });
      } catch (error) {
        // The cause is left out: it may hold what the provider sent, or where it was sent to.
        tell(outcomeOfFault(error), { code: errorCode(error) });
        throw transient(null);
      }
      if (judged.answer === null) throw judged.error;
      return judged.answer;
    },
    close: async () => (await loading).dispatcher.destroy(),
  };
};
