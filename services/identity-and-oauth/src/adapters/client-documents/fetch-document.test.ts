import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { addressPolicy } from '@bubbles/address-guard/public-address.ts';
import type { Resolver } from '@bubbles/address-guard/resolver.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import { testData } from '@bubbles/testing/test-data.ts';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createDocumentFetcher } from './fetch-document.ts';

const NAME = 'receiver.example.com';
const CA = testData('certificates/ca.pem');
/** For fetches that wait until it is over. */
const SOON_MS = 300;
const MAX_BYTES = 5 * 1024;
const JSON_TYPE = { 'content-type': 'application/json' };

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const thing of open.splice(0)) await thing.close();
});

/** The port of an https server of this machine, under the certificate of that name. */
const serve = async (handler: RequestListener, certificate = 'receiver'): Promise<number> => {
  const [cert, key] = ['pem', 'key'].map((end) => testData(`certificates/${certificate}.${end}`));
  const server = createServer({ cert, key }, handler);
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket.on('error', () => null)));
  server.on('tlsClientError', () => null);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push({
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  });
  // A listening TCP server has an address of this form.
  return (server.address() as AddressInfo).port;
};

interface Setting {
  readonly allow?: readonly string[];
  readonly addresses?: readonly string[];
  readonly resolver?: Resolver;
  readonly timeLimitMs?: number;
}
const fetcher = ({ allow = ['127.0.0.1/32'], addresses = ['127.0.0.1'], resolver, timeLimitMs = 10_000 }: Setting = {}) => {
  const noRecord = () => Promise.reject(Object.assign(new Error('no record'), { code: 'ENODATA' }));
  const made = createDocumentFetcher({
    policy: { addresses: addressPolicy({ allow, deny: [] }), http: false, loopback: false },
    resolver: resolver ?? { resolve4: () => Promise.resolve([...addresses]), resolve6: noRecord },
    extraCa: [CA],
    timeLimitMs,
  });
  open.push(made);
  return made;
};
const fetchFrom = (port: number, setting?: Setting) => fetcher(setting).fetch(new URL(`https://${NAME}:${port}/app.json`));
const faultOf = (fetched: Promise<unknown>) =>
  fetched.then(
    () => 'fetched',
    (error) => `${error.kind}: ${error.message}`,
  );
const sent = (headers: Record<string, string>, body: string | Uint8Array) => async () => {
  const port = await serve((_request, response) => response.writeHead(200, headers).end(body));
  return faultOf(fetchFrom(port));
};

