import { withTimeout } from '@bubbles/kernel/concurrency.ts';
import { DomainError, errorCode } from '@bubbles/kernel/errors.ts';
import { callHeaders } from '@bubbles/kernel/trace.ts';
import type { Agent, Dispatcher, request } from 'undici';
import type { ZodType } from 'zod';
import { ErrorBody } from '../routes/http-errors.ts';

/** Service tokens for outgoing calls, one a callee. */
export interface ServiceTokens {
  /** The value of the `Authorization` header. */
  authorizationFor(audience: string): Promise<string>;
}

interface InternalClientOptions {
  /** The service that is called. */
  readonly callee: string;
  /** Its addresses; another is tried when one refuses the connection. */
  readonly baseUrls: readonly string[];
  readonly tokens: ServiceTokens;
  /** For the whole call; 5 seconds when absent. */
  readonly deadlineMs?: number;
}

export interface Call<T> {
  /** What the answer must be; other fields are dropped. */
  readonly schema: ZodType<T>;
  readonly signal?: AbortSignal;
  /** What identity tells the callee of the user behind the call; `callsFor` sets it. */
  readonly assertion?: string;
  /** With the same one the callee acts once, where its route says so. */
  readonly idempotencyKey?: string | undefined;
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Calls to the internal endpoints of one service. Every method rejects with `DomainError('unavailable')`, or `internal` when the callee found the call itself faulty. */
export interface InternalClient {
  get<T>(path: string, call: Call<T>): Promise<T>;
  post<T>(path: string, call: Call<T> & { readonly body: unknown }): Promise<T>;
  /** Any other method; an answer without a body is `undefined`. */
  send<T>(method: Method, path: string, call: Call<T> & { readonly body?: unknown }): Promise<T>;
  close(): Promise<void>;
}

/** What the callee answered instead of a success; the cause of the `DomainError`. */
export class CallRefused extends Error {
  readonly status: number;
  readonly type: string;
  readonly retryAfterSeconds: number | null;
  /** The callee had too much to do. */
  readonly isOverload: boolean;
  constructor(status: number, { type, message, retryAfterSeconds, isOverload }: RefusalParts) {
    super(message);
    this.name = 'CallRefused';
    this.status = status;
    this.type = type;
    this.retryAfterSeconds = retryAfterSeconds;
    this.isOverload = isOverload;
  }
}

interface RefusalParts {
  readonly type: string;
  readonly message: string;
  readonly retryAfterSeconds: number | null;
  readonly isOverload: boolean;
}

const DEADLINE_MS = 5000;
const CONNECT_MS = 1000;
/** Below the 75 s of the callee, so that a kept connection is never one that it is just closing. */
const KEEP_ALIVE_MS = 20_000;
const CONNECTIONS = 64;
const MAX_RESPONSE_BYTES = 16 * 1024 * 1024;
const NO_CONTENT = 204;
/** The callee was reached and the same call would be refused again. */
const FAULTS_OF_THE_CALL: readonly number[] = [400, 403, 409];
const NOT_CONNECTED: readonly (string | number | null)[] = ['ECONNREFUSED', 'UND_ERR_CONNECT_TIMEOUT', 'ENOTFOUND', 'EHOSTUNREACH'];

interface Outgoing {
  readonly method: Method;
  readonly path: string;
  readonly body: string | null;
  readonly assertion: string | undefined;
  readonly idempotencyKey: string | undefined;
}

interface Http {
  readonly request: typeof request;
  readonly dispatcher: Agent;
}

/** Loads undici now and not at import: a service that asks nobody keeps its 6 MB. */
const loadHttp = async (deadlineMs: number): Promise<Http> => {
  const undici = await import('undici');
  const dispatcher = new undici.Agent({
    connections: CONNECTIONS,
    pipelining: 1,
    connect: { timeout: CONNECT_MS },
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    headersTimeout: deadlineMs,
    bodyTimeout: deadlineMs,
    maxResponseSize: MAX_RESPONSE_BYTES,
    allowH2: false,
  });
  return { request: undici.request, dispatcher };
};

export const createInternalClient = ({ callee, baseUrls, tokens, deadlineMs = DEADLINE_MS }: InternalClientOptions): InternalClient => {
  const loading = loadHttp(deadlineMs);
  let turn = 0;

  /** Addresses take turns; the next one is tried when one cannot be connected to. */
  const send = async ({ method, path, body, assertion, idempotencyKey }: Outgoing, signal: AbortSignal): Promise<unknown> => {
    const { request, dispatcher } = await loading;
    const headers = {
      ...callHeaders(),
      authorization: await tokens.authorizationFor(callee),
      ...(assertion !== undefined && { 'x-internal-assertion': assertion }),
      ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      ...(body !== null && { 'content-type': 'application/json' }),
    };
    const first = turn;
    turn += 1;
    let failure: unknown;
    for (const index of baseUrls.keys()) {
      const baseUrl = baseUrls[(first + index) % baseUrls.length] ?? '';
      try {
        return await answerIn(await request(`${baseUrl}${path}`, { dispatcher, method, headers, body, signal }));
      } catch (error) {
        if (!NOT_CONNECTED.includes(errorCode(error))) throw error;
        failure = error;
      }
    }
    throw failure;
  };

  const call = async <T>(outgoing: Omit<Outgoing, 'assertion' | 'idempotencyKey'>, { schema, signal, ...of }: Call<T>): Promise<T> => {
    try {
      return schema.parse(
        await withTimeout(
          deadlineMs,
          (ending) => send({ ...outgoing, assertion: of.assertion, idempotencyKey: of.idempotencyKey }, ending),
          { signal },
        ),
      );
    } catch (cause) {
      const atFault = cause instanceof CallRefused && FAULTS_OF_THE_CALL.includes(cause.status);
      throw new DomainError(atFault ? 'internal' : 'unavailable', `${callee} could not be asked.`, { cause });
    }
  };

  return {
    get: (path, wanted) => call({ method: 'GET', path, body: null }, wanted),
    post: (path, { body, ...wanted }) => call({ method: 'POST', path, body: JSON.stringify(body) }, wanted),
    send: (method, path, { body, ...wanted }) => call({ method, path, body: body === undefined ? null : JSON.stringify(body) }, wanted),
    close: async () => (await loading).dispatcher.close(),
  };
};

const answerIn = async ({ statusCode, headers, body }: Dispatcher.ResponseData): Promise<unknown> => {
  const answer: unknown = statusCode === NO_CONTENT ? await body.dump() : await body.json();
  if (statusCode >= 200 && statusCode < 300) return answer;
  const { data } = ErrorBody.safeParse(answer);
  const retryAfterSeconds = Number(headers['retry-after'] ?? Number.NaN);
  throw new CallRefused(statusCode, {
    ...(data?.error ?? { type: 'unknown', message: 'no error envelope' }),
    retryAfterSeconds: Number.isInteger(retryAfterSeconds) ? retryAfterSeconds : null,
    isOverload: headers['x-gateway-reason'] === 'overload',
  });
};
