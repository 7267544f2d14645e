import { networkInterfaces } from 'node:os';
import { rawExchange } from '@bubbles/testing/raw-http.ts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { control, type Sandbox, startSandbox } from './support/sandbox-world.ts';

type Headers = Readonly<Record<string, string>>;
interface Request {
  readonly line?: string;
  readonly headers?: Headers;
  readonly body?: string;
}

const JSON_TYPE = { 'Content-Type': 'application/json' };
/** A day ahead: what gets through shows on the clock. */
const STEP: Request = { line: 'POST /_sandbox/clock', headers: JSON_TYPE, body: '{"advance_seconds": 86400}' };
const RESET: Request = { line: 'POST /_sandbox/reset' };
const WORLD: Request = { line: 'GET /_sandbox/world' };

/** As bytes, since fetch names its own Host and guards its own headers. */
const exchange = async (url: string, { line = WORLD.line, headers = {}, body = '' }: Request) => {
  const all = { Host: new URL(url).host, ...headers, Connection: 'close', ...(body === '' ? {} : { 'Content-Length': `${body.length}` }) };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  const text = await rawExchange(url, [`${line} HTTP/1.1`, ...lines, '', body].join('\r\n'));
  return { status: Number(text.split(' ')[1]), text };
};

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox();
});
afterAll(() => sandbox.stop());

const send = (request: Request, headers: Headers = {}) =>
  exchange(sandbox.url, { ...request, headers: { ...request.headers, ...headers } });
const aheadSeconds = async () => {
  const { now } = await control(sandbox.url, 'GET /clock');
  return (new Date(now).getTime() - Date.now()) / 1000;
};
const tokens = async () => (await fetch(`${sandbox.url}/_sandbox/world`)).text();

describe('a web page on the same machine', () => {
  const port = () => new URL(sandbox.url).port;
  const kinds: readonly (readonly [string, () => Headers])[] = [
    ['of another origin', () => ({ Origin: 'https://page.example.com', 'Sec-Fetch-Site': 'cross-site' })],
    ['of another origin in a browser without fetch metadata', () => ({ Origin: 'https://page.example.com' })],
    ['of another port', () => ({ Origin: 'http://localhost:1', 'Sec-Fetch-Site': 'same-site' })],
    ['of an opaque origin', () => ({ Origin: 'null' })],
    ['of two origins', () => ({ Origin: `${sandbox.url}, https://page.example.com` })],
    ['that asks without an Origin', () => ({ 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'no-cors' })],
    ['that frames it', () => ({ 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'iframe' })],
    ['of a sibling that frames it', () => ({ 'Sec-Fetch-Site': 'same-site', 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'iframe' })],
    ['whose name was bound to this machine', () => ({ Host: `page.example.com:${port()}`, Origin: `http://page.example.com:${port()}` })],
    ['whose name was bound to it, of its own origin', () => ({ Host: `page.example.com:${port()}`, 'Sec-Fetch-Site': 'same-origin' })],
    ['under an address that is not ours', () => ({ Host: `192.0.2.1:${port()}` })],
    ['under a name that begins like ours', () => ({ Host: 'localhost.example.com' })],
    ['under a name that begins like our address', () => ({ Host: '127.0.0.1.example.com' })],
    ['behind a proxy on this machine', () => ({ 'X-Forwarded-For': '198.51.100.7' })],
    ['behind a tunnel to this machine', () => ({ 'X-Forwarded-Host': 'sandbox.example.com' })],
  ];

  it.each(kinds)('%s reads nothing and changes nothing', async (_, headers) => {
    const before = await tokens();
    for (const request of [WORLD, STEP, RESET, { line: 'GET /_sandbox/nothing' }, { line: 'OPTIONS /_sandbox/clock' }]) {
      const { status, text } = await send(request, headers());
      expect([request.line, status]).toEqual([request.line, 403]);
      expect(text).toMatch(/\r\n\r\n\{"error":\{"type":"forbidden","message":"The control plane [^"]+"\}\}$/);
      expect(text).toMatch(/^X-Request-Id: [\w-]{8,}\r$/m);
      expect(text).toMatch(/^X-Content-Type-Options: nosniff\r$/m);
      expect(text).not.toMatch(/access-control-allow|svc_pat_/i);
    }
    expect(JSON.parse(await tokens()).users).toEqual(JSON.parse(before).users);
    expect(await aheadSeconds()).toBeLessThan(3600);
  });

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'application/json-seq', ''])(
    'a body of the type %j gives no orders, whoever sends it',
    async (type) => {
      const before = await tokens();
      for (const request of [STEP, { ...RESET, body: '{}' }, { line: 'POST /_sandbox/settle', body: '{}' }]) {
        const { status, text } = await send(request, { 'Content-Type': type });
        expect([request.line, status]).toEqual([request.line, 400]);
        expect(text).toContain('Content-Type must be application/json');
      }
      expect(JSON.parse(await tokens()).users).toEqual(JSON.parse(before).users);
    },
  );

  it.each<readonly [string, () => Headers]>([
    ['a command line', () => ({})],
    ['our own page', () => ({ Origin: sandbox.url, 'Sec-Fetch-Site': 'same-origin' })],
    ['the address line of a browser', () => ({ 'Sec-Fetch-Site': 'none', 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'document' })],
    ['the loopback address', () => ({ Host: '127.0.0.1', Origin: 'http://127.0.0.1' })],
    ['another loopback address', () => ({ Host: '127.0.0.2:1234' })],
    ['the loopback address of IPv6', () => ({ Host: '[::1]:8080' })],
    ['a name below localhost', () => ({ Host: 'api.localhost:8080', Origin: 'http://API.localhost:8080' })],
    ['a name written otherwise', () => ({ Host: 'LOCALHOST.:80', Origin: 'http://localhost.' })],
  ])('%s may call', async (_, headers) => {
    expect((await send(WORLD, headers())).status).toBe(200);
    expect((await send({ ...STEP, body: '{"advance_seconds": 0}' }, headers())).status).toBe(200);
  });
});

