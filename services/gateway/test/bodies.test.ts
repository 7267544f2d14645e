import { createServer, type Server, type Socket } from 'node:net';
import { rawConnection, rawExchange } from '@bubbles/testing/raw-http.ts';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { BUBBLES_FRAGMENT } from './fake-services.ts';
import { AUTHORIZATION, QUICK, startWorld, TOKEN, type World } from './start.ts';

let world: World;
/** Does not wait long for anybody. */
let hasty: World;
beforeAll(async () => {
  world = await startWorld();
  hasty = await startWorld({ limits: { ...QUICK, requestTimeoutMs: 1000, headersTimeoutMs: 1000 } });
});
afterAll(() => Promise.all([world.stop(), hasty.stop()]));
beforeEach(() => {
  world.bubbles.seen.length = 0;
  world.bubbles.handle = (_, res, seen) => void res.end(JSON.stringify(seen));
});

const HEAD = `Host: api.test\r\nAuthorization: Bearer ${TOKEN}\r\nConnection: close\r\n`;
const TOO_LARGE = 'body: must have at most 65536 bytes';
const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise(setImmediate);
};

describe('bodies of requests', () => {
  it('[GEN-08] go on byte for byte', async () => {
    const body = Buffer.from(Array.from({ length: 60_000 }, (_, index) => index % 127)).toString('latin1');
    await world.fetch('/v1/bubbles/open', { method: 'POST', body });
    expect(world.bubbles.seen[0]?.body).toBe(body);
  });

  it('[GEN-08] that announce more than the limit are refused, unread, and the sender sees the answer', async () => {
    const response = await world.fetch('/v1/bubbles/open', { method: 'POST', body: 'x'.repeat(64 * 1024 + 1) });
    expect(response.status).toBe(400);
    expect(response.headers.get('connection')).toBe('close');
    expect(await response.json()).toEqual({ error: { type: 'invalid_request', message: TOO_LARGE } });
    expect(world.bubbles.seen).toEqual([]);
  });

  it('[GEN-08] that turn out longer than the limit are refused by counting', async () => {
    const chunk = `8000\r\n${'x'.repeat(0x8000)}\r\n`;
    const text = await rawExchange(
      world.url,
      `POST /v1/bubbles/open HTTP/1.1\r\n${HEAD}Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(10)}0\r\n\r\n`,
    );
    expect(text).toMatch(/^HTTP\/1\.1 400 [\s\S]*invalid_request/);
    expect(text).toContain(TOO_LARGE);
    expect(world.bubbles.seen).toEqual([]);
  });

  it('without a credential have a limit for each network, above which they are refused unread', async () => {
    const open = await startWorld({ limits: { bodyAllowance: { burstBytes: 100_000, bytesPerSecond: 1 } } });
    const post = (path: string, bytes: number) => open.fetch(path, { method: 'POST', body: 'x'.repeat(bytes), headers: AUTHORIZATION });
    const spent = [await post('/v1/bubbles/open', 60_000), await post('/v1/bubbles/open', 60_000)];
    const refused = await post('/v1/bubbles/open', 60_000);
    expect([...spent, refused].map(({ status }) => status)).toEqual([200, 200, 429]);
    expect([refused.headers.get('retry-after'), refused.headers.get('connection')]).toEqual([expect.stringMatching(/^\d{5}$/), 'close']);
    expect(await refused.json()).toMatchObject({ error: { type: 'rate_limited' } });
    expect(open.bubbles.seen).toHaveLength(2);
    // Who has one is counted by it.
    expect((await post('/v1/bubbles/42', 50_000)).status).toBe(200);
    await open.stop();
  });

  it('[ERR-08] are not looked at before the credential', async () => {
    const response = await world.fetch('/v1/bubbles/42', { method: 'POST', body: 'x'.repeat(300 * 1024) });
    expect(response.status).toBe(401);
  });

  it('[GEN-08] are asked for only when they are wanted: a refusal comes without 100 Continue', async () => {
    const head = 'POST /v1/bubbles/42 HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n';
    const connection = rawConnection(hasty.url);
    connection.write(head);
    expect(await connection.receivedMatching(/\}\}$/)).toMatch(/^HTTP\/1\.1 401 /);
    expect(await connection.received).not.toContain('100 Continue');
  });

  it('[GEN-08] an admitted request with Expect is told to continue, and Expect goes no further', async () => {
    const connection = rawConnection(world.url);
    connection.write(`POST /v1/bubbles/open HTTP/1.1\r\n${HEAD}Content-Length: 5\r\nExpect: 100-continue\r\n\r\n`);
    await connection.receivedMatching(/^HTTP\/1\.1 100 Continue/);
    connection.write('hello');
    expect(await connection.received).toContain('HTTP/1.1 200 OK');
    expect(world.bubbles.seen[0]).toMatchObject({ body: 'hello' });
    expect(world.bubbles.seen[0]?.headers).not.toHaveProperty('expect');
  });

  it('[GEN-08] that do not come in time are refused, and hold no connection of the service meanwhile', async () => {
    const connection = rawConnection(hasty.url);
    connection.write(`POST /v1/bubbles/open HTTP/1.1\r\n${HEAD}Content-Length: 5\r\n\r\nhe`);
    expect(await connection.received).toMatch(/^HTTP\/1\.1 400 /);
    expect(hasty.bubbles.seen).toEqual([]);
    await until(() => hasty.gateway.inFlight() === 0);
  });

  it('[GEN-08] heads that drip are cut off with a 400', async () => {
    const connection = rawConnection(hasty.url);
    connection.write('GET /v1/bubbles HTTP/1.1\r\nHost: a\r\n');
    expect(await connection.received).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('[GEN-08] a client that leaves while it sends reaches no service', async () => {
    const connection = rawConnection(world.url);
    connection.write(`POST /v1/bubbles/open HTTP/1.1\r\n${HEAD}Content-Length: 5\r\n\r\nhe`);
    await until(() => world.gateway.inFlight() === 1);
    connection.socket.destroy();
    await until(() => world.gateway.inFlight() === 0);
    expect(world.bubbles.seen).toEqual([]);
  });
});

