import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createLog } from './log.ts';
import { logOutput } from './log-output.ts';

const GAP = /^\{"level":"warn","time":"[^"]+Z","dropped":(\d+),"message":"log lines dropped"\}$/;
const failing = (code: string) => Object.assign(new Error(code), { code });

describe('the output of the log to a file', () => {
  let folder: string;
  let fd: number;
  /** What the disk has room for. */
  let room: number;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'log-'));
    fd = openSync(join(folder, 'log'), 'a');
    room = Number.POSITIVE_INFINITY;
  });
  afterEach(() => {
    closeSync(fd);
    rmSync(folder, { recursive: true });
  });
  const text = () => readFileSync(join(folder, 'log'), 'utf8');
  const onDisk = () =>
    logOutput(Object.assign(new Writable(), { fd }), (to, line) => {
      if (room === 0) throw failing('ENOSPC');
      const part = Buffer.from(line).subarray(0, room);
      room -= part.length;
      return writeSync(to, part);
    });

  it('writes each line at once', () => {
    const output = onDisk();
    output.write('one\n');
    output.write('two\n');
    expect([text(), output.dropped()]).toEqual(['one\ntwo\n', 0]);
  });

  it('drops and counts lines while the disk is full, and says how many when there is room again', () => {
    const output = onDisk();
    output.write('one\n');
    room = 0;
    for (let n = 0; n < 100; n += 1) output.write('lost\n');
    expect(output.dropped()).toBe(100);
    room = Number.POSITIVE_INFINITY;
    output.write('two\n');
    output.write('three\n');
    const [first, gap = '', ...rest] = text().split('\n');
    expect([first, ...rest]).toEqual(['one', 'two', 'three', '']);
    expect(GAP.exec(gap)?.[1]).toBe('100');
    expect(output.dropped()).toBe(100);
  });

  it('a line that was cut ends where it was cut', () => {
    const output = onDisk();
    room = 6;
    output.write('one\n');
    output.write('twöö\n');
    output.write('lost\n');
    room = Number.POSITIVE_INFINITY;
    output.write('three\n');
    const [first, cut, gap = '', ...rest] = text().split('\n');
    expect([first, cut, ...rest]).toEqual(['one', 'tw', 'three', '']);
    expect(GAP.exec(gap)?.[1]).toBe('2');
  });
});

describe('the output of the log to a reader', () => {
  /** A pipe that nobody reads until it is told to. */
  const pipe = () => {
    const read: string[] = [];
    let next: ((error?: Error) => void) | null = null;
    let isStuck = true;
    const stream = new Writable({
      decodeStrings: false,
      write(chunk, _encoding, done) {
        read.push(String(chunk));
        if (isStuck) next = done;
        else done();
      },
    });
    return {
      stream,
      read,
      open() {
        isStuck = false;
        next?.();
      },
      fail: (code: string) => next?.(failing(code)),
    };
  };
  const LINE = `${'x'.repeat(1023)}\n`;

  it('keeps a bounded part of what nobody reads, drops and counts the rest, and goes on when all of it was read', async () => {
    const { stream, read, open } = pipe();
    const output = logOutput(stream);
    for (let n = 0; n < 10_000; n += 1) output.write(LINE);
    const kept = 10_000 - output.dropped();
    expect(kept).toBe(1025);
    expect(stream.writableLength).toBeLessThan(2 * 1024 * 1024);
    open();
    await new Promise((resolve) => setImmediate(resolve));
    output.write('after\n');
    await new Promise((resolve) => setImmediate(resolve));
    expect(read).toHaveLength(kept + 2);
    expect(GAP.exec(read.at(-2)?.trimEnd() ?? '')?.[1]).toBe(String(10_000 - kept));
    expect(read.at(-1)).toBe('after\n');
  });

  it('a reader that is gone for ever costs a count for each line, those that waited too', async () => {
    const { stream, fail } = pipe();
    const output = logOutput(stream);
    for (let n = 0; n < 5; n += 1) output.write(LINE);
    fail('EPIPE');
    await new Promise((resolve) => setImmediate(resolve));
    for (let n = 0; n < 5; n += 1) output.write(LINE);
    expect(output.dropped()).toBe(10);
  });

  it('is what a log writes to', () => {
    const { stream, read } = pipe();
    createLog({ name: 'tested', level: 'info', destination: logOutput(stream) }).info('said');
    expect(JSON.parse(read.join(''))).toMatchObject({ service: 'tested', message: 'said' });
  });
});
