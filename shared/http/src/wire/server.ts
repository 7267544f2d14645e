import type { RequestListener, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Ids } from '@bubbles/kernel/ids.ts';
import { type ConnectionTurns, createConnectionTurns, shareConnections } from './connections.ts';
import { MAX_HEADER_FIELDS } from './framing.ts';
import { type Address, type HeldPort, holdPort, listen } from './listen.ts';

/** An import reads all its exports, for which Node loads all of undici: 16 MB and 40 ms a process. https://github.com/nodejs/node/issues/57649 */
const { createServer } = process.getBuiltinModule('node:http');

export interface Limits {
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly maxConnections: number;
  /** Limit for the request target and all headers together. */
  readonly maxHeaderBytes: number;
  /** True answers a client that has sent FIN after its request (RFC 9112, 9.6); then only a reset tells that it has closed. False treats FIN as closed. */
  readonly answersHalfClosed: boolean;
}

export const SERVICE_LIMITS: Limits = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  keepAliveTimeoutMs: 75_000,
  idleTimeoutMs: 60_000,
  maxConnections: 10_000,
  // Twice what the gateway takes of a client, since it adds some.
  maxHeaderBytes: 32 * 1024,
  answersHalfClosed: false,
};

const CHECKING_INTERVAL_MS = 1000;
const CLOSE_IDLE_EVERY_MS = 250;

interface HttpServerOptions {
  readonly handler: RequestListener;
  readonly address: Address;
  readonly limits: Limits;
  readonly ids: Ids;
  /** Only holds the port; `restore` goes on the wire. */
  readonly offTheWire?: boolean;
}

export interface Drain {
  /** Between "not ready" and the refusal of new connections, so that balancers have noticed. */
  readonly noticeMs: number;
  /** After which connections still open are cut. */
  readonly deadlineMs: number;
}

export interface HttpServer {
  readonly url: string;
  /** Answers everything that is on its way and asks for no more; true when nothing had to be cut. */
  drain(drain: Drain): Promise<boolean>;
  /** Off the wire at once: no listener, no connection. */
  cut(): Promise<void>;
  /** On the same port again. */
  restore(): Promise<void>;
}

export const startServer = async (options: HttpServerOptions): Promise<HttpServer> => {
  const turns = createConnectionTurns(options.handler);
  const server = bareServer(options.limits, turns.listener);
  refuseByHand(server, turns, options);
  const { host } = options.address;
  const held: HeldPort | null = options.offTheWire === true ? await holdPort(options.address) : null;
  const port = held?.port ?? (await listen(server, options.address));
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    drain: async ({ noticeMs, deadlineMs }) => {
      turns.drain();
      await delay(noticeMs);
      held?.release();
      return close(server, deadlineMs);
    },
    cut: async () => {
      held?.release();
      await close(server, 0);
    },
    restore: async () => {
      if (!server.listening) await listen(server, { host, port });
      held?.release();
    },
  };
};

const bareServer = (limits: Limits, handler: RequestListener): Server => {
  const server = createServer({
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: CHECKING_INTERVAL_MS,
    maxHeaderSize: limits.maxHeaderBytes,
    noDelay: true,
    // Most requests have no body: no stream is wound down for them.
    optimizeEmptyRequests: true,
    // Node would answer a missing Host without our envelope; `framingFault` refuses it.
    requireHostHeader: false,
  });
  // Node before 26.5.1 drops what is above silently, later ones refuse it. One more lets `framingFault` see that there were too many.
  server.maxHeadersCount = MAX_HEADER_FIELDS + 1;
  shareConnections(server, limits.maxConnections);
  // `@types/node` lacks it.
  Object.assign(server, { httpAllowHalfOpen: limits.answersHalfClosed });
  server.setTimeout(limits.idleTimeoutMs);
  server.on('request', handler);
  // The body is asked for only when somebody reads it (`readBody`), and an unknown expectation is ignored.
  server.on('checkContinue', handler);
  server.on('checkExpectation', handler);
  return server;
};

/** What fails before there is a request is answered on the bare socket, after the answers that are due before it. */
const refuseByHand = (server: Server, turns: ConnectionTurns, { ids, limits }: HttpServerOptions): void => {
  const reasons = clientErrors(limits);
  const refuse = (socket: Duplex, reason: string) => {
    if (!socket.writable) return socket.destroy();
    const body = JSON.stringify({ error: { type: 'invalid_request', message: `request: ${reason}` } });
    socket.end(
      `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nX-Request-Id: ${ids.uuid()}\r\nX-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n${body}`,
      () => socket.destroy(),
    );
  };
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === 'ECONNRESET') return socket.destroy();
    turns.afterAnswers(socket, () => refuse(socket, reasons[error.code ?? ''] ?? 'malformed HTTP'));
  });
  server.on('connect', ({ socket }) => {
    // Node removes its own listeners with the parser: an error of the socket would end the process.
    socket.on('error', () => socket.destroy());
    // A socket that was paused for a waiting request believes that a read is in flight, which was the parser's.
    socket.push('');
    turns.afterAnswers(socket, () => refuse(socket, 'CONNECT is not served'));
  });
};

const clientErrors = ({ maxHeaderBytes }: Limits): Readonly<Record<string, string>> => ({
  HPE_HEADER_OVERFLOW: `target and headers may have at most ${maxHeaderBytes} bytes and ${MAX_HEADER_FIELDS} fields`,
  ERR_HTTP_REQUEST_TIMEOUT: 'not received in time',
});

const delay = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const close = async (server: Server, deadlineMs: number): Promise<boolean> => {
  if (!server.listening) return true;
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  let cut = false;
  const hardStop = setTimeout(() => {
    cut = true;
    server.closeAllConnections();
  }, deadlineMs);
  const sweep = setInterval(() => server.closeIdleConnections(), CLOSE_IDLE_EVERY_MS);
  server.closeIdleConnections();
  await closed;
  clearTimeout(hardStop);
  clearInterval(sweep);
  return !cut;
};
