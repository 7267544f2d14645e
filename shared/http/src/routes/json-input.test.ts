import { gzipSync } from 'node:zlib';
import { startTestHttp, type TestHttp } from '@bubbles/testing/http.ts';
import { rawConnection, rawExchange } from '@bubbles/testing/raw-http.ts';
import { caller } from '@bubbles/testing/requests.ts';
import { sampleRoutes } from '@bubbles/testing/sample-routes.ts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { JSON_BODY_LIMIT_BYTES } from './read-input.ts';

const JSON_TYPE = { 'content-type': 'application/json' };
const nested = (depth: number): string => `{"name":"a","x":${'['.repeat(depth)}${']'.repeat(depth)}}`;

describe('JSON bodies', () => {
  let http: TestHttp;
  beforeAll(async () => {
    http = await startTestHttp({ routes: sampleRoutes(), caller });
  });
  afterAll(() => http.stop());

  const post = async (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = JSON_TYPE) => {
    const answer = await http.fetch('/v1/things', { method: 'POST', body, headers });
    return { status: answer.status, body: JSON.stringify(await answer.json()) };
  };
  const reason = (message: string) => ({ status: 400, body: JSON.stringify({ error: { type: 'invalid_request', message } }) });

  it.each([
    ['a wrong type', '{"name":1}', 'name: must be a string, not a number'],
    ['null where it is not nullable', '{"name":null}', 'name: must be a string, not null'],
    ['an operator in place of text', '{"name":{"$gt":""}}', 'name: must be a string, not an object'],
    ['a list in place of text', '{"name":["a"]}', 'name: must be a string, not a list'],
    ['a missing field', '{}', 'name: is required'],
    ['an empty body', '', 'name: is required'],
    ['a wrong type inside', '{"name":"a","filters":{"mine":"yes"}}', 'filters.mine: must be true or false, not a string'],
    ['a wrong item', '{"name":"a","tags":["a",1]}', 'tags.1: must be a string, not a number'],
    ['rest behind the object', '{}x', 'body: must be well-formed JSON'],
    ['NaN', '{"name":NaN}', 'body: must be well-formed JSON'],
    ['a name without quotes', '{a:1}', 'body: must be well-formed JSON'],
    ['a trailing comma', '{"name":"a",}', 'body: must be well-formed JSON'],
    ['a comment', '{"name":"a"} // why', 'body: must be well-formed JSON'],
    ['a byte order mark', '\ufeff{"name":"a"}', 'body: must be well-formed JSON'],
    ['blanks only', '  ', 'body: must be well-formed JSON'],
    ['null', 'null', 'body: must be a JSON object'],
    ['a list', '[]', 'body: must be a JSON object'],
    ['a text', '"str"', 'body: must be a JSON object'],
    ['a number', '1', 'body: must be a JSON object'],
    ['half a surrogate pair', '{"name":"\\ud800"}', 'name: must be well-formed text without NUL'],
    ['NUL', '{"name":"a\\u0000b"}', 'name: must be well-formed text without NUL'],
    ['NUL in a field that nobody knows', '{"name":"a","x":{"y":["\\u0000"]}}', 'x.y.0: must be well-formed text without NUL'],
    ['NUL in a name', '{"name":"a","x\\u0000":1}', 'body: names must be well-formed text without NUL'],
    ['33 levels', nested(32), 'body: must not be nested deeper than 32'],
    ['30,000 levels', nested(30_000), 'body: must not be nested deeper than 32'],
  ])('[GEN-07] %s is refused and named', async (_, body, message) => {
    expect(await post(body)).toEqual(reason(message));
  });

  it.each([
    ['32 levels', nested(31)],
    ['a field that nobody knows', '{"name":"a","colour":"red"}'],
    ['a key that is there twice, of which the last counts', '{"name":"b","name":"a"}'],
    ['numbers beyond all bounds', '{"name":"a","x":1e400}'],
    ['astral characters', '{"name":"a","x":"\u{1f980}"}'],
  ])('[GEN-07] %s is taken', async (_, body) => {
    expect(await post(body)).toEqual({ status: 201, body: JSON.stringify({ name: 'a', admin: false, keys: ['name'], secret: 'once' }) });
  });

  it.each([
    ['{"name":"a","__proto__":{"isAdmin":true}}'],
    ['{"name":"a","constructor":{"prototype":{"isAdmin":true}}}'],
    ['{"name":"a","filters":{"__proto__":{"mine":true}}}'],
  ])('[GEN-07] %s pollutes nothing', async (body) => {
    const answer = await post(body);
    expect(answer.status).toBe(201);
    expect(JSON.parse(answer.body)).toMatchObject({ admin: false });
    expect('isAdmin' in {}).toBe(false);
  });

  it.each(['{"constructor":1,"name":1}', '{"toString":[],"name":1}', '{"filters":{"constructor":1,"mine":1},"name":"a"}'])(
    '[GEN-07] %s is described, not stumbled over',
    async (body) => {
      expect((await post(body)).status).toBe(400);
    },
  );

  it('[GEN-07] bytes that are not UTF-8 are refused', async () => {
    expect(await post(Uint8Array.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]))).toEqual(reason('body: must be UTF-8'));
  });

  it.each([
    'application/json',
    'Application/JSON',
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"',
    'application/json;',
    'application/json ; ; ',
    'application/json; charset=utf8',
    'application/json; charset=us-ascii;',
    'application/json; odata="a;b\\"c"; charset=UTF-8',
    'application/json; boundary=x',
  ])('[GEN-07] the media type %s is taken', async (type) => {
    expect((await post('{"name":"a"}', { 'content-type': type })).status).toBe(201);
  });

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/json; charset=latin1',
    'application/json-patch+json',
    'application/problem+json',
    'application/jsonx',
    'text/plain; application/json',
    'application/json charset=utf-8',
    'application/json, text/plain',
    'application/json; charset=',
    'application/json; charset=utf-8; charset=utf-16',
    'application/json; profile="open',
    `application/json;${' '.repeat(10_000)}=`,
  ])('[GEN-07] the media type %s is refused', async (type) => {
    expect(await post('{"name":"a"}', { 'content-type': type })).toEqual(reason('body: Content-Type must be application/json'));
  });

  it('[GEN-07] no media type at all is refused', async () => {
    const answer = await rawExchange(
      http.url,
      'POST /v1/things HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\nContent-Length: 12\r\n\r\n{"name":"a"}',
    );
    expect(answer).toContain('Content-Type must be application/json');
  });

  it.each(['gzip', 'br', 'gzip, gzip', 'identity, gzip', 'identit'])('[GEN-07] a body encoded as %s is refused', async (encoding) => {
    const answer = await post(new Uint8Array(gzipSync('{"name":"a"}')), { ...JSON_TYPE, 'content-encoding': encoding });
    expect(answer).toEqual(reason('body: must be sent without Content-Encoding'));
  });

  it.each(['identity', 'Identity'])('[GEN-07] %s is no encoding', async (encoding) => {
    expect((await post('{"name":"a"}', { ...JSON_TYPE, 'content-encoding': encoding })).status).toBe(201);
  });

  describe('size', () => {
    const TOO_LARGE = `body: must have at most ${JSON_BODY_LIMIT_BYTES} bytes`;
    const sized = (bytes: number) => `{"name":"${'a'.repeat(bytes - 11)}"}`;

    it('[GEN-07] 64 KiB is taken, one byte more is refused', async () => {
      expect((await post(sized(JSON_BODY_LIMIT_BYTES))).status).toBe(201);
      expect(await post(sized(JSON_BODY_LIMIT_BYTES + 1))).toEqual(reason(TOO_LARGE));
    });

    it('[GEN-07] a body that says how large it is is refused before it is sent, and the connection ends', async () => {
      const answer = await rawExchange(
        http.url,
        'POST /v1/things HTTP/1.1\r\nHost: a.test\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: 1048576\r\n\r\n',
      );
      expect(answer).toMatch(/^HTTP\/1\.1 400 /);
      expect(answer).toMatch(/^connection: close\r$/im);
      expect(answer).toContain(TOO_LARGE);
    });

    it('[GEN-07] a body in chunks is refused as soon as it is too large', async () => {
      const connection = rawConnection(http.url);
      connection.write('POST /v1/things HTTP/1.1\r\nHost: a.test\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n');
      for (let sent = 0; sent <= JSON_BODY_LIMIT_BYTES; sent += 0x4000) connection.write(`4000\r\n${'a'.repeat(0x4000)}\r\n`);
      const answer = await connection.receivedMatching(/}}$/);
      expect(answer).toMatch(/^HTTP\/1\.1 400 /);
      expect(answer).toContain(TOO_LARGE);
      connection.socket.destroy();
    });

    it('[GEN-07] the sender of a megabyte sees the refusal', async () => {
      expect(await post('a'.repeat(1024 * 1024))).toEqual(reason(TOO_LARGE));
    });
  });

  it('[ERR-08] 401 comes without the body being asked for', async () => {
    http.actAs(null);
    const connection = rawConnection(http.url);
    connection.write(
      'POST /v1/things HTTP/1.1\r\nHost: a.test\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: 12\r\n\r\n',
    );
    expect(await connection.receivedMatching(/}}$/)).toMatch(/^HTTP\/1\.1 401 /);
    connection.socket.destroy();
    http.actAs(caller);
  });

  it('a sender that waits for it is told to go on', async () => {
    const connection = rawConnection(http.url);
    connection.write(
      'POST /v1/things HTTP/1.1\r\nHost: a.test\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: 12\r\n\r\n',
    );
    await connection.receivedMatching(/^HTTP\/1\.1 100 Continue\r\n\r\n$/);
    connection.write('{"name":"a"}');
    expect(await connection.receivedMatching(/}$/)).toMatch(/\r\n\r\nHTTP\/1\.1 201 /);
    connection.socket.destroy();
  });

  it('a body that nobody reads does not spoil the next request', async () => {
    const get = 'GET /v1/things HTTP/1.1\r\nHost: a.test\r\n';
    const answer = await rawExchange(http.url, `${get}Content-Length: 5\r\n\r\nhello${get}Connection: close\r\n\r\n`);
    expect(answer.match(/HTTP\/1\.1 200 /g)).toHaveLength(2);
  });
});
