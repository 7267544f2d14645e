import { anyone } from '@bubbles/auth/guards.ts';
import { startTestHttp, type TestHttp } from '@bubbles/testing/http.ts';
import { memoryLog } from '@bubbles/testing/memory-log.ts';
import { rawConnection, rawExchange } from '@bubbles/testing/raw-http.ts';
import { afterEach, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { eventStream, type StreamedEvent } from './content.ts';
import { route } from './route.ts';

const Tick = z.object({ n: z.number() });
type Ticks = AsyncIterable<StreamedEvent<z.infer<typeof Tick>>>;

const open: TestHttp[] = [];
afterEach(async () => {
  for (const http of open.splice(0)) await http.stop();
});

const REQUEST = 'GET /ticks HTTP/1.1\r\nHost: a\r\n\r\n';

/** `served` resolves with the access line of the request. */
const serve = async (ticks: (signal: AbortSignal) => Ticks, budgetMs = 20_000) => {
  const log = memoryLog();
  const served = Promise.withResolvers<{ readonly status: number }>();
  const http = await startTestHttp({
    log,
    budgetMs,
    metrics: { observe: served.resolve, shed: () => undefined },
    routes: [
      route(
        {
          method: 'GET',
          path: '/ticks',
          operationId: 'watchTicks',
          summary: 's',
          tag: 'T',
          guard: anyone,
          answers: { 200: eventStream(Tick) },
        },
        ({ signal }) => Promise.resolve(ticks(signal)),
      ),
    ],
  });
  open.push(http);
  return { http, log, served: served.promise };
};

/** What was written before is on its way. */
const arrived = () => new Promise((resolve) => setImmediate(resolve));

const aborted = (signal: AbortSignal) => new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));

describe('an event stream', () => {
  it('sends each event as it comes, by its schema, and ends with the handler', async () => {
    const goOn = Promise.withResolvers<void>();
    const { http } = await serve(async function* () {
      yield { data: { n: 1, secret: 'a' }, event: 'tick', id: '7' };
      await goOn.promise;
      yield { data: { n: 2 } };
    });
    const client = rawConnection(http.url);
    client.write(REQUEST);
    const first = await client.receivedMatching(/id: 7\nevent: tick\ndata: \{"n":1\}\n\n/);
    expect(first).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(first).toMatch(/\r\nContent-Type: text\/event-stream; charset=utf-8\r\n/i);
    expect(first).toMatch(/\r\nCache-Control: no-store\r\n/i);
    goOn.resolve();
    expect(await client.receivedMatching(/\r\n0\r\n\r\n$/)).toContain('data: {"n":2}\n\n');
    client.socket.destroy();
  });

  it('is opened before the first event, and goes on for longer than a handler may take', async () => {
    const goOn = Promise.withResolvers<void>();
    const { http } = await serve(async function* (signal) {
      await goOn.promise;
      yield { data: { n: signal.aborted ? 0 : 1 } };
    }, 20);
    const client = rawConnection(http.url);
    client.write(REQUEST);
    await client.receivedMatching(/\r\n\r\n/);
    const later = setTimeout(goOn.resolve, 60);
    expect(await client.receivedMatching(/data/)).toContain('data: {"n":1}');
    clearTimeout(later);
    client.socket.destroy();
  });

  it.each(['that heeds its signal', 'that does not'])('ends when its client goes, also of a handler %s', async (handler) => {
    const told = Promise.withResolvers<void>();
    const { http, log, served } = await serve(async function* (signal) {
      yield { data: { n: 1 } };
      const leaving = aborted(signal).then(told.resolve);
      await (handler === 'that heeds its signal' ? leaving : new Promise(() => undefined));
    });
    const client = rawConnection(http.url);
    client.write(REQUEST);
    await client.receivedMatching(/data/);
    client.socket.destroy();
    await told.promise;
    expect(await served).toMatchObject({ status: 200 });
    expect(log.lines.filter(({ level }) => level !== 'info')).toEqual([]);
  });

  it('waits for a client that reads slowly', async () => {
    let made = 0;
    const { http } = await serve(async function* (signal) {
      while (!signal.aborted && made < 1500) {
        made += 1;
        yield { data: { n: made }, id: 'x'.repeat(100_000) };
        await arrived();
      }
    });
    const client = rawConnection(http.url);
    client.write(REQUEST);
    await client.receivedMatching(/data/);
    client.socket.pause();
    let before = 0;
    while (before !== made) {
      before = made;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(made).toBeLessThan(1000);
    client.socket.destroy();
  });

  it.each<[string, () => Ticks]>([
    [
      'that throws',
      async function* () {
        yield { data: { n: 1 } };
        await arrived();
        throw new TypeError('a bug');
      },
    ],
    [
      'whose event is not what the schema says',
      async function* () {
        yield { data: { n: 1 } };
        await arrived();
        // What a fault of the handler would send.
        yield { data: { n: 'svc_pat_leaked' } } as unknown as StreamedEvent<{ n: number }>;
      },
    ],
    [
      'whose event has a name of two lines',
      async function* () {
        yield { data: { n: 1 } };
        await arrived();
        yield { data: { n: 2 }, event: 'a\ndata: forged' };
      },
    ],
  ])('of a handler %s is broken off, not ended', async (_, ticks) => {
    const { http, log, served } = await serve(ticks);
    const received = await rawExchange(http.url, REQUEST);
    expect(received).toContain('data: {"n":1}');
    expect(received).not.toMatch(/leaked|forged|\r\n0\r\n\r\n$/);
    await served;
    expect(log.lines.map(({ level, message }) => [level, message])).toEqual([['error', 'request failed']]);
  });

  it('[GEN-08] of HEAD is its headers alone', async () => {
    let begun = false;
    const { http } = await serve(async function* () {
      begun = true;
      await arrived();
      yield { data: { n: 1 } };
    });
    const answer = await http.fetch('/ticks', { method: 'HEAD' });
    expect([answer.status, answer.headers.get('content-type'), await answer.text(), begun]).toEqual([
      200,
      'text/event-stream; charset=utf-8',
      '',
      false,
    ]);
  });
});