describe('a sandbox that other machines reach', () => {
  const [outside] = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ family, internal }) => family === 'IPv4' && !internal);

  it('is called from this machine alone, and says so', async () => {
    const open = await startSandbox(['--data', ':memory:'], { HOST: '0.0.0.0', SANDBOX_ALLOWED_HOSTS: 'dev-box, 198.51.100.7' });
    try {
      expect(open.errors()).toMatch(/^sandbox: warning: HOST=0\.0\.0\.0 .*SANDBOX_REMOTE_CONTROL=1.*\n$/);
      const statusUnder = async (headers: Headers) => (await exchange(open.url, { headers })).status;
      expect(await statusUnder({})).toBe(200);
      expect(await statusUnder({ Host: 'dev-box:8080' })).toBe(200);
      expect(await statusUnder({ Host: '198.51.100.7' })).toBe(200);
      expect(await statusUnder({ Host: 'other-box:8080' })).toBe(403);
      expect(await statusUnder({ 'X-Forwarded-For': '198.51.100.8' })).toBe(403);
      const here = `http://${outside?.address ?? '127.0.0.1'}:${new URL(open.url).port}`;
      expect((await exchange(here, {})).status).toBe(200);
    } finally {
      await open.stop();
    }
  });

  it('is called from others where it was opened to them, with a warning', async () => {
    const open = await startSandbox(['--data', ':memory:'], { HOST: '0.0.0.0', SANDBOX_REMOTE_CONTROL: '1' });
    try {
      expect(open.errors()).toMatch(/^sandbox: warning: SANDBOX_REMOTE_CONTROL lets everybody .*\n$/);
      expect((await exchange(open.url, { headers: { 'X-Forwarded-For': '198.51.100.8' } })).status).toBe(200);
      expect((await exchange(open.url, { headers: { Origin: 'https://page.example.com' } })).status).toBe(403);
    } finally {
      await open.stop();
    }
  });
});
