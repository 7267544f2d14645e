import type { ServerResponse } from 'node:http';
import { Writable } from 'node:stream';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { createMemoryShares } from '../balancing/memory-shares.ts';
import { createSlowReaders } from './slow-readers.ts';

const KB = 1024;

/** A client that takes what was written when it is told to. */
const aClient = (address = '192.0.2.1') => {
  const taken: Buffer[] = [];
  const waiting: (() => void)[] = [];
  const res = new Writable({
    highWaterMark: 16 * KB,
    write: (chunk: Buffer, _, done) => {
      taken.push(chunk);
      waiting.push(done);
    },
  });
  const closed = new Promise<void>((resolve) => void res.once('close', resolve));
  return {
    // What the queue uses of an answer is what every stream has.
    client: { res: res as unknown as ServerResponse, network: address },
    res,
    closed,
    taken: () => Buffer.concat(taken).toString(),
    take: async () => {
      waiting.shift()?.();
      await new Promise(setImmediate);
    },
  };
};

const readersWith = ({ stallMs = 60_000, shareBytes = 100 * 1024 * KB } = {}) =>
  createSlowReaders({ unread: createMemoryShares({ totalBytes: 2 * shareBytes, shareBytes }), stallMs });

afterEach(() => void jest.useRealTimers());

describe('a client that reads slowly', () => {
  it('[GEN-14] gets all of its answer, in order, while up to 1 MB of it is read ahead', async () => {
    const { client, res, taken, take, closed } = aClient();
    const calls: string[] = [];
    const parts = Array.from({ length: 40 }, (_, n) => Buffer.alloc(32 * KB, String.fromCharCode(65 + n)));
    res.write(parts[0]);
    const slow = readersWith().queue(client, () => void calls.push('room'));
    let ahead = 1;
    for (; !slow.isFull(); ahead += 1) slow.write(parts[ahead] ?? Buffer.alloc(0));
    expect(ahead).toBe(33);
    expect(taken().length).toBe(32 * KB);
    await take();
    expect(calls).toEqual(['room']);
    for (const part of parts.slice(ahead)) slow.write(part);
    slow.end();
    for (let turn = 0; turn < 40; turn += 1) await take();
    await closed;
    expect(taken() === Buffer.concat(parts).toString()).toBe(true);
  });

  it('[GEN-14] is cut when it takes nothing for so long', async () => {
    const { client, res, closed } = aClient();
    res.write(Buffer.alloc(32 * KB));
    readersWith({ stallMs: 30 }).queue(client, () => undefined);
    await closed;
    expect(res.writableFinished).toBe(false);
  });

  it('[GEN-14] is not cut as long as it takes part after part', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
    const { client, res, take } = aClient();
    res.write(Buffer.alloc(32 * KB));
    const slow = readersWith({ stallMs: 400 }).queue(client, () => undefined);
    for (let part = 0; part < 10; part += 1) slow.write(Buffer.alloc(32 * KB));
    slow.end();
    for (let turn = 0; turn < 11; turn += 1) {
      jest.advanceTimersByTime(399);
      await take();
    }
    expect([res.writableFinished, res.destroyed]).toEqual([true, true]);
  });

  it('[GEN-14] holds the share of its peer and no more: the one that has stalled longest is cut', async () => {
    const readers = readersWith({ shareBytes: 100 * KB });
    const [stalled, later, other] = [aClient(), aClient(), aClient('192.0.2.2')];
    for (const { client, res } of [stalled, later, other]) {
      res.write(Buffer.alloc(40 * KB));
      readers.queue(client, () => undefined).write(Buffer.alloc(20 * KB));
    }
    await stalled.closed;
    expect([later.res.destroyed, other.res.destroyed]).toEqual([false, false]);
    later.res.destroy();
    other.res.destroy();
  });

  it('[GEN-14] is watched when all has been written too', async () => {
    const { client, res, closed } = aClient();
    res.end(Buffer.alloc(4 * KB));
    const readers = readersWith({ stallMs: 30 });
    readers.watch(client);
    readers.watch(client);
    await closed;
    expect(res.writableFinished).toBe(false);
  });
});
