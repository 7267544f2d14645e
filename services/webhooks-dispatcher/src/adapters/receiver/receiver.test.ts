import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Socket, type Server as TcpServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { addressPolicy } from '@bubbles/address-guard/public-address.ts';
import type { Resolver } from '@bubbles/address-guard/resolver.ts';
import { testData } from '@bubbles/testing/test-data.ts';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { Receiver } from '../../ports.ts';
import { createReceiver } from './receiver.ts';

/** For attempts that wait until it is over. */
const SOON_MS = 400;
/** For attempts of which the head comes, and the body waits until it is over. */
const HEAD_COMES_MS = 2000;
/** For attempts that end by themselves, however slow the machine is. */
const LATE_MS = 10_000;
const NAME = 'receiver.example.com';
const pem = (name: string) => testData(`certificates/${name}`);

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const thing of open.splice(0)) await thing.close();
});

const listen = async (server: Server | TcpServer, host = '127.0.0.1'): Promise<number> => {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket.on('error', () => null)));
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  open.push({
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  });
  // A listening TCP server has an address of this form.
  return (server.address() as AddressInfo).port;
};
const httpServer = (handler: RequestListener) => listen(createServer(handler));
const tcpServer = (onData: (socket: Socket) => unknown) => listen(createTcpServer((socket) => socket.once('data', () => onData(socket))));
const tlsServer = (name: string) =>
  listen(createTlsServer({ cert: pem(`${name}.pem`), key: pem(`${name}.key`) }, (_request, response) => response.end()));

const resolving = (...answers: string[][]): Resolver => {
  let turn = 0;
  return {
    resolve4: () => Promise.resolve(answers[Math.min(turn++, answers.length - 1)] ?? []),
    resolve6: () => Promise.reject(Object.assign(new Error('no record'), { code: 'ENODATA' })),
  };
};

interface Setting {
  readonly resolver?: Resolver;
  readonly allow?: readonly string[];
  readonly loopback?: boolean;
  readonly deadlineMs?: number;
  readonly extraCa?: readonly string[];
}
const aReceiver = ({
  resolver = resolving(['127.0.0.1']),
  allow = ['127.0.0.0/8', '::1/128'],
  loopback = false,
  deadlineMs = LATE_MS,
  extraCa = [pem('ca.pem')],
}: Setting = {}): Receiver => {
  const made = createReceiver({
    policy: { addresses: addressPolicy({ allow, deny: [] }), http: true, loopback },
    resolver,
    connectMs: deadlineMs,
    deadlineMs,
    extraCa,
    elapsed: () => performance.now(),
    connections: 8,
  });
  open.push(made);
  return made;
};
const post = (to: Receiver, url: string) =>
  to.post({ url: new URL(url), headers: { 'content-type': 'application/json' }, body: Buffer.from('{"n":1}') });
const answer = (socket: Socket, text: string): Socket => {
  socket.write(text.replaceAll('\n', '\r\n'));
  return socket;
};
const resetLater = (socket: Socket) => setTimeout(() => socket.resetAndDestroy(), 50);
const drip = (socket: Socket, piece: string) => {
  const timer = setInterval(() => socket.write(piece), 20);
  socket.on('close', () => clearInterval(timer));
};

describe('section 6, how an attempt ends', () => {
  it.each([200, 201, 204, 299])('[DLV-04] %i is success', async (status) => {
    const port = await httpServer((_request, response) => response.writeHead(status).end());
    expect(await post(aReceiver(), `http://127.0.0.1:${port}/`)).toMatchObject({ outcome: '2xx', status });
  });

  it.each([
    [300, '3xx'],
    [301, '3xx'],
    [302, '3xx'],
    [303, '3xx'],
    [304, '3xx'],
    [307, '3xx'],
    [308, '3xx'],
    [400, '4xx'],
    [410, '4xx'],
    [429, '429'],
    [500, '5xx'],
    [503, '5xx'],
  ])('[DLV-04] [HOOK-10] %i is %s, and no redirect is followed', async (status, outcome) => {
    const paths: (string | undefined)[] = [];
    const port = await httpServer((request, response) => {
      paths.push(request.url);
      response.writeHead(status, { location: '/elsewhere' }).end('no');
    });
    expect(await post(aReceiver(), `http://127.0.0.1:${port}/in`)).toMatchObject({ outcome, status });
    expect(paths).toEqual(['/in']);
  });

  it('[DLV-01] sends the exact bytes, and keeps the first 500 characters of the answer for the log', async () => {
    const bodies: string[] = [];
    const port = await httpServer(async (request, response) => {
      bodies.push(Buffer.concat(await request.toArray()).toString());
      response.end(`thank\u0000you ${'🎈'.repeat(1000)}`);
    });
    const { preview } = await post(aReceiver(), `http://127.0.0.1:${port}/`);
    expect(bodies).toEqual(['{"n":1}']);
    expect(preview).toBe(`thank you ${'🎈'.repeat(490)}`);
  });

  it.each([['103 Early Hints'], ['100 Continue'], ['100 Continue', '102 Processing', '100 Continue', '103 Early Hints']])(
    '[DLV-04] %s before 200 is success, in however many packets',
    async (...interim) => {
      const heads = interim.map((status) => `HTTP/1.1 ${status}\nLink: </x>\n\n`).join('');
      const packets = `${heads}HTTP/1.1 200 OK\nContent-Length: 0\n\n`.match(/.{1,10}/gs) ?? [];
      const port = await tcpServer(async (socket) => {
        for (const packet of packets) await pause(5, answer(socket, packet));
      });
      expect(await post(aReceiver(), `http://127.0.0.1:${port}/`)).toMatchObject({ outcome: '2xx', status: 200 });
    },
  );
});

