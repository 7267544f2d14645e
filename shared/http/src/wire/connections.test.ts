import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { fakeIds } from '@bubbles/testing/fake-ids.ts';
import { rawConnection } from '@bubbles/testing/raw-http.ts';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type HttpServer, SERVICE_LIMITS, startServer } from './server.ts';

const GET = 'GET / HTTP/1.1\r\nHost: a.test\r\n\r\n';
const POST = (body: string) => `POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

let server: HttpServer;
afterEach(() => server.cut());

const start = async (handler: Parameters<typeof startServer>[0]['handler']) => {
  server = await startServer({ handler, address: { host: '127.0.0.1', port: 0 }, limits: SERVICE_LIMITS, ids: fakeIds() });
  return server;
};

const statuses = (text: string): string[] => [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status ?? '');

const waitFor = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise(setImmediate);
};

describe('requests that come before the answers to those before them', () => {
  /** Answers when told to; `asked` resolves with each request in turn. */
  const held = () => {
    const requests: ServerResponse[] = [];
    const wake: (() => void)[] = [];
    return {
      requests,
      handler: (_: unknown, res: ServerResponse) => {
        requests.push(res);
        for (const resolve of wake.splice(0)) resolve();
      },
      asked: async (count: number): Promise<ServerResponse> => {
        while (requests.length < count) await new Promise<void>((resolve) => void wake.push(resolve));
        return requests[count - 1] ?? Promise.reject(new Error('not asked'));
      },
    };
  };
  it('[GEN-14] are worked on one at a time', async () => {
    const { handler, requests, asked } = held();
    const { url } = await start(handler);
    const client = rawConnection(url);
    client.write(GET.repeat(115));
    for (let turn = 1; turn <= 115; turn += 1) {
      const answer = await asked(turn);
      await new Promise(setImmediate);
      expect(requests.length).toBe(turn);
      answer.end(`answer ${turn};`);
    }
    const text = await client.receivedMatching(/answer 115;/);
    expect([...text.matchAll(/answer (\d+);/g)].map(([, turn]) => Number(turn))).toEqual(Array.from({ length: 115 }, (_, i) => i + 1));
    client.socket.destroy();
  });

  it('[GEN-14] are read no further while one waits', async () => {
    const { handler, asked } = held();
    const { url } = await start(handler);
    const client = rawConnection(url);
    client.write(GET + POST('x'.repeat(200)));
    const first = await asked(1);
    const before = client.socket.bytesWritten;
    client.write(Buffer.alloc(64 * 1024 * 1024, POST('y'.repeat(1000))));
    await waitFor(() => client.socket.writableLength > 0 && client.socket.bytesWritten > before);
    expect(first.req.socket.bytesRead).toBeLessThan(1024 * 1024);
    client.socket.destroy();
  });

  it('have each their own body', async () => {
    const bodies: string[] = [];
    const { url } = await start(async (req, res) => {
      let text = '';
      for await (const chunk of req) text += chunk;
      bodies.push(text);
      res.end('ok;');
    });
    const client = rawConnection(url);
    const sent = Array.from({ length: 20 }, (_, n) => String(n).repeat(n * 700));
    for (const byte of sent
      .map(POST)
      .join('')
      .match(/[\s\S]{1,997}/g) ?? [])
      client.write(byte);
    await client.receivedMatching(/(?:ok;[\s\S]*){20}/);
    expect(bodies).toEqual(sent);
    client.socket.destroy();
  });

  it('[GEN-14] are at most 1,000 on a connection: the last answer says that it closes, and none is lost', async () => {
    let count = 0;
    const { url } = await start((_, res) => {
      count += 1;
      res.end(`answer ${count};`);
    });
    const client = rawConnection(url);
    for (let batch = 1; batch <= 10; batch += 1) {
      client.write(GET.repeat(100));
      await client.receivedMatching(new RegExp(`answer ${batch}00;`));
    }
    client.write(GET);
    const text = await client.received;
    expect(new Set(statuses(text))).toEqual(new Set(['200']));
    expect(statuses(text).length).toBe(1000);
    expect(text.match(/connection: close/gi)?.length).toBe(1);
    expect(text.lastIndexOf('onnection: close')).toBeGreaterThan(text.lastIndexOf('onnection: keep-alive'));
  });

  it('[GEN-14] are dropped when more wait than may, all answers before them given', async () => {
    const { handler, asked } = held();
    const { url } = await start(handler);
    const client = rawConnection(url);
    client.write(GET.repeat(1500));
    for (let turn = 1; turn <= 258; turn += 1) (await asked(turn)).end('ok;');
    expect(statuses(await client.received).length).toBe(258);
  });

  it('[GEN-14] wait in a number that is bounded over all connections, where one has few to wait all the same', async () => {
    const { handler, asked } = held();
    const { url } = await start(handler);
    const crowd = Array.from({ length: 90 }, () => rawConnection(url));
    for (const one of crowd) one.write(GET.repeat(240));
    await asked(90);
    const [late, modest] = [rawConnection(url), rawConnection(url)];
    late.write(GET.repeat(100));
    modest.write(GET.repeat(5));
    await asked(92);
    for (const { socket } of crowd) socket.resetAndDestroy();
    for (let n = 91; n <= 92 + 9 + 4; n += 1) (await asked(n)).end('ok;');
    expect(statuses(await late.received).length).toBe(10);
    await modest.receivedMatching(/(?:ok;[\s\S]*){5}/);
    modest.socket.destroy();
  });

  it('[GEN-14] of one connection hold up no other', async () => {
    const served: string[] = [];
    const { url } = await start((req, res) => {
      served.push(req.url ?? '');
      res.end('ok');
    });
    const [many, few] = [rawConnection(url), rawConnection(url)];
    await Promise.all([once(many.socket, 'connect'), once(few.socket, 'connect')]);
    many.write(GET.repeat(200));
    few.write(GET.replace('GET / ', 'GET /few '));
    await few.receivedMatching(/ok$/);
    expect(served.indexOf('/few')).toBeLessThan(200);
    many.socket.destroy();
    few.socket.destroy();
  });

  it('leave what is malformed behind them for its turn', async () => {
    const { url } = await start((_, res) => void setImmediate(() => res.end('ok')));
    const client = rawConnection(url);
    client.write(`${GET.repeat(3)}BROKEN\r\n\r\n`);
    expect(statuses(await client.received)).toEqual(['200', '200', '200', '400']);
  });

  it('are refused after the answers before them when their body breaks while they wait', async () => {
    const served: string[] = [];
    const { url } = await start((req, res) => {
      served.push(req.method ?? '');
      setImmediate(() => res.end('ok'));
    });
    const client = rawConnection(url);
    client.write(`${GET}POST / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n5x\r\nhello`);
    expect(statuses(await client.received)).toEqual(['200', '400']);
    expect(served).toEqual(['GET']);
  });
});