describe('answers', () => {
  it('[ERR-05] stream as fast as the client reads, and no faster: a slow client loses nothing', async () => {
    const size = 48 * 1024 * 1024;
    let written = 0;
    world.bubbles.handle = async (_, res) => {
      res.writeHead(200, { 'content-type': 'application/octet-stream' });
      const chunk = Buffer.alloc(64 * 1024, 'z');
      for (; written < size; written += chunk.length)
        if (!res.write(chunk)) await new Promise((resolve) => void res.once('drain', resolve));
      res.end();
    };
    const connection = rawConnection(world.url);
    connection.socket.pause();
    connection.write(`GET /v1/bubbles/open HTTP/1.1\r\n${HEAD}\r\n`);
    await until(() => written > 0);
    let before = -1;
    while (before !== written) {
      before = written;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(written).toBeLessThan(size);
    connection.socket.resume();
    const text = await connection.received;
    expect(text.length).toBeGreaterThan(size);
    expect(text.endsWith('0\r\n\r\n')).toBe(true);
  });

  it('[GEN-14] a client that reads nothing is cut, and lets go of the connection to the service', async () => {
    const other = await startWorld({ limits: { readerStallMs: 200, placesPerAddress: 1 } });
    other.bubbles.handle = (req, res) => void res.end(Buffer.alloc(req.url === '/v1/bubbles/open' ? 48 * 1024 * 1024 : 10, 'z'));
    const idler = rawConnection(other.url);
    idler.socket.pause();
    idler.write(`GET /v1/bubbles/open HTTP/1.1\r\n${HEAD}\r\n`);
    await until(() => other.bubbles.seen.length === 1);
    expect((await other.fetch('/v1/bubbles/42', { headers: AUTHORIZATION })).status).toBe(200);
    idler.socket.destroy();
    await other.stop();
  });

  it('[ERR-05] a client that reads too slowly for too long is cut', async () => {
    const brief = await startWorld({ limits: { exchangeTimeoutMs: 3000 } });
    brief.bubbles.handle = (_, res) => {
      res.on('error', () => undefined);
      res.write(Buffer.alloc(16 * 1024 * 1024));
    };
    const connection = rawConnection(brief.url);
    connection.write(`GET /v1/bubbles/open HTTP/1.1\r\n${HEAD}\r\n`);
    await connection.receivedMatching(/^HTTP\/1\.1 200 /);
    connection.socket.pause();
    await until(() => brief.gateway.inFlight() === 0);
    connection.socket.destroy();
    expect(brief.log.lines.at(-1)?.fields).toMatchObject({ route: '/v1/bubbles/open', aborted: true });
    await brief.stop();
  });

  it('[GEN-08] HEAD has the headers of GET and no body', async () => {
    world.bubbles.handle = (_, res) => void res.writeHead(200, { 'content-length': '1234', 'x-own': 'kept' }).end();
    const text = await rawExchange(world.url, `HEAD /v1/bubbles/open HTTP/1.1\r\n${HEAD}\r\n`);
    expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*content-length: 1234\r\n[\s\S]*\r\n\r\n$/i);
    expect(text).toContain('x-own: kept');
    expect(world.bubbles.seen[0]?.method).toBe('HEAD');
  });

  it('[GEN-08] 304 and 204 pass without a body', async () => {
    world.bubbles.handle = (_, res) => void res.writeHead(304, { etag: '"a"', 'content-length': '10' }).end();
    const unchanged = await world.fetch('/v1/bubbles/open', { headers: { 'if-none-match': '"a"' } });
    expect([unchanged.status, unchanged.headers.get('etag'), await unchanged.text()]).toEqual([304, '"a"', '']);
    world.bubbles.handle = (_, res) => void res.writeHead(204).end();
    const gone = await world.fetch('/v1/bubbles/42', { method: 'DELETE', headers: AUTHORIZATION });
    expect([gone.status, gone.headers.get('content-length'), await gone.text()]).toEqual([204, null, '']);
  });

  it('[ERR-05] redirects of a service reach the client and are not followed', async () => {
    world.identity.handle = (_, res) =>
      void res.writeHead(302, { location: 'https://app.test/callback?code=1', 'set-cookie': ['a=1', 'b=2'] }).end();
    const response = await world.fetch('/oauth/authorize?client_id=1');
    expect([response.status, response.headers.get('location')]).toEqual([302, 'https://app.test/callback?code=1']);
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
  });

  it('[GEN-08] Upgrade is ignored', async () => {
    const text = await rawExchange(
      world.url,
      'GET /v1/bubbles/open HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n',
    );
    expect(text).toMatch(/^HTTP\/1\.1 200 /);
    expect(world.bubbles.seen[0]?.headers).not.toHaveProperty('upgrade');
    expect(world.bubbles.seen[0]?.headers).not.toHaveProperty('http2-settings');
  });
});

