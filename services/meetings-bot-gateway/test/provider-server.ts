import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface ProviderRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  // biome-ignore lint/suspicious/noExplicitAny: a fake provider reads the fields that it documents.
  readonly body: any;
}

/** An answer in JSON, or in the bytes that are given. */
export interface ProviderReply {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What the next calls meet in place of the provider. */
export const WIRE_FAULTS = {
  html: { status: 403, headers: { 'content-type': 'text/html' }, body: Buffer.from('<html><body>Request blocked.</body></html>') },
  /** A login page of a proxy. */
  'a page with 200': { status: 200, headers: { 'content-type': 'text/html' }, body: Buffer.from('<html><body>Welcome</body></html>') },
  /** Of a proxy that does not find the provider for a moment. */
  'an empty 404': { status: 404 },
  'too many requests': { status: 429, headers: { 'retry-after': '7' }, body: { detail: 'throttled' } },
  'a fault of its own': { status: 503, headers: { 'retry-after': '7' }, body: { detail: 'overloaded' } },
  nonsense: { status: 200, body: Buffer.from('{"__proto__":{"id":"polluted"},"surprise":true}') },
  'a number': { status: 200, body: 7 },
  'half a document': { status: 200, body: Buffer.from('{"id": "b1", "stat') },
  'a redirect': { status: 302, headers: { location: 'http://127.0.0.1:1/elsewhere' }, body: {} },
  'more than anybody reads': 'flood',
  'a connection that is cut': 'cut',
  'an answer that breaks off': 'truncated',
  'no HTTP': 'banner',
  'no answer': 'silence',
} as const satisfies Record<string, ProviderReply | 'flood' | 'cut' | 'truncated' | 'banner' | 'silence'>;
/** Of an answer that is lost the call was done. */
export type WireFault = keyof typeof WIRE_FAULTS | 'an answer that is lost';

export interface ProviderServer {
  readonly url: string;
  /** What was asked of it, oldest first. */
  readonly requests: readonly ProviderRequest[];
  /** What each call meets from now on; null for the provider itself. */
  fail(fault: WireFault | ProviderReply | null): void;
  stop(): Promise<void>;
}

const FLOOD_BYTES = 64 * 1024 * 1024;

const flood = async (response: ServerResponse): Promise<void> => {
  response.writeHead(200, { 'content-type': 'application/json' });
  const chunk = Buffer.alloc(64 * 1024, ' ');
  const closed = new Promise((resolve) => response.once('close', resolve));
  for (let sent = 0; sent < FLOOD_BYTES && !response.destroyed; sent += chunk.length)
    if (!response.write(chunk)) await Promise.race([closed, new Promise((resolve) => response.once('drain', resolve))]);
  response.end();
};

const send = (response: ServerResponse, { status, body, headers = {} }: ProviderReply): void => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(Buffer.isBuffer(body) ? body : body === undefined ? '' : JSON.stringify(body));
};

/** A provider on loopback: `answer` is its API, and faults stand before it. */
export const startProviderServer = async (answer: (request: ProviderRequest) => ProviderReply): Promise<ProviderServer> => {
  const requests: ProviderRequest[] = [];
  let failing: WireFault | ProviderReply | null = null;

  const meet = (fault: WireFault | ProviderReply, response: ServerResponse): unknown => {
    if (fault === 'an answer that is lost') return response.destroy();
    const met = typeof fault === 'string' ? WIRE_FAULTS[fault] : fault;
    if (typeof met === 'object') return send(response, met);
    if (met === 'flood') return flood(response);
    if (met === 'cut') return response.destroy();
    if (met === 'silence') return null;
    if (met === 'banner') return response.socket?.end('SSH-2.0-OpenSSH_9.9\r\n');
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
    return response.write('{"id":', () => response.destroy());
  };

  const server = createServer(async (incoming, response) => {
    const { pathname, searchParams } = new URL(incoming.url ?? '/', 'http://provider');
    const sent = await text(incoming).catch(() => null);
    // Whoever asked has left, or was killed, in the midst of it.
    if (sent === null) return;
    const { method = 'GET', headers } = incoming;
    const request = { method, path: pathname, query: searchParams, headers, body: sent === '' ? null : JSON.parse(sent) };
    requests.push(request);
    if (failing === 'an answer that is lost') answer(request);
    if (failing === null) send(response, answer(request));
    else await meet(failing, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A listening TCP server has an address of this form.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    fail(fault) {
      failing = fault;
    },
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
};
