import { gzipSync } from 'node:zlib';
import { rawConnection } from '@bubbles/testing/raw-http.ts';
import { expect } from '@jest/globals';
import { type Check, type Checks, expectRawRefusal, expectRefusal, type Lab, NOT_FOUND, REFUSED, readRaw, request } from './lab.ts';

const DOCUMENT = '/v1/openapi.json';
const keyCall = async (lab: Lab, body: string | undefined, headers: Readonly<Record<string, string>> = {}) =>
  lab.call('/v1/api-keys', { method: 'POST', as: (await lab.proUser()).session_token, body, headers });
const refusedBody =
  (...bodies: readonly string[]): Check =>
  async (lab) => {
    for (const body of bodies) expectRefusal(await keyCall(lab, body), REFUSED);
  };
const refusedRequests =
  (...requests: readonly string[]): Check =>
  async (lab) => {
    for (const bytes of requests) await expectRawRefusal(lab, bytes);
  };
const refusedTargets = (...targets: readonly string[]) => refusedRequests(...targets.map((target) => request(`GET ${target} HTTP/1.1`)));
/** Targets of which the answer is that there is nothing. */
const absentTargets =
  (...targets: readonly string[]): Check =>
  async (lab) => {
    const { pat } = await lab.world.user();
    for (const target of targets)
      await expectRawRefusal(lab, request(`GET ${target} HTTP/1.1`, [`Authorization: Bearer ${pat}`]), NOT_FOUND[0]);
  };
/** A create of a key whose body is sent by hand. */
const posted = async (lab: Lab, lines: readonly string[], body = ''): Promise<string> => {
  const { session_token } = await lab.proUser();
  return request(
    'POST /v1/api-keys HTTP/1.1',
    [`Authorization: Bearer ${session_token}`, 'Content-Type: application/json', ...lines],
    body,
  );
};
const MEGABYTE = 1024 * 1024;

