import { once } from 'node:events';
import type { RequestListener, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { fakeIds } from '@bubbles/testing/fake-ids.ts';
import { rawConnection } from '@bubbles/testing/raw-http.ts';
import { afterEach, describe, expect, it } from '@jest/globals';
import { readBody } from './read-body.ts';
import { type HttpServer, type Limits, SERVICE_LIMITS, startServer } from './server.ts';

const GET = 'GET / HTTP/1.1\r\nHost: a.test\r\n\r\n';

describe('a server', () => {
  let server: HttpServer;
  afterEach(() => server.cut());

  const start = async (handler: Parameters<typeof startServer>[0]['handler'], limits: Partial<Limits> = {}) => {
    server = await startServer({
      handler,
      address: { host: '127.0.0.1', port: 0 },
      limits: { ...SERVICE_LIMITS, ...limits },
      ids: fakeIds(),
    });
    return server;
  };

  describe('that drains', () => {
    it('answers what is on its way, says that the connection ends, and takes no more', async () => {
      const asked = Promise.withResolvers<void>();
      const finish = Promise.withResolvers<void>();
      const { url } = await start(async (_, res) => {
        asked.resolve();
        await finish.promise;
        res.end('done');
      });
      const client = rawConnection(url);
      client.write(GET);
      await asked.promise;
      const drained = server.drain({ noticeMs: 0, deadlineMs: 5000 });
      await refusedEventually(url);
      finish.resolve();
      expect(await client.received).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*done$/);
      expect(await drained).toBe(true);
    });

    it('serves on while balancers take notice, one request a connection', async () => {
      const { url } = await start((_, res) => res.end('ok'));
      const drained = server.drain({ noticeMs: 3000, deadlineMs: 5000 });
      const client = rawConnection(url);
      client.write(GET);
      expect(await client.received).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*connection: close[\s\S]*ok$/i);
      expect(await drained).toBe(true);
    });

    it('closes idle connections', async () => {
      const { url } = await start((_, res) => res.end('ok'));
      const client = rawConnection(url);
      client.write(GET);
      await client.receivedMatching(/ok$/);
      expect(await server.drain({ noticeMs: 0, deadlineMs: 5000 })).toBe(true);
      await client.received;
    });

    it('cuts what does not end, and says so', async () => {
      const asked = Promise.withResolvers<void>();
      const { url } = await start(() => asked.resolve());
      const client = rawConnection(url);
      client.write(GET);
      await asked.promise;
      await expect(server.drain({ noticeMs: 0, deadlineMs: 50 })).resolves.toBe(false);
      expect(await client.received).toBe('');
    });
  });

  it('off the wire refuses connections, and back on it has the same port', async () => {
    const { url } = await start((_, res) => res.end('ok'));
    const client = rawConnection(url);
    client.write(GET);
    await client.receivedMatching(/ok$/);
    await server.cut();
    await client.received;
    await refusedEventually(url);
    await server.restore();
    expect(await (await fetch(url)).text()).toBe('ok');
  });

  it('says which port is taken', async () => {
    const { url } = await start((_, res) => res.end('ok'));
    const again = startServer({
      handler: () => undefined,
      address: { host: '127.0.0.1', port: Number(new URL(url).port) },
      limits: SERVICE_LIMITS,
      ids: fakeIds(),
    });
    await expect(again).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });

  describe('asked to CONNECT', () => {
    const CONNECT = 'CONNECT evil.test:443 HTTP/1.1\r\nHost: evil.test:443\r\n\r\n';

    it('outlives callers that reset the connection while it refuses', async () => {
      const { url } = await start((_, res) => res.end('ok'));
      for (let round = 0; round < 50; round += 1) {
        const client = rawConnection(url);
        await once(client.socket, 'connect');
        client.write(CONNECT);
        client.socket.resetAndDestroy();
        await client.received;
      }
      expect(await (await fetch(url)).text()).toBe('ok');
    });

    it('refuses after the answer that is on its way', async () => {
      const asked = Promise.withResolvers<ServerResponse>();
      const { url } = await start((_, res) => asked.resolve(res));
      const client = rawConnection(url);
      client.write(GET + CONNECT);
      (await asked.promise).end('done');
      expect(await client.received).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*doneHTTP\/1\.1 400 [\s\S]*CONNECT is not served/);
    });

    it('lets go of all that was asked before by a caller that leaves before the answers', async () => {
      const asked = Promise.withResolvers<ServerResponse>();
      const { url } = await start((_, res) => asked.resolve(res));
      const client = rawConnection(url);
      client.write(GET.repeat(3) + CONNECT);
      const closed = once(await asked.promise, 'close');
      client.socket.resetAndDestroy();
      await closed;
      expect(await server.drain({ noticeMs: 0, deadlineMs: 5000 })).toBe(true);
    });

    it('refuses once, after all answers that are due', async () => {
      const { url } = await start((_, res) => void setImmediate(() => res.end('done')));
      const client = rawConnection(url);
      client.write(GET.repeat(3) + CONNECT);
      expect(statuses(await client.received)).toEqual(['200', '200', '200', '400']);
    });

    it('with a body that does not come, refuses all the same', async () => {
      const { url } = await start((_, res) => res.end('ok'));
      const client = rawConnection(url);
      client.write('CONNECT evil.test:443 HTTP/1.1\r\nHost: evil.test:443\r\nContent-Length: 5\r\n\r\nab');
      expect(statuses(await client.received)).toEqual(['400']);
    });
  });

  describe('whose clients say that they send no more', () => {
    const BODY = 'POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 5\r\n\r\nhello';

    it.each([
      ['a request', GET],
      ['a request with a body', BODY],
      ['several', GET.repeat(3) + BODY],
    ])('[GEN-08] answers %s', async (_, bytes) => {
      const read = (...exchange: Parameters<RequestListener>) => readBody(...exchange, { limitBytes: 100 });
      const { url } = await start((req, res) => void read(req, res).then(() => setImmediate(() => res.end('ok'))), {
        answersHalfClosed: true,
      });
      const client = rawConnection(url);
      client.socket.end(bytes);
      expect(new Set(statuses(await client.received))).toEqual(new Set(['200']));
    });

    it('takes them for gone between services, where nobody closes halfway', async () => {
      const closed = Promise.withResolvers<void>();
      const { url } = await start((_, res) => void res.on('close', () => closed.resolve()));
      rawConnection(url).socket.end(GET);
      await expect(closed.promise).resolves.toBeUndefined();
    });

    it('[GEN-08] answers or refuses a request that ends after any of its bytes, and closes', async () => {
      const { url } = await start((req, res) => void req.resume().on('end', () => res.end('ok')), { answersHalfClosed: true });
      const answers = await Promise.all(
        Array.from({ length: BODY.length }, (_, n) => {
          const client = rawConnection(url);
          client.socket.end(BODY.slice(0, n));
          return client.received;
        }),
      );
      expect(answers.map((answer, n) => (n === 0 ? answer === '' : statuses(answer).join() === '400'))).toEqual(answers.map(() => true));
    });
  });

  it('[GEN-14] that is full takes a connection from the peer that holds most, and none from the others', async () => {
    const { url } = await start((_, res) => res.end('ok'), { maxConnections: 4 });
    const { port } = new URL(url);
    const from = (localAddress: string) => {
      const socket = connect({ host: '127.0.0.1', port: Number(port), localAddress });
      return socket.on('error', () => undefined).resume();
    };
    const greedy = Array.from({ length: 4 }, () => from('127.0.0.1'));
    await Promise.all(greedy.map((socket) => once(socket, 'connect')));
    const one = from('127.0.0.1');
    await once(one, 'close');
    const other = from('127.0.0.2');
    other.write(GET);
    await once(other, 'data');
    await waitFor(() => greedy.filter(({ destroyed }) => destroyed).length === 1);
    const again = from('127.0.0.2');
    again.write(GET);
    await once(again, 'data');
    await waitFor(() => greedy.filter(({ destroyed }) => destroyed).length === 2);
    expect(other.destroyed).toBe(false);
    for (const socket of [...greedy, other, again]) socket.destroy();
  });

  describe('under slow senders', () => {
    const slow = { headersTimeoutMs: 1000, requestTimeoutMs: 2000 };

    it('[GEN-08] [F25] ends 150 connections that drip their headers or say nothing, and serves others meanwhile', async () => {
      const { url } = await start((_, res) => res.end('ok'), slow);
      const drips = Array.from({ length: 75 }, () => rawConnection(url));
      for (const drip of drips) drip.write('GET / HTTP/1.1\r\nHost: a.test\r\nX-A:');
      const silent = Array.from({ length: 75 }, () => rawConnection(url));
      expect(await (await fetch(url)).text()).toBe('ok');
      for (const answer of await Promise.all([...drips, ...silent].map(({ received }) => received))) {
        expect(answer).toMatch(/^HTTP\/1\.1 400 [\s\S]*"request: not received in time"/);
      }
    });

    it('[GEN-08] ends a connection whose body does not come', async () => {
      const { url } = await start((req) => void req.resume(), slow);
      const client = rawConnection(url);
      client.write('POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 5\r\n\r\nab');
      expect(await client.received).toMatch(/^HTTP\/1\.1 400 /);
    });

    it('lets go of a reader that does not read', async () => {
      const closed = Promise.withResolvers<void>();
      const { url } = await start(
        (_, res) => {
          res.on('close', () => closed.resolve());
          res.end(Buffer.alloc(32 * 1024 * 1024));
        },
        { idleTimeoutMs: 200 },
      );
      const client = rawConnection(url);
      client.socket.pause();
      client.write(GET);
      await expect(closed.promise).resolves.toBeUndefined();
      client.socket.destroy();
    });
  });
});

const statuses = (text: string): string[] => [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status ?? '');

const waitFor = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise(setImmediate);
};

/** Resolves when nobody listens any more. */
const refusedEventually = async (url: string): Promise<void> => {
  for (;;) {
    const client = rawConnection(url);
    const refused = await new Promise<boolean>((resolve) => {
      client.socket.once('connect', () => resolve(false)).once('error', () => resolve(true));
    });
    client.socket.destroy();
    if (refused) return;
  }
};
