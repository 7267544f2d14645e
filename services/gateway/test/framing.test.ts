import { MAX_HEADER_FIELDS } from '@bubbles/http/wire/framing.ts';
import { rawConnection, rawExchange } from '@bubbles/testing/raw-http.ts';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { startWorld, TOKEN, type World } from './start.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());
beforeEach(() => {
  world.bubbles.seen.length = 0;
});

const HOST = 'Host: api.test\r\n';
const CLOSE = 'Connection: close\r\n';
const AUTH = `Authorization: Bearer ${TOKEN}\r\n`;

const statusOf = (response: string): number => Number(/^HTTP\/1\.1 (\d{3}) /.exec(response)?.[1]);
const responsesIn = (text: string): number => text.match(/^HTTP\/1\.1 /gm)?.length ?? 0;

const expectRefusal = (response: string): void => {
  expect(statusOf(response)).toBe(400);
  expect(response.toLowerCase()).toContain('x-request-id: ');
  expect(JSON.parse(response.slice(response.indexOf('\r\n\r\n') + 4))).toEqual({
    error: { type: 'invalid_request', message: expect.any(String) },
  });
  expect(world.bubbles.seen).toEqual([]);
};

describe('framing that cannot be trusted', () => {
  it.each([
    [
      'Content-Length and Transfer-Encoding',
      `POST /v1/bubbles/open HTTP/1.1\r\n${HOST}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    ['two different Content-Lengths', `POST /v1/bubbles/open HTTP/1.1\r\n${HOST}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!`],
    ['gzip before chunked', `POST /v1/bubbles/open HTTP/1.1\r\n${HOST}${CLOSE}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`],
    ['a coding that is nearly chunked', `POST /v1/bubbles/open HTTP/1.1\r\n${HOST}${CLOSE}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`],
    ['chunked, then identity', `POST /v1/bubbles/open HTTP/1.1\r\n${HOST}${CLOSE}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`],
    [
      'chunked twice',
      `POST /v1/bubbles/open HTTP/1.1\r\n${HOST}${CLOSE}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    ['chunked in HTTP/1.0', `POST /v1/bubbles/open HTTP/1.0\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['a blank before the colon', `GET /v1/bubbles/open HTTP/1.1\r\n${HOST}X-A : b\r\n\r\n`],
    ['a folded header', `GET /v1/bubbles/open HTTP/1.1\r\n${HOST}X-A: b\r\n c\r\n\r\n`],
    ['no Host', `GET /v1/bubbles/open HTTP/1.1\r\n${CLOSE}\r\n`],
    ['no Host in HTTP/1.0', 'GET /v1/bubbles/open HTTP/1.0\r\n\r\n'],
    ['an empty Host', `GET /v1/bubbles/open HTTP/1.1\r\nHost:\r\n${CLOSE}\r\n`],
    ['two Hosts', `GET /v1/bubbles/open HTTP/1.1\r\n${HOST}Host: evil.test\r\n${CLOSE}\r\n`],
    ['a Host with a user', `GET /v1/bubbles/open HTTP/1.1\r\nHost: good.test:80@evil.test\r\n${CLOSE}\r\n`],
    ['a Host with a path', `GET /v1/bubbles/open HTTP/1.1\r\nHost: good.test/evil\r\n${CLOSE}\r\n`],
    ['a Host with markup', `GET /v1/bubbles/open HTTP/1.1\r\nHost: a b<script>\r\n${CLOSE}\r\n`],
    ['an absolute target', `GET http://evil.test/v1/bubbles/open HTTP/1.1\r\n${HOST}${CLOSE}\r\n`],
    ['the asterisk', `OPTIONS * HTTP/1.1\r\n${HOST}${CLOSE}\r\n`],
    ['HTTP/0.9', 'GET /v1/bubbles/open\r\n\r\n'],
    ['HTTP/0.9 with a body', 'GET /v1/bubbles/open\nHost: a\r\nContent-Length: 5\r\n\r\nhello'],
    ['HTTP/2 in clear', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['a version that does not exist', `GET /v1/bubbles/open HTTP/1.2\r\n${HOST}\r\n`],
    ['CONNECT', `CONNECT evil.test:443 HTTP/1.1\r\n${HOST}\r\n`],
    ['more headers than a hundred', `GET /v1/bubbles/open HTTP/1.1\r\n${HOST}${CLOSE}${'X-A: b\r\n'.repeat(200)}\r\n`],
    ['a target of 20 kB', `GET /v1/bubbles/${'a'.repeat(20_000)} HTTP/1.1\r\n${HOST}\r\n`],
    ['a token of 20 kB', `GET /v1/bubbles HTTP/1.1\r\n${HOST}Authorization: Bearer ${'a'.repeat(20_000)}\r\n\r\n`],
    [
      'a chunk extension of 20 kB',
      `POST /v1/bubbles/open HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n5;${'x'.repeat(20_000)}\r\nhello\r\n0\r\n\r\n`,
    ],
    ['a chunk size that is none', `POST /v1/bubbles/open HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n5x\r\nhello\r\n0\r\n\r\n`],
    ['raw UTF-8 in the target', `GET /v1/bubbles/\xc3\xa9 HTTP/1.1\r\n${HOST}${CLOSE}\r\n`],
  ])('[GEN-08] refuses %s', async (_, bytes) => {
    expectRefusal(await rawExchange(world.url, Buffer.from(bytes, 'latin1')));
  });
});

describe('headers', () => {
  const linesOf = (count: number) => `GET /v1/bubbles/42 HTTP/1.1\r\n${HOST}${AUTH}${CLOSE}${'X-A: b\r\n'.repeat(count - 3)}\r\n`;

  it('[GEN-08] up to a hundred go on to the service with those that the gateway adds, and one more is refused by its own limit', async () => {
    expect(statusOf(await rawExchange(world.url, linesOf(100)))).toBe(200);
    expect((world.bubbles.seen.at(-1)?.rawHeaders.length ?? 0) / 2).toBeGreaterThan(100);
    expect((world.bubbles.seen.at(-1)?.rawHeaders.length ?? 0) / 2).toBeLessThanOrEqual(MAX_HEADER_FIELDS);
    const refused = await rawExchange(world.url, linesOf(101));
    expect([statusOf(refused), refused]).toEqual([400, expect.stringContaining('at most 100 headers')]);
  });
});

describe('requests that hide another', () => {
  it('[GEN-08] a chunked DELETE goes on with its body, which never becomes a second request', async () => {
    const hidden = 'GET /v1/bubbles/hidden HTTP/1.1\r\nHost: a\r\n\r\n';
    const chunk = `${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`;
    const response = await rawExchange(
      world.url,
      `DELETE /v1/bubbles/42 HTTP/1.1\r\n${HOST}${AUTH}${CLOSE}Transfer-Encoding: chunked\r\n\r\n${chunk}`,
    );
    expect(statusOf(response)).toBe(200);
    expect(responsesIn(response)).toBe(1);
    expect(world.bubbles.seen.map(({ method, url, body }) => [method, url, body])).toEqual([['DELETE', '/v1/bubbles/42', hidden]]);
    expect(world.bubbles.seen[0]?.headers['transfer-encoding']).toBeUndefined();
  });

  it('[GEN-08] a DELETE without a body has no framing at all', async () => {
    await world.fetch('/v1/bubbles/42', { method: 'DELETE', headers: { authorization: `Bearer ${TOKEN}` } });
    expect(world.bubbles.seen[0]?.headers).not.toHaveProperty('transfer-encoding');
    expect(world.bubbles.seen[0]?.headers).not.toHaveProperty('content-length');
  });

  it('[GEN-08] pipelined requests are answered in their order', async () => {
    const one = (id: string, more = '') => `GET /v1/bubbles/${id} HTTP/1.1\r\n${HOST}${AUTH}${more}\r\n`;
    const text = await rawExchange(world.url, one('1') + one('2') + one('3', CLOSE));
    expect([...text.matchAll(/"url":"([^"]+)"/g)].map(([, url]) => url)).toEqual(['/v1/bubbles/1', '/v1/bubbles/2', '/v1/bubbles/3']);
  });

  it('[GEN-08] what is malformed behind a good request does not take its answer', async () => {
    const answer = Promise.withResolvers<void>();
    world.bubbles.handle = async (_, res) => {
      await answer.promise;
      res.end('good');
    };
    const connection = rawConnection(world.url);
    connection.write(`GET /v1/bubbles/open HTTP/1.1\r\n${HOST}\r\nBROKEN\r\n\r\n`);
    while (world.bubbles.seen.length === 0) await new Promise(setImmediate);
    answer.resolve();
    const text = await connection.received;
    expect(text).toMatch(/^HTTP\/1\.1 200 [\s\S]*good[\s\S]*HTTP\/1\.1 400 /);
    world.bubbles.handle = (_, res, seen) => void res.end(JSON.stringify(seen));
  });
});
