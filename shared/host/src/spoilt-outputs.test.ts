import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, createReadStream, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expectEventually } from '@bubbles/testing/eventually.ts';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

const PROCESS = fileURLToPath(new URL('../../testing/src/logging-process.ts', import.meta.url));
const MEGABYTE = 1024 * 1024;
const LINES = 20_000;

let folder: string;
let child: ChildProcess | null = null;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'outputs-'));
});
afterEach(() => {
  child?.kill('SIGKILL');
  child = null;
  rmSync(folder, { recursive: true });
});

interface State {
  readonly dropped: number;
  readonly residentBytes: number;
}

/** With standard output and standard error at `fd`; answers how to ask the process for lines. */
const start = async (fd: number): Promise<(lines: number) => Promise<State>> => {
  const portFile = join(folder, 'port');
  child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', PROCESS, portFile], { stdio: ['ignore', fd, fd] });
  await expectEventually(() => Promise.resolve(existsSync(portFile)));
  const port = readFileSync(portFile, 'utf8');
  // What the process answers.
  return async (lines) => (await (await fetch(`http://127.0.0.1:${port}/${lines}`)).json()) as State;
};

const endsAtSigterm = async () => {
  child?.kill('SIGTERM');
  expect(child && (await once(child, 'exit'))).toEqual([0, null]);
};

/** A pipe with one writing end, and a reading end that nobody reads unless it is asked to. */
const pipe = () => {
  const path = join(folder, 'pipe');
  execFileSync('mkfifo', [path]);
  const reader = openSync(path, 'r+');
  const writer = openSync(path, 'w');
  return { path, reader, writer };
};

describe('a process whose log is not taken', () => {
  it('answers, keeps a bounded part and ends at SIGTERM while nobody reads its pipe', async () => {
    const { reader, writer } = pipe();
    const ask = await start(writer);
    const before = await ask(0);
    const after = await ask(LINES);
    expect(after.dropped).toBeGreaterThan(LINES / 2);
    for (let n = 0; n < 5; n += 1) await ask(LINES);
    expect((await ask(0)).dropped).toBeGreaterThan(after.dropped + 4 * LINES);
    expect((await ask(0)).residentBytes - before.residentBytes).toBeLessThan(150 * MEGABYTE);
    await endsAtSigterm();
    for (const fd of [reader, writer]) closeSync(fd);
  });

  it('goes on with a line that tells of the gap once its pipe is read', async () => {
    const { path, reader, writer } = pipe();
    const ask = await start(writer);
    const { dropped } = await ask(LINES);
    closeSync(writer);
    const lines: string[] = [];
    const stream = createReadStream(path);
    createInterface({ input: stream }).on('line', (line) => lines.push(line));
    await expectEventually(async () => {
      await ask(1);
      return lines.some((line) => line.includes('log lines dropped'));
    });
    const gap = JSON.parse(lines.find((line) => line.includes('log lines dropped')) ?? '');
    expect(gap.dropped).toBeGreaterThanOrEqual(dropped);
    await endsAtSigterm();
    stream.destroy();
    closeSync(reader);
  });

  it('lives on when its reader has gone', async () => {
    const { reader, writer } = pipe();
    const ask = await start(writer);
    await ask(10);
    closeSync(reader);
    closeSync(writer);
    await ask(10);
    expect((await ask(10)).dropped).toBeGreaterThanOrEqual(10);
    await endsAtSigterm();
  });

  it('lives on while its disk is full', async () => {
    // A device that answers ENOSPC to each write; where there is none, a file that cannot be written does.
    const full = existsSync('/dev/full') ? openSync('/dev/full', 'w') : openSync(PROCESS, 'r');
    const ask = await start(full);
    await ask(LINES);
    expect((await ask(0)).dropped).toBe(LINES);
    await endsAtSigterm();
    closeSync(full);
  });
});