describe('section 6, hostile receivers', () => {
  const cases: readonly [string, (socket: Socket) => unknown, string, number?][] = [
    ['silence', () => null, 'timeout', SOON_MS],
    ['headers that drip', (socket) => drip(answer(socket, 'HTTP/1.1 200 OK\n'), 'X-Drip: 1\r\n'), 'timeout', SOON_MS],
    ['a body that drips', (socket) => drip(answer(socket, 'HTTP/1.1 200 OK\nContent-Length: 100000\n\n'), 'x'), '2xx', HEAD_COMES_MS],
    ['a reset at the start', (socket) => socket.resetAndDestroy(), 'reset'],
    ['a reset in the headers', (socket) => resetLater(answer(socket, 'HTTP/1.1 200 OK\nX: ')), 'reset'],
    ['a reset in the body', (socket) => resetLater(answer(socket, 'HTTP/1.1 200 OK\nContent-Length: 10\n\nab')), '2xx'],
    ['bad chunking', (socket) => answer(socket, 'HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\nzz\nno\n'), '2xx'],
    ['no HTTP at all', (socket) => answer(socket, 'SSH-2.0-OpenSSH\n\n'), 'protocol'],
    ['70 kB of headers', (socket) => answer(socket, `HTTP/1.1 200 OK\nX: ${'x'.repeat(70_000)}\n\n`), 'protocol'],
    ['100 Continue without end', (socket) => drip(socket, 'HTTP/1.1 100 Continue\r\n\r\n'), 'timeout', SOON_MS],
    ['an upgrade', (socket) => answer(socket, 'HTTP/1.1 101 Switching Protocols\nUpgrade: x\nConnection: upgrade\n\n'), 'protocol'],
  ];
  it.each(cases)('[DLV-04] %s', async (_name, behave, outcome, deadlineMs = LATE_MS) => {
    const port = await tcpServer(behave);
    const startedAt = performance.now();
    expect(await post(aReceiver({ deadlineMs }), `http://127.0.0.1:${port}/`)).toMatchObject({ outcome });
    expect(performance.now() - startedAt).toBeLessThan(LATE_MS);
  });

  it('[DLV-04] an endless body is success and is not read on', async () => {
    let written = 0;
    const port = await tcpServer((socket) => {
      answer(socket, 'HTTP/1.1 200 OK\nContent-Length: 1000000000000\n\n');
      const chunk = Buffer.alloc(65_536, 'x');
      const pump = () => {
        while (!socket.destroyed && socket.write(chunk)) written += chunk.length;
      };
      socket.on('drain', pump);
      pump();
    });
    expect((await post(aReceiver(), `http://127.0.0.1:${port}/`)).outcome).toBe('2xx');
    expect(written).toBeLessThan(20_000_000);
  });

  it('[DLV-04] a gzip bomb stays packed', async () => {
    const bomb = gzipSync(Buffer.alloc(200_000_000));
    const port = await httpServer((_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb));
    const before = process.memoryUsage().rss;
    expect((await post(aReceiver(), `http://127.0.0.1:${port}/`)).outcome).toBe('2xx');
    expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000);
  });

  it('[DLV-04] nobody listens', async () => {
    const port = await httpServer(() => null);
    await open.pop()?.close();
    expect((await post(aReceiver(), `http://127.0.0.1:${port}/`)).outcome).toBe('connect');
  });

  it('a kept connection that died while it was idle costs no attempt', async () => {
    const served = new WeakMap<Socket, number>();
    let died = 0;
    const port = await httpServer((request, response) => {
      const turn = (served.get(request.socket) ?? 0) + 1;
      served.set(request.socket, turn);
      if (turn < 2) return response.end('ok');
      died += 1;
      request.socket.destroy();
    });
    const to = aReceiver();
    for (let n = 0; n < 10; n++) expect((await post(to, `http://127.0.0.1:${port}/`)).outcome).toBe('2xx');
    expect(died).toBeGreaterThan(0);
  });

  it('a fresh connection that dies is a failed attempt', async () => {
    const port = await httpServer((request) => request.socket.destroy());
    expect((await post(aReceiver(), `http://127.0.0.1:${port}/`)).outcome).toBe('reset');
  });
});