describe('answers of a service that misbehaves', () => {
  let crooked: Server;
  let answerWith: (socket: Socket) => void;
  let other: World;
  let crookedUrl: string;
  const sockets = new Set<Socket>();
  beforeAll(async () => {
    crooked = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
      socket.once('data', (head) => {
        if (!head.toString().startsWith('GET /internal/')) return answerWith(socket);
        const text = JSON.stringify(BUBBLES_FRAGMENT);
        socket.end(`HTTP/1.1 200 OK\r\nETag: "1"\r\nContent-Length: ${text.length}\r\nConnection: close\r\n\r\n${text}`);
      });
    });
    await new Promise<void>((resolve) => void crooked.listen(0, '127.0.0.1', resolve));
    const address = crooked.address();
    crookedUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
    other = await startWorld({ config: { upstreams: { 'bubbles-query': [crookedUrl] } } });
  });
  afterAll(async () => {
    await other.stop();
    for (const socket of sockets) socket.destroy();
    crooked.close();
  });
  const ask = (url = other.url) => rawExchange(url, 'GET /v1/bubbles/open HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');

  it.each([
    ['a promised length', 'Content-Length: 100\r\n\r\nhalf'],
    ['chunks without an end', 'Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n'],
  ])('[ERR-05] an answer that breaks off (%s) cuts the client too', async (_, rest) => {
    answerWith = (socket) => void socket.end(`HTTP/1.1 200 OK\r\n${rest}`);
    const text = await ask();
    expect(text).toMatch(/^HTTP\/1\.1 200 OK/);
    expect(text).not.toMatch(/0\r\n\r\n$/);
    expect(text).not.toContain('internal_error');
  });

  it('[ERR-05] a close-delimited answer to an HTTP/1.0 client is told from a broken one by the reset', async () => {
    answerWith = (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n');
      socket.end();
    };
    const connection = rawConnection(other.url);
    const failure = new Promise<boolean>((resolve) => void connection.socket.on('close', resolve));
    connection.write('GET /v1/bubbles/open HTTP/1.0\r\nHost: a\r\n\r\n');
    expect(await failure).toBe(true);
  });

  it.each([
    ['nothing', ''],
    ['half a head', 'HTTP/1.1 200 OK\r\nContent-'],
    ['no HTTP', 'SSH-2.0-OpenSSH\r\n\r\n'],
    ['two framings', 'HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n'],
    ['an upgrade that nobody asked for', 'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n'],
  ])('[ERR-05] %s gives 500 with Retry-After', async (_, bytes) => {
    answerWith = (socket) => void socket.end(bytes);
    const text = await ask();
    expect(text).toMatch(/^HTTP\/1\.1 500 /);
    expect(text).toMatch(/Retry-After: \d+\r\n/);
    expect(text).toContain('X-Gateway-Reason: upstream-down');
    expect(text).toContain('"internal_error"');
    await other.gateway.refresh();
  });

  it('[ERR-05] Trailer beside Content-Length does not end the process', async () => {
    answerWith = (socket) => void socket.end('HTTP/1.1 200 OK\r\nTrailer: x-late\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok');
    const text = await ask();
    expect(text).toMatch(/^HTTP\/1\.1 200 OK[\s\S]*ok$/);
    expect(text.toLowerCase()).not.toContain('trailer');
  });

  it('[ERR-05] interim answers are passed over', async () => {
    answerWith = (socket) =>
      void socket.end('HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok');
    expect(await ask()).toMatch(/^HTTP\/1\.1 200 OK/);
  });

  it('[ERR-05] silence gives 500 within the time limit', async () => {
    const quick = await startWorld({ limits: QUICK, config: { upstreams: { 'bubbles-query': [crookedUrl] } } });
    answerWith = () => undefined;
    const text = await ask(quick.url);
    expect(text).toMatch(/^HTTP\/1\.1 500 /);
    expect(text).toContain('X-Gateway-Reason: upstream-timeout');
    await until(() => sockets.size <= 1);
    await quick.stop();
  });
});
