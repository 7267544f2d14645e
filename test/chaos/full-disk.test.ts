import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { errorCode } from '@bubbles/kernel/errors.ts';
import { systemIds } from '@bubbles/kernel/ids.ts';
import { createFileStore } from '@bubbles/meetings-bot-gateway/adapters/media/file-store.ts';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { send } from '../conformance/support/client.ts';
import { control } from '../conformance/support/sandbox-world.ts';
import { untilSo } from './support/within.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const REQUESTS = 50;
/** Answers ENOSPC to each write. */
const ALWAYS_FULL = '/dev/full';

const mount = (at: string) => execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', at], { stdio: 'ignore' });
const unmount = (at: string) => execFileSync('umount', [at], { stdio: 'ignore' });

/** Not everybody may mount a small disk. */
const mayMount = (() => {
  const at = mkdtempSync(join(tmpdir(), 'mount-'));
  try {
    mount(at);
    unmount(at);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(at, { recursive: true });
  }
})();

let disk: string;
let child: ChildProcess | null = null;
beforeEach(() => {
  disk = mkdtempSync(join(tmpdir(), 'disk-'));
});
afterEach(() => {
  child?.kill('SIGKILL');
  child = null;
  rmSync(disk, { recursive: true });
});

const logText = () => readFileSync(join(disk, 'log'), 'utf8');

/** Until not one byte more goes on it. */
const fill = () => {
  const file = openSync(join(disk, 'filler'), 'w');
  try {
    for (const chunk of [Buffer.alloc(65_536), Buffer.alloc(1)]) {
      for (let room = true; room; ) room = takes(file, chunk);
    }
  } finally {
    closeSync(file);
  }
};
const takes = (file: number, chunk: Buffer): boolean => {
  try {
    return writeSync(file, chunk) > 0;
  } catch (error) {
    if (errorCode(error) === 'ENOSPC') return false;
    throw error;
  }
};

/** The sandbox with its log and its data on the disk. */
const start = (logFile = join(disk, 'log')): Promise<string> => {
  const log = openSync(logFile, 'a');
  const started = spawn(process.execPath, ['deploy/sandbox/src/main.ts', '--data', join(disk, 'data')], {
    cwd: ROOT,
    env: { PATH: process.env['PATH'] ?? '', PORT: '0', LOG_LEVEL: 'debug' },
    stdio: ['ignore', 'pipe', log],
  });
  closeSync(log);
  child = started;
  const { stdout } = started;
  if (stdout === null) throw new Error('the sandbox has no standard output');
  return new Promise((resolve, reject) => {
    createInterface({ input: stdout }).on('line', (line) => {
      if (line.startsWith('Listening on ')) resolve(line.slice('Listening on '.length));
    });
    started.once('exit', (code) => reject(new Error(`the sandbox ended with ${code}`)));
  });
};

const endsAtSigterm = async () => {
  child?.kill('SIGTERM');
  expect(child && (await once(child, 'exit'))).toEqual([0, null]);
};

describe('a log that takes no line', () => {
  it('ends nothing', async () => {
    const url = await start(ALWAYS_FULL);
    const { ada } = (await control(url, 'GET /world')).users;
    for (let n = 0; n < REQUESTS; n += 1) expect((await send(url, '/v1/bubbles?limit=1', { as: ada.pat })).status).toBe(200);
    await endsAtSigterm();
  });
});

if (mayMount)
  describe('a disk that is full', () => {
    beforeEach(() => {
      mount(disk);
    });
    afterEach(async () => {
      if (child?.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL');
        await once(child, 'exit');
      }
      unmount(disk);
    });

    it('costs lines of the log and refuses writes, ends nothing, and all goes on when there is room again', async () => {
      const url = await start();
      const { ada } = (await control(url, 'GET /world')).users;
      const tokens: string[] = [];
      const isMade = async () => {
        const person: { readonly pat: string } | null = await control(url, 'POST /users', {}).catch(() => null);
        if (person !== null) tokens.push(person.pat);
        return person !== null;
      };
      expect(await isMade()).toBe(true);
      fill();
      for (let n = 0; n < REQUESTS; n += 1) expect((await send(url, '/v1/bubbles?limit=1', { as: ada.pat })).status).toBe(200);
      // What there is room for in the files that are there is still kept.
      await untilSo({ what: 'a write is refused' }, async () => !(await isMade()));
      expect((await send(url, '/docs')).status).toBe(200);

      rmSync(join(disk, 'filler'));
      await untilSo({ what: 'people are made again', state: () => [logText().slice(-500)] }, isMade);
      await untilSo({ what: 'the log tells of its gap' }, async () => {
        await send(url, '/v1/me', { as: ada.pat });
        return logText().includes('"message":"log lines dropped"');
      });
      await endsAtSigterm();

      const again = await start();
      for (const as of tokens) expect((await send(again, '/v1/me', { as })).status).toBe(200);
    });

    it('[MEET-09] while a recording is copied keeps nothing of it, and takes it when there is room again', async () => {
      const store = createFileStore({ folder: join(disk, 'media'), ids: systemIds() });
      const key = 'a1'.repeat(32);
      const put = (mib: number) => {
        const chunks = Array.from({ length: mib }, () => Buffer.alloc(1024 * 1024, 7));
        const file = { contentType: 'video/mp4', length: null, bytes: Readable.from(chunks) };
        return store.put(key, file, new AbortController().signal);
      };
      await put(1);
      await expect(put(40)).rejects.toMatchObject({ kind: 'unavailable', cause: { code: 'ENOSPC' } });
      expect([(await store.find(key))?.length, readdirSync(join(disk, 'media', 'unfinished'))]).toEqual([1024 * 1024, []]);
      await put(12);
      expect((await store.find(key))?.length).toBe(12 * 1024 * 1024);
    });

    it('is named by a start that finds no room, after a kill too', async () => {
      const elsewhere = mkdtempSync(join(tmpdir(), 'log-'));
      const log = join(elsewhere, 'log');
      await start(log);
      fill();
      child?.kill('SIGKILL');
      if (child) await once(child, 'exit');
      await expect(start(log)).rejects.toThrow('the sandbox ended with 2');
      expect(readFileSync(log, 'utf8')).toMatch(/^sandbox: The data file \S+ cannot be opened: its disk is full\.$/m);
      rmSync(elsewhere, { recursive: true });
    });
  });