export const PROTOCOL_CHECKS: Checks = {
  'JSONBODY-01': async (lab) => {
    const answer = await keyCall(lab, '{"name":"first","name":"last"}');
    if (answer.status === 201) expect(answer.json.name).toBe('last');
    else expectRefusal(answer, REFUSED);
  },
  'JSONBODY-03': async (lab) => {
    const connection = rawConnection(lab.sandbox.url);
    connection.write(await posted(lab, [`Content-Length: ${MEGABYTE}`]));
    const answer = readRaw(await connection.receivedMatching(/\}\}$/));
    connection.socket.destroy();
    expect([answer.status, JSON.parse(answer.body).error.type]).toEqual(REFUSED);
    expect(answer.head).toMatch(/^connection: close/im);
  },
  'JSONBODY-04': async (lab) => {
    const connection = rawConnection(lab.sandbox.url);
    connection.write(await posted(lab, ['Transfer-Encoding: chunked']));
    for (let sent = 0; sent < 8; sent++) connection.write(`${(64 * 1024).toString(16)}\r\n${' '.repeat(64 * 1024)}\r\n`);
    const answer = readRaw(await connection.receivedMatching(/\}\}$/));
    connection.socket.destroy();
    expect([answer.status, JSON.parse(answer.body).error.type]).toEqual(REFUSED);
  },
  'JSONBODY-06': async (lab) => {
    const statuses = await Promise.all([1, 2].map(async () => (await keyCall(lab, '\ufeff{"name":"a"}')).status));
    expect([
      [201, 201],
      [400, 400],
    ]).toContainEqual(statuses);
  },
  'JSONBODY-08': async (lab) => {
    const zipped = gzipSync('{"name":"a"}');
    for (const coding of ['gzip', 'gzip, gzip', 'br', 'deflate', 'zstd']) {
      const head = await posted(lab, [`Content-Encoding: ${coding}`, `Content-Length: ${zipped.length}`]);
      await expectRawRefusal(lab, Buffer.concat([Buffer.from(head), zipped]));
    }
  },
  'JSONBODY-09': refusedBody(
    '{}x',
    '',
    'null',
    '[]',
    '"str"',
    '1',
    'NaN',
    '{a:1}',
    '{"name":"a",}',
    '{"name":"a"}/* */',
    '// \n{"name":"a"}',
  ),
  'JSONBODY-11': async (lab) => {
    const { pat, session_token } = await lab.proUser();
    const body = '{"name":"a"}';
    const with_ = (line: string, token: string) =>
      lab.raw(request(line, [`Authorization: Bearer ${token}`, 'Content-Type: application/json', `Content-Length: ${body.length}`], body));
    expect([200, 400]).toContain(readRaw(await with_('GET /v1/me HTTP/1.1', pat)).status);
    expect([200, 400]).toContain(readRaw(await with_('GET /v1/bubbles HTTP/1.1', pat)).status);
    expect([404, 400]).toContain(readRaw(await with_('DELETE /v1/api-keys/x HTTP/1.1', session_token)).status);
  },
  'HTTPPROTOCOL-02': refusedRequests(request(`GET ${DOCUMENT} HTTP/1.1`, ['Content-Length: 1', 'Content-Length: 2'], 'ab')),
  'HTTPPROTOCOL-04': refusedRequests(
    request(`GET ${DOCUMENT} HTTP/1.1`, ['Transfer-Encoding: xchunked'], '0\r\n\r\n'),
    request(`GET ${DOCUMENT} HTTP/1.1`, ['Transfer-Encoding: chunked, identity'], '0\r\n\r\n'),
    request(`GET ${DOCUMENT} HTTP/1.1`, ['X-Folded: a', ' b']),
    request(`GET ${DOCUMENT} HTTP/1.1`, ['X-Spaced : a']),
    request(`GET ${DOCUMENT} HTTP/1.1`, ['Transfer-Encoding: chunked', 'Content-Length: 5'], '0\r\n\r\n'),
  ),
  'HTTPPROTOCOL-05': refusedRequests(request(`GET ${DOCUMENT} HTTP/1.1`, ['Transfer-Encoding: gzip, chunked'], '0\r\n\r\n')),
  'HTTPPROTOCOL-07': async (lab) => {
    await expectRawRefusal(lab, await posted(lab, ['Transfer-Encoding: chunked'], `1;x=${'y'.repeat(20_000)}\r\na\r\n0\r\n\r\n`));
  },
  'HTTPPROTOCOL-09': refusedRequests(`GET ${DOCUMENT} HTTP/1.1\r\nConnection: close\r\n\r\n`),
  'HTTPPROTOCOL-10': refusedRequests(
    ...['good.test:80@evil.test', 'a b', 'a/b', 'a?b', '', 'a,b', 'a\\b'].map((host) =>
      request(`GET ${DOCUMENT} HTTP/1.1`, [`Host: ${host}`]),
    ),
  ),
  'HTTPPROTOCOL-12': refusedTargets('http://evil/v1/me', 'https://evil/v1/openapi.json', `http://api.test${DOCUMENT}`),
  'HTTPPROTOCOL-14': async (lab) => {
    const answer = await lab.call('/v1/bubbles', { method: 'PUT' });
    expectRefusal(answer, NOT_FOUND);
    expect(answer.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
  },
  'HTTPPROTOCOL-15': async (lab) => {
    const { pat: as } = await lab.world.user();
    const left = ({ headers }: { headers: Headers }) => Number(/r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1]);
    for (const path of ['/v1/me', '/v1/teams', '/v1/bubbles', '/v1/bubbles/search?q=a', '/v1/bubbles/x', '/v1/webhooks']) {
      const [get, head] = [await lab.call(path, { as }), await lab.call(path, { as, method: 'HEAD' })];
      expect([path, head.status, head.text, left(head)]).toEqual([path, get.status, '', left(get) - 1]);
      expect((await lab.call(path, { method: 'HEAD' })).status).toBe(401);
    }
  },
  'HTTPPROTOCOL-17': async ({ call }) => {
    const answer = await call('/v1/api-keys', { method: 'OPTIONS' });
    expect([answer.status, answer.text, answer.headers.get('allow')]).toEqual([204, '', expect.stringContaining('POST')]);
  },
  'HTTPPROTOCOL-19': refusedRequests(`GET ${DOCUMENT} HTTP/1.0\r\n\r\n`),
  'HTTPPROTOCOL-20': async (lab) => {
    const text = await lab.raw(
      request('POST /v1/api-keys HTTP/1.1', ['Expect: 100-continue', 'Content-Type: application/json', 'Content-Length: 12']),
    );
    expect(text).toMatch(/^HTTP\/1\.1 401 /);
  },
  'HTTPPROTOCOL-22': async (lab) => {
    await absentTargets('/v1/bubbles/a%2Fb')(lab);
    await refusedTargets('/v1/bubbles/%2e%2e%2f', '/v1/bubbles/%2e%2e%2fapi-keys', '/v1/bubbles/a%5cb')(lab);
  },
  'HTTPPROTOCOL-24': async (lab) => {
    await absentTargets('/v1/bubbles/%ff')(lab);
    await refusedTargets('/v1/bubbles/%00', '/v1/bubbles/%ZZ', '/v1/bubbles/%')(lab);
  },
  'HTTPPROTOCOL-25': refusedTargets('//v1/bubbles', '/v1//bubbles', '/v1/./bubbles', '/v1/bubbles/../api-keys'),
  'HTTPPROTOCOL-27': absentTargets('/v1/bubbles;x=1', '/v1/bubbles.json', '/v1/bubbles%20', '/v1/Bubbles', '/v1/bubbles/'),
  'HTTPPROTOCOL-29': async (lab) => {
    const { head } = await expectRawRefusal(lab, request(`GET /v1/${'x'.repeat(20_000)} HTTP/1.1`));
    expect(head).toMatch(/^connection: close/im);
  },
  'HTTPPROTOCOL-30': refusedRequests(
    request(
      `GET ${DOCUMENT} HTTP/1.1`,
      Array.from({ length: 200 }, (_, n) => `X-H-${n}: a`),
    ),
  ),
};