describe('a client metadata document', () => {
  it('is fetched by one GET without a cookie or a credential', async () => {
    const seen: unknown[] = [];
    const port = await serve((request, response) => {
      seen.push([request.method, request.url, request.headers]);
      response.writeHead(200, JSON_TYPE).end('{"client_id":"x"}');
    });
    expect(await fetchFrom(port)).toEqual({ fields: { client_id: 'x' }, maxAgeSeconds: null });
    const headers = { host: `${NAME}:${port}`, accept: 'application/json', 'accept-encoding': 'identity', connection: 'close' };
    expect(seen).toEqual([['GET', '/app.json', { ...headers, 'user-agent': 'oauth-client-metadata/1' }]]);
  });

  it.each([
    ['nothing', {}, null],
    ['max-age', { 'cache-control': 'public, max-age=600' }, 600],
    ['a quoted max-age', { 'cache-control': 'Max-Age="600"' }, 600],
    ['the age that it has already', { 'cache-control': 'max-age=600', age: '100' }, 500],
    ['an age that is none', { 'cache-control': 'max-age=600', age: 'old' }, 600],
    ['no-store', { 'cache-control': 'max-age=600, no-store' }, 0],
    ['no-cache', { 'cache-control': 'no-cache' }, 0],
    ['another directive that ends so', { 'cache-control': 'x-max-age=600' }, null],
  ])('says how long it may be kept by %s', async (_what, headers, maxAgeSeconds) => {
    const port = await serve((_request, response) => response.writeHead(200, { ...JSON_TYPE, ...headers }).end('{}'));
    expect(await fetchFrom(port)).toEqual({ fields: {}, maxAgeSeconds });
  });

  it('may be as large as the limit and have a media type that ends in +json', async () => {
    const body = `{"a":"${'x'.repeat(MAX_BYTES - 8)}"}`;
    expect(Buffer.byteLength(body)).toBe(MAX_BYTES);
    expect(await sent({ 'content-type': 'application/client+json; charset=utf-8' }, body)()).toBe('fetched');
  });

  it.each([
    ['one byte too many', sent(JSON_TYPE, `{"a":"${'x'.repeat(MAX_BYTES - 7)}"}`), 'at most 5120 bytes'],
    ['HTML', sent({ 'content-type': 'text/html' }, '{}'), 'Content-Type application/json'],
    ['no media type', sent({}, '{}'), 'Content-Type application/json'],
    ['another type that begins so', sent({ 'content-type': 'application/jsonp' }, '{}'), 'Content-Type application/json'],
    ['a compressed body', sent({ ...JSON_TYPE, 'content-encoding': 'gzip' }, '{}'), 'without Content-Encoding'],
    ['broken JSON', sent(JSON_TYPE, '{"a":'), 'well-formed JSON'],
    ['bytes that are not UTF-8', sent(JSON_TYPE, new Uint8Array([0x22, 0xff, 0x22])), 'well-formed JSON'],
    ['an empty body', sent(JSON_TYPE, ''), 'well-formed JSON'],
    ['a list', sent(JSON_TYPE, '[]'), 'a JSON object'],
    ['null', sent(JSON_TYPE, 'null'), 'a JSON object'],
  ])('[case 94] is refused: %s', async (_what, answer, fault) => {
    expect(await answer()).toMatch(new RegExp(`^invalid: client_id: the metadata document .*${fault}`));
  });

  it('[case 94] is not read further than the limit', async () => {
    const closed = Promise.withResolvers<number>();
    const port = await serve((_request, response) => {
      response.writeHead(200, JSON_TYPE);
      let bytes = 0;
      const timer = setInterval(() => {
        bytes += 1024;
        response.write('x'.repeat(1024));
      }, 1);
      response.on('close', () => {
        clearInterval(timer);
        closed.resolve(bytes);
      });
    });
    expect(await faultOf(fetchFrom(port))).toContain('at most 5120 bytes');
    await closed.promise;
  });

  it.each([301, 302, 303, 307, 308])('[case 93] is not looked for where a redirect of %i points', async (status) => {
    const paths: (string | undefined)[] = [];
    const port = await serve((request, response) => {
      paths.push(request.url);
      response.writeHead(status, { ...JSON_TYPE, location: '/elsewhere.json' }).end('{}');
    });
    expect(await faultOf(fetchFrom(port))).toContain(`the answer had ${status}`);
    expect(paths).toEqual(['/app.json']);
  });

  it.each([201, 204, 206, 404, 410, 429, 500, 503])('is none with status %i', async (status) => {
    const port = await serve((_request, response) => response.writeHead(status, JSON_TYPE).end());
    expect(await faultOf(fetchFrom(port))).toContain(`the answer had ${status}`);
  });

  it.each<[string, RequestListener]>([
    ['never answers', () => null],
    [
      'sends its head line by line',
      ({ socket }) => {
        socket.write('HTTP/1.1 200 OK\r\n');
        drip(socket, 'X: 1\r\n');
      },
    ],
    ['never ends its body', (_request, response) => response.writeHead(200, JSON_TYPE).write('{')],
    ['sends its body byte by byte', (_request, response) => drip(response.writeHead(200, JSON_TYPE), ' ')],
  ])('[case 94] is given up after the time limit when its server %s', async (_what, handler) => {
    const port = await serve(handler);
    expect(await faultOf(fetchFrom(port, { timeLimitMs: SOON_MS }))).toBe(
      'invalid: client_id: the metadata document could not be fetched.',
    );
  });

  it.each<[string, RequestListener]>([
    ['closes at once', (request) => request.socket.destroy()],
    ['closes in the middle', (_request, response) => response.writeHead(200, { ...JSON_TYPE, 'content-length': '9' }).end('{}')],
    ['sends no HTTP', (request) => request.socket.end('hello\r\n\r\n')],
    ['sends a head without end', (request) => request.socket.write(`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(20_000)}`)],
  ])('could not be fetched when its server %s', async (_what, handler) => {
    expect(await faultOf(fetchFrom(await serve(handler)))).toBe('invalid: client_id: the metadata document could not be fetched.');
  });

  it.each(['stranger', 'expired', 'localhost'])('is not taken from a server with the certificate %s', async (certificate) => {
    const port = await serve((_request, response) => response.writeHead(200, JSON_TYPE).end('{}'), certificate);
    expect(await faultOf(fetchFrom(port))).toContain('could not be fetched');
  });

  it.each([
    ['127.0.0.1', []],
    ['10.0.0.1', []],
    ['169.254.169.254', []],
    ['192.168.1.1', ['127.0.0.1/32']],
  ])('[case 94] is not fetched when its name resolves to %s', async (address, allow) => {
    let requests = 0;
    const port = await serve((_request, response) => {
      requests += 1;
      response.writeHead(200, JSON_TYPE).end('{}');
    });
    expect(await faultOf(fetchFrom(port, { allow, addresses: [address] }))).toContain('could not be fetched');
    expect(requests).toBe(0);
  });

  it('is unavailable, and not wrong, while no name server can be asked', async () => {
    const away = () => Promise.reject(new DomainError('unavailable', 'No name server can be asked.'));
    expect(await faultOf(fetchFrom(1, { resolver: { resolve4: away, resolve6: away } }))).toBe('unavailable: No name server can be asked.');
  });
});

/** Writes the piece again and again until the other end has gone. */
const drip = (to: { write(piece: string): unknown; on(event: 'close', listener: () => void): unknown }, piece: string): void => {
  const timer = setInterval(() => to.write(piece), 20);
  to.on('close', () => clearInterval(timer));
};