describe('section 6, TLS', () => {
  it('[DLV-01] a certificate for the name is taken', async () => {
    const port = await tlsServer('receiver');
    expect(await post(aReceiver(), `https://${NAME}:${port}/`)).toMatchObject({ outcome: '2xx' });
  });

  it.each(['stranger', 'expired'])('[DLV-04] a certificate that is %s is refused', async (name) => {
    const port = await tlsServer(name);
    expect(await post(aReceiver(), `https://${NAME}:${port}/`)).toMatchObject({ outcome: 'tls', status: null });
  });

  it('[DLV-04] an unknown authority is refused', async () => {
    const port = await tlsServer('receiver');
    const strict = aReceiver({ extraCa: [] });
    expect((await post(strict, `https://${NAME}:${port}/`)).outcome).toBe('tls');
  });

  it('[DLV-04] plain HTTP on a TLS port', async () => {
    const port = await httpServer((_request, response) => response.end());
    expect((await post(aReceiver(), `https://${NAME}:${port}/`)).outcome).toBe('tls');
  });
});

describe('section 6, names', () => {
  const production = { allow: [] as string[] };

  it.each([['127.0.0.1'], ['169.254.169.254'], ['10.0.0.1'], ['168.63.129.16']])(
    '[HOOK-10] a name that resolves to %s is not dialled',
    async (address) => {
      expect(await post(aReceiver({ ...production, resolver: resolving([address]) }), `http://${NAME}:1/`)).toMatchObject({
        outcome: 'blocked_address',
        preview: null,
      });
    },
  );

  it.each(['http://127.0.0.1:1/', 'http://[::1]:1/', 'http://[::ffff:127.0.0.1]:1/', 'http://2130706433:1/'])(
    '[HOOK-10] the literal %s is not dialled',
    async (url) => {
      expect((await post(aReceiver(production), url)).outcome).toBe('blocked_address');
    },
  );

  it('[HOOK-10] a name that rebinds between two connects is judged at each', async () => {
    const port = await httpServer((_request, response) => response.writeHead(200, { connection: 'close' }).end());
    const to = aReceiver({ allow: ['127.0.0.1/32'], resolver: resolving(['127.0.0.1'], ['127.0.0.2']) });
    expect((await post(to, `http://${NAME}:${port}/`)).outcome).toBe('2xx');
    expect((await post(to, `http://${NAME}:${port}/`)).outcome).toBe('blocked_address');
  });

  it('[HOOK-10] of several addresses only those that may be are dialled', async () => {
    const port = await httpServer((_request, response) => response.end());
    const to = aReceiver({ allow: ['127.0.0.1/32'], resolver: resolving(['127.0.0.2', '127.0.0.1']) });
    expect((await post(to, `http://${NAME}:${port}/`)).outcome).toBe('2xx');
  });

  it('[HOOK-10] the sandbox admits loopback by its own names only', async () => {
    const port = await httpServer((_request, response) => response.end());
    const sandbox = aReceiver({ ...production, loopback: true });
    expect((await post(sandbox, `http://localhost:${port}/`)).outcome).toBe('2xx');
    expect((await post(sandbox, `http://127.0.0.1:${port}/`)).outcome).toBe('2xx');
    expect((await post(sandbox, `http://${NAME}:${port}/`)).outcome).toBe('blocked_address');
  });

  it('[DLV-04] a name that does not exist', async () => {
    const missing = () => Promise.reject(Object.assign(new Error('gone'), { code: 'ENOTFOUND' }));
    expect((await post(aReceiver({ resolver: { resolve4: missing, resolve6: missing } }), `http://${NAME}/`)).outcome).toBe('dns');
  });

  it('[DLV-04] a name server that does not answer', async () => {
    const never = () => new Promise<string[]>(() => null);
    expect(
      (await post(aReceiver({ deadlineMs: SOON_MS, resolver: { resolve4: never, resolve6: never } }), `http://${NAME}/`)).outcome,
    ).toBe('timeout');
  });

  it('[DLV-01] IPv6', async () => {
    const port = await listen(
      createServer((_request, response) => response.end()),
      '::1',
    );
    expect((await post(aReceiver(), `http://[::1]:${port}/`)).outcome).toBe('2xx');
  });
});
