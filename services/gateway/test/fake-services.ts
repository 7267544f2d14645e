import { generateKeyPairSync } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { CheckResult, CredentialCheck } from '@bubbles/contracts/internal/identity.ts';

/** What a service saw of a request. */
export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly rawHeaders: readonly string[];
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface FakeService {
  readonly url: string;
  readonly port: number;
  readonly server: Server;
  readonly seen: Seen[];
  /** Checks and polls of the gateway itself. */
  readonly asked: Pick<Seen, 'url' | 'headers'>[];
  /** Sockets open now. */
  readonly sockets: Set<unknown>;
  /** How it answers; the default says 200 with what it saw. */
  handle: (req: IncomingMessage, res: ServerResponse, seen: Seen) => void;
  fragment: unknown;
  fragmentCalls: number;
  stop(): Promise<void>;
}

/** An internal endpoint that rejects with it answers as a service does that sheds load. */
export class Overloaded extends Error {}

const answerJson = (res: ServerResponse, status: number, body: unknown): void => {
  res.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(body));
};

const readAll = async (req: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString();
};

/** A service on a free port, or on the one given. `internal` takes the requests that are no client's. */
export const startFakeService = async (
  fragment: unknown,
  internal?: (path: string, body: string) => unknown,
  port = 0,
): Promise<FakeService> => {
  const sockets = new Set<unknown>();
  const server = createServer({ keepAliveTimeout: 75_000 });
  const fake: FakeService = {
    url: '',
    port: 0,
    server,
    seen: [],
    asked: [],
    sockets,
    handle: (_, res, seen) => answerJson(res, 200, { url: seen.url, method: seen.method, body: seen.body }),
    fragment,
    fragmentCalls: 0,
    stop: async () => {
      const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('request', async (req: IncomingMessage, res: ServerResponse) => {
    const body = await readAll(req).catch(() => 'broken');
    const url = req.url ?? '';
    if (url.startsWith('/internal/')) fake.asked.push({ url, headers: req.headers });
    if (url === '/internal/openapi.json') {
      fake.fragmentCalls += 1;
      const text = JSON.stringify(fake.fragment);
      const etag = `"${text.length}-${Buffer.from(text).reduce((sum, byte) => (sum * 31 + byte) % 1_000_000_007, 7)}"`;
      res.setHeader('etag', etag);
      return req.headers['if-none-match'] === etag ? res.writeHead(304).end() : answerJson(res, 200, fake.fragment);
    }
    if (internal !== undefined && url.startsWith('/internal/'))
      return Promise.resolve(internal(url, body)).then(
        (answer) => answerJson(res, 200, answer),
        (error) => {
          if (error instanceof Overloaded) res.setHeader('x-gateway-reason', 'overload');
          answerJson(res, 500, { error: { type: 'internal_error', message: 'It broke.' } });
        },
      );
    const seen = { method: req.method ?? '', url, rawHeaders: req.rawHeaders, headers: req.headers, body };
    fake.seen.push(seen);
    return fake.handle(req, res, seen);
  });
  await new Promise<void>((resolve) => void server.listen(port, '127.0.0.1', resolve));
  const address = server.address();
  const taken = typeof address === 'object' && address !== null ? address.port : 0;
  return Object.assign(fake, { url: `http://127.0.0.1:${taken}`, port: taken });
};

export interface FakeIdentity extends FakeService {
  /** Every call of the checks, in order. */
  readonly checkCalls: (readonly CredentialCheck[])[];
  /** What it says about a credential; a rejection makes the answer a 500. */
  decide: (check: CredentialCheck) => CheckResult | Promise<CheckResult>;
}

export const allowed = ({ h, aud }: CredentialCheck): CheckResult => ({
  h,
  outcome: 'allowed',
  assertion: `assertion-of.${h.slice(0, 12)}.for-${aud}`,
  limit: 120,
  remaining: 119,
  reset_seconds: 60,
});

export const startFakeIdentity = async (fragment: unknown, port = 0): Promise<FakeIdentity> => {
  const checkCalls: (readonly CredentialCheck[])[] = [];
  const own: Pick<FakeIdentity, 'decide'> = { decide: allowed };
  const fake = await startFakeService(
    fragment,
    async (_, body) => {
      const { checks }: { checks: readonly CredentialCheck[] } = JSON.parse(body);
      checkCalls.push(checks);
      return { answers: await Promise.all(checks.map((check) => own.decide(check))) };
    },
    port,
  );
  const identity = Object.assign(fake, { checkCalls, decide: own.decide });
  own.decide = (check) => identity.decide(check);
  return identity;
};

interface OperationOptions {
  readonly auth?: string;
  readonly internal?: boolean;
  readonly id?: string;
  /** How it writes its refusals. */
  readonly errors?: 'rfc6749' | 'page';
  readonly unsafe?: boolean;
}

/** An operation as a service describes it. */
export const operation = (id: string, { auth = 'pat', internal = false, unsafe = false, errors }: OperationOptions = {}) => ({
  operationId: id,
  summary: id,
  tags: ['Bubbles'],
  security: [],
  'x-gw-auth': auth,
  'x-internal': internal,
  ...(errors !== undefined && { 'x-gw-error-format': errors }),
  ...(unsafe && { 'x-gw-unsafe': true }),
  ...(errors === 'page' && { 'x-gw-undocumented': true }),
  responses: { 200: { description: 'Done.' } },
});

export const aFragment = (paths: Readonly<Record<string, unknown>>, components: unknown = {}) => ({
  openapi: '3.1.0',
  info: { title: 'tested', version: '1' },
  paths,
  components,
});

export const BUBBLES_FRAGMENT = aFragment({
  '/v1/bubbles': { get: operation('listBubbles') },
  '/v1/bubbles/search': { get: operation('searchBubbles') },
  '/v1/bubbles/{id}': { get: operation('getBubble'), post: operation('postBubble'), delete: operation('deleteBubble') },
  '/v1/bubbles/open': { get: operation('openBubbles', { auth: 'none' }), post: operation('postOpenBubbles', { auth: 'none' }) },
  '/v1/bubbles/act': { get: operation('actByGet', { auth: 'none', unsafe: true }) },
  '/internal/v1/readable': { post: operation('readable', { auth: 'internal', internal: true }) },
});

export const IDENTITY_FRAGMENT = aFragment({
  '/v1/me': { get: operation('getMe') },
  '/v1/api-keys': { get: operation('listKeys', { auth: 'session' }), post: operation('createKey', { auth: 'session' }) },
  '/oauth/authorize': { get: operation('authorize', { auth: 'none' }) },
  '/oauth/token': { post: operation('token', { auth: 'none', errors: 'rfc6749' }) },
});

export const serviceKey = () => generateKeyPairSync('ed25519').privateKey;
