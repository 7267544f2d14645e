import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SERVICE_LIMITS, startServer } from '@bubbles/http/wire/server.ts';
import { fakeIds } from '@bubbles/testing/fake-ids.ts';
import { afterEach, describe, expect, it } from '@jest/globals';

const FIXTURE = new URL('../test/process-fixture.ts', import.meta.url).pathname;

describe('a process', () => {
  const children: { kill(signal: 'SIGKILL'): unknown }[] = [];
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
  });

  const run = (environment: Readonly<Record<string, string>>) => {
    const child = spawn(process.execPath, [FIXTURE], { env: { PATH: process.env['PATH'], ...environment } });
    children.push(child);
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    const listening = new Promise<string>((resolve) => child.stdout.setEncoding('utf8').once('data', resolve));
    const exited = new Promise<{ readonly code: number | null; readonly stderr: string }>((resolve) =>
      child.on('close', (code) => resolve({ code, stderr })),
    );
    return { child, listening, exited };
  };

  it.each(['SIGTERM', 'SIGINT'] as const)('ends cleanly on %s', async (signal) => {
    const { child, listening, exited } = run({ PORT: '0', BEHAVIOUR: 'serve' });
    await listening;
    child.kill(signal);
    expect(await exited).toEqual({ code: 0, stderr: '' });
  });

  it('takes a signal that comes twice at once, as Ctrl-C through npm does, for one', async () => {
    const { child, listening, exited } = run({ PORT: '0', BEHAVIOUR: 'stop-when-told-again' });
    await listening;
    child.kill('SIGTERM');
    child.kill('SIGINT');
    expect(await exited).toEqual({ code: 0, stderr: '' });
  });

  it('[F27] ends cleanly on SIGTERM while it boots', async () => {
    const { child, listening, exited } = run({ PORT: '0', BEHAVIOUR: 'boot-for-ever' });
    await listening;
    child.kill('SIGTERM');
    expect(await exited).toEqual({ code: 0, stderr: '' });
  });

  it('gives back the memory that only its start needed', async () => {
    const { listening } = run({ PORT: '0', BEHAVIOUR: 'start-large' });
    const answer = await fetch((await listening).trim());
    const { large, now } = JSON.parse(await answer.text());
    expect(large).toBeGreaterThan(8 * 1024 * 1024);
    expect(now).toBeLessThan(large / 4);
  });

  it('keeps its compiled code for the next start, also when it is killed', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'compile-cache-'));
    const { child, listening, exited } = run({ PORT: '0', BEHAVIOUR: 'serve', NODE_COMPILE_CACHE: folder });
    await listening;
    while (readdirSync(folder, { recursive: true }).length < 2) await new Promise((resolve) => setTimeout(resolve, 10));
    child.kill('SIGKILL');
    expect((await exited).code).toBeNull();
    rmSync(folder, { recursive: true });
  });

  it('says by its exit code that something had to be cut', async () => {
    const { child, listening, exited } = run({ PORT: '0', BEHAVIOUR: 'stop-uncleanly' });
    await listening;
    child.kill('SIGTERM');
    expect((await exited).code).toBe(1);
  });

  it('says every fault of its configuration in one line', async () => {
    expect(await run({ PORT: 'hunter2' }).exited).toEqual({
      code: 2,
      stderr: 'fixture: bad configuration: PORT: must be a whole number from 0 to 65535; BEHAVIOUR: is required\n',
    });
  });

  it('says each of several refusals in a line of its own', async () => {
    expect(await run({ PORT: '0', BEHAVIOUR: 'refuse' }).exited).toEqual({
      code: 2,
      stderr: 'fixture: MONGODB_URL: refused.\nfixture: AMQP_URL: refused.\n',
    });
  });

  it('says in one line that its port is taken', async () => {
    const taken = await startServer({
      handler: () => undefined,
      address: { host: '127.0.0.1', port: 0 },
      limits: SERVICE_LIMITS,
      ids: fakeIds(),
    });
    const { port } = new URL(taken.url);
    expect(await run({ PORT: port, BEHAVIOUR: 'serve' }).exited).toEqual({
      code: 2,
      stderr: `fixture: listen EADDRINUSE: address already in use 127.0.0.1:${port}\n`,
    });
    await taken.cut();
  });

  it.each(['nowhere.invalid', '192.0.2.1', 'fe80::1', 'a b'])('says in one line that %j is not a host to listen on', async (HOST) => {
    const { code, stderr } = await run({ HOST, PORT: '0', BEHAVIOUR: 'serve' }).exited;
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^fixture: (listen|getaddrinfo) [^\n]+\n$/)]);
  });

  it.each(['throw', 'throw-later'])('[GEN-10] that fails (%s) says why without a credential', async (BEHAVIOUR) => {
    const { code, stderr } = await run({ PORT: '0', BEHAVIOUR }).exited;
    expect(code).toBe(1);
    expect(stderr).toMatch(/^fixture: Error: (?:amqp|mongodb):\/\/\[redacted\]@/);
    expect(stderr).not.toContain('hunter2');
  });
});
