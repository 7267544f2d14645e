import { startTestHttp, type TestHttp } from '@bubbles/testing/http.ts';
import { rawConnection, rawExchange } from '@bubbles/testing/raw-http.ts';
import { sampleRoutes } from '@bubbles/testing/sample-routes.ts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { cookieValue } from './framing.ts';

const GET = 'GET /v1/things HTTP/1.1\r\n';
const POST = 'POST /v1/things HTTP/1.1\r\nHost: a.test\r\nContent-Type: application/json\r\n';
const END = 'Connection: close\r\n\r\n';

describe('requests on the bare wire', () => {
  let http: TestHttp;
  beforeAll(async () => {
    http = await startTestHttp({ routes: sampleRoutes() });
  });
  afterAll(() => http.stop());

  it.each([
    ['no Host', `${GET}${END}`],
    ['two Hosts', `${GET}Host: a.test\r\nHost: b.test\r\n${END}`],
    ['a Host with a user', `${GET}Host: good.test:80@evil.test\r\n${END}`],
    ['a Host that is none', `${GET}Host: a b<script>\r\n${END}`],
    ['an empty Host', `${GET}Host:\r\n${END}`],
    ['a Host with two names', `${GET}Host: a.test, b.test\r\n${END}`],
    ['a Host with an empty label', `${GET}Host: a..test\r\n${END}`],
    ['a Host with a port that there is not', `${GET}Host: a.test:70000\r\n${END}`],
    ['an absolute target', `GET http://evil.test/v1/things HTTP/1.1\r\nHost: a.test\r\n${END}`],
    ['a target that names a host behind two slashes', `GET //%@evil.test# HTTP/1.1\r\nHost: a.test\r\n${END}`],
    ['HTTP/1.0 without Host', 'GET /v1/things HTTP/1.0\r\n\r\n'],
    ['a request line without a version', 'GET /v1/things\r\nHost: a.test\r\nContent-Length: 5\r\n\r\nhello'],
    ['HTTP/2.0', `GET /v1/things HTTP/2.0\r\nHost: a.test\r\n${END}`],
    ['two different Content-Lengths', `${POST}Content-Length: 12\r\nContent-Length: 13\r\n${END}{"name":"a"}`],
    ['Content-Length and Transfer-Encoding', `${POST}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n${END}0\r\n\r\n`],
    ['Transfer-Encoding gzip, chunked', `${POST}Transfer-Encoding: gzip, chunked\r\n${END}0\r\n\r\n`],
    ['Transfer-Encoding xchunked', `${POST}Transfer-Encoding: xchunked\r\n${END}0\r\n\r\n`],
    ['Transfer-Encoding chunked, identity', `${POST}Transfer-Encoding: chunked, identity\r\n${END}0\r\n\r\n`],
    ['a folded header', `${GET}Host: a.test\r\nX-A: 1\r\n 2\r\n${END}`],
    ['a blank before the colon', `${GET}Host: a.test\r\nX-A : 1\r\n${END}`],
    ['a negative Content-Length', `${POST}Content-Length: -1\r\n${END}`],
    ['a chunk extension of 20 kB', `${POST}Transfer-Encoding: chunked\r\n${END}1;${'x'.repeat(20_000)}\r\na\r\n0\r\n\r\n`],
    ['a malformed chunk', `${POST}Transfer-Encoding: chunked\r\n${END}zz\r\n`],
    ['a target of 40 kB', `GET /v1/things?q=${'x'.repeat(40_000)} HTTP/1.1\r\nHost: a.test\r\n${END}`],
    ['a token of 40 kB', `${GET}Host: a.test\r\nAuthorization: Bearer ${'x'.repeat(40_000)}\r\n${END}`],
    ['garbage', '\x16\x03\x01\x02\r\n\r\n'],
    ['CONNECT', 'CONNECT evil.test:443 HTTP/1.1\r\nHost: evil.test:443\r\n\r\n'],
  ])('[GEN-08] %s is refused with the envelope, and the connection ends', async (_, bytes) => {
    const answer = await rawExchange(http.url, bytes);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toMatch(/^connection: close\r$/im);
    expect(answer).toMatch(/^x-request-id: \S+\r$/im);
    expect(answer).toMatch(/^content-type: application\/json; charset=utf-8\r$/im);
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4))).toMatchObject({ error: { type: 'invalid_request' } });
    expect((await http.fetch('/v1/things/search?q=alive')).status).toBe(200);
  });

  it.each([
    ['Upgrade is ignored', `${GET}Host: a.test\r\nUpgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings, close\r\nHTTP2-Settings: x\r\n\r\n`],
    ['an unknown expectation is ignored', `${GET}Host: a.test\r\nExpect: the-best\r\n${END}`],
    ['a Host with a port', `${GET}Host: a.test:8443\r\n${END}`],
    ['a Host with an underscore', `${GET}Host: bubbles_gateway:8080\r\n${END}`],
    ['a Host with an empty port', `${GET}Host: a.test:\r\n${END}`],
    ['an IPv6 Host', `${GET}Host: [::1]:8080\r\n${END}`],
    ['HTTP/1.0 with Host', 'GET /v1/things HTTP/1.0\r\nHost: a.test\r\n\r\n'],
  ])('[GEN-08] %s', async (_, bytes) => {
    expect(await rawExchange(http.url, bytes)).toMatch(/^HTTP\/1\.1 403 /);
  });

  it('[GEN-08] more than a hundred headers do not reach a handler', async () => {
    const many = Array.from({ length: 200 }, (_, index) => `X-${index}: 1\r\n`).join('');
    const answer = await rawExchange(http.url, `${GET}Host: a.test\r\n${many}${END}`);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('a second request on the same connection is a request of its own', async () => {
    const connection = rawConnection(http.url);
    connection.write(`${GET}Host: a.test\r\n\r\n`.repeat(3));
    const answers = await connection.receivedMatching(/(?:HTTP\/1\.1 403[\s\S]*){3}}}$/);
    const ids = [...answers.matchAll(/^x-request-id: (\S+)\r$/gim)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(3);
    connection.socket.destroy();
  });
});

describe('cookies', () => {
  const NO_BREAK_SPACE = '\u00a0';
  const NAME = '__Host-session';

  it.each([`a=b; ${NAME}=s`, `${NAME}=s; a=b`, `a=b;\t${NAME}=s`])('are read as browsers write them: %j', (header) => {
    expect(cookieValue([header], NAME)).toBe('s');
  });
  it.each([
    `${NO_BREAK_SPACE}${NAME}=s`,
    `a=b; ${NO_BREAK_SPACE}${NAME}=s`,
    `${NAME}${NO_BREAK_SPACE}=s`,
    `\ufeff${NAME}=s`,
    `${NAME} =s`,
    `${NAME}=${NO_BREAK_SPACE}s`,
  ])('have the name that the browser saw, since it holds the prefix to its rules by that: %j', (header) => {
    expect(cookieValue([header], NAME)).toBeNull();
  });
  it('are not hidden by a name that only looks like theirs', () => {
    expect(cookieValue([`${NO_BREAK_SPACE}${NAME}=theirs; ${NAME}=ours`], NAME)).toBe('ours');
  });
});
