import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { send } from './support/client.ts';
import { type Receiver, signedAt, startReceiver } from './support/receiver.ts';
import { control, type Sandbox, startSandbox } from './support/sandbox-world.ts';

const DAY = 86_400;

let folder: string;
const running: Sandbox[] = [];
const receivers: Receiver[] = [];
beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'sandbox-')), 'made', 'for it');
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((sandbox) => sandbox.stop('SIGKILL')));
  await Promise.all(receivers.splice(0).map((receiver) => receiver.close()));
  rmSync(join(folder, '..', '..'), { recursive: true, force: true });
});

const start = async (args: readonly string[] = ['--data', folder], env: Readonly<Record<string, string>> = {}): Promise<Sandbox> => {
  const sandbox = await startSandbox(args, env);
  running.push(sandbox);
  return sandbox;
};
/** How a start that is refused ends. */
const refusal = async (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> =>
  start(args, env).then(
    () => 'it started',
    (error: Error) => error.message,
  );
const world = ({ url }: Sandbox) => control(url, 'GET /world');
const read = ({ url }: Sandbox, path: string, as: string) => send(url, path, { as });

describe('a start', () => {
  it('prints the address alone on a line, and a curl that works; ends cleanly at SIGTERM', async () => {
    const sandbox = await start();
    expect(sandbox.url).toMatch(/^http:\/\/localhost:\d+$/);
    const curl = /^ .*(curl -s .*)$/m.exec(sandbox.output())?.[1] ?? '';
    const shown = await new Promise<string>((resolve) => execFile('bash', ['-c', curl], (_error, stdout) => resolve(stdout)));
    expect(JSON.parse(shown).data[0]).toMatchObject({ title: 'Weekly stand-up' });
    expect(sandbox.output()).toContain(`${sandbox.url}/docs`);
    expect((await send(sandbox.url, '/docs')).status).toBe(200);
    sandbox.process.kill('SIGTERM');
    expect(await once(sandbox.process, 'exit')).toEqual([0, null]);
    expect(sandbox.errors()).toBe('');
  });

  it('is refused in one clear line: a taken port, a folder in use, a damaged file, a folder that cannot be', async () => {
    const first = await start();
    const { port } = new URL(first.url);
    const lines = [
      [await refusal(['--data', ':memory:'], { PORT: port }), `Port ${port} is in use`],
      [await refusal(['--data', folder]), 'in use by another process'],
      [await refusal(['--data', '/proc/nowhere/at/all']), 'cannot be opened'],
    ];
    await first.stop('SIGKILL');
    for (const name of readdirSync(folder)) rmSync(join(folder, name));
    writeFileSync(join(folder, 'sandbox.sqlite'), 'this is no database, whatever its name says. '.repeat(200));
    lines.push([await refusal(['--data', folder]), 'is damaged']);
    lines.push([await refusal(['--freshly']), '--freshly']);
    for (const HOST of ['nowhere.invalid', '192.0.2.1', 'fe80::1', 'a b'])
      lines.push([await refusal([], { HOST }), `HOST: ${HOST} is not`]);
    lines.push([await refusal([], { PORT: 'x' }), 'PORT']);
    for (const [line = '', part = ''] of lines) {
      expect(line).toMatch(/^the sandbox ended with 2: sandbox: [^\n]+\n$/);
      expect(line).toContain(part);
    }
  });
});

describe('a data folder that lost something', () => {
  it('[DLV-05] is refused after `kill -9` with what is missing and what to do; --fresh sets it aside, unless it is in use', async () => {
    const first = await start();
    expect(await refusal(['--data', folder, '--fresh'])).toContain('in use by another process');
    expect((await read(first, '/v1/me', (await world(first)).users.ada.pat)).status).toBe(200);
    await first.stop('SIGKILL');
    rmSync(join(folder, 'sandbox.sqlite-wal'));
    expect(await refusal(['--data', folder])).toMatch(
      /^the sandbox ended with 2: sandbox: The data file [^\n]+ is damaged: [^\n]+ lacks the last \d+ of \d+ commits\.[^\n]+ npm start -- --fresh, [^\n]+\n$/,
    );
    const fresh = await start(['--data', folder, '--fresh']);
    const [aside = ''] = readdirSync(folder).filter((name) => name.startsWith('set-aside-'));
    expect(fresh.errors()).toBe(`sandbox: the data of before is in ${join(folder, aside)}\n`);
    expect(readdirSync(join(folder, aside))).toEqual(expect.arrayContaining(['sandbox.sqlite', 'sandbox.sqlite-commits']));
    await fresh.stop('SIGTERM');
    await start();
  });
});

describe('a disk that is full', () => {
  it('keeps the sandbox from starting, which says so in one line', async () => {
    const command = `ulimit -f 100; exec "${process.execPath}" deploy/sandbox/src/main.ts --data "${folder}"`;
    const env = { ...process.env, PORT: '0' };
    const ended = await new Promise((resolve) =>
      execFile('bash', ['-c', command], { env }, (error, stdout, stderr) => resolve([error?.code, stdout, stderr])),
    );
    expect(ended).toEqual([2, '', expect.stringMatching(/^sandbox: The data folder \S.* cannot be written: [^\n]+\.\n$/)]);
  });
});

describe('what is kept', () => {
  it('a restart has the same world, credentials, cursors and clock', async () => {
    const first = await start();
    const before = await world(first);
    const { ada } = before.users;
    const page = (await read(first, '/v1/bubbles?limit=2', ada.pat)).json;
    const key = (await send(first.url, '/v1/api-keys', { method: 'POST', as: ada.session_token, body: { name: 'kept' } })).json;
    const all = (await read(first, '/v1/bubbles?limit=100', ada.pat)).json.data;
    await control(first.url, 'POST /clock', { advance_seconds: 10 * DAY });
    await first.stop();
    const second = await start();
    const after = await world(second);
    expect({ ...after, now: null, base_url: null }).toEqual({ ...before, now: null, base_url: null });
    expect(new Date(after.now).getTime() - Date.now()).toBeGreaterThan(10 * DAY * 1000 - 60_000);
    expect((await read(second, '/v1/bubbles?limit=100', key.token)).json.data).toEqual(all);
    const next = await read(second, `/v1/bubbles?limit=100&cursor=${page.next_cursor}`, ada.pat);
    expect(next.json.data).toEqual(all.slice(2));
    expect((await read(second, `/v1/bubbles/search?q=standup`, ada.pat)).json.data).toHaveLength(1);
  });

  it('kill -9 loses nothing that was answered', async () => {
    const first = await start();
    const { users } = await world(first);
    const answered: string[] = [];
    const create = async (): Promise<void> => {
      for (;;) answered.push((await control(first.url, 'POST /bubbles', { type: 'custom_image', participant_ids: [users.eve.id] })).id);
    };
    const streams = Promise.allSettled([create(), create(), create()]);
    while (answered.length < 40) await new Promise((resolve) => setImmediate(resolve));
    first.process.kill('SIGKILL');
    await streams;
    const second = await start();
    const listed: { id: string }[] = (await read(second, '/v1/bubbles?limit=100', users.eve.pat)).json.data;
    expect(new Set(listed.map(({ id }) => id)).size).toBe(listed.length);
    expect(answered.filter((id) => !listed.some((row) => row.id === id))).toEqual([]);
    expect(listed.length - answered.length).toBeLessThanOrEqual(3);
  });

  it('[DLV-05] a delivery that waits is made after kill -9, under its id and signed by the same secret', async () => {
    const receiver = await startReceiver();
    receivers.push(receiver);
    receiver.answer(500);
    const first = await start();
    const { users, teams } = await world(first);
    const body = { url: receiver.url, events: ['bubble.ready'] };
    const { id, secret } = (await send(first.url, '/v1/webhooks', { method: 'POST', as: users.ada.pat, body })).json;
    await control(first.url, 'POST /bubbles', { type: 'custom_image', team_id: teams.acme.id, participant_ids: [users.ada.id] });
    await control(first.url, 'POST /settle');
    await control(first.url, 'POST /services/webhooks-dispatcher', { state: 'down' });
    await control(first.url, 'POST /bubbles', { type: 'custom_image', team_id: teams.acme.id, participant_ids: [users.ada.id] });
    await first.stop('SIGKILL');
    expect(receiver.received).toHaveLength(1);
    receiver.answer(200);
    const second = await start();
    await control(second.url, 'POST /settle');
    expect(receiver.received).toHaveLength(2);
    await control(second.url, 'POST /clock', { advance_seconds: 60 });
    const ids = receiver.received.map(({ headers }) => headers['x-service-delivery']);
    expect(ids).toEqual([ids[0], expect.not.stringMatching(String(ids[0])), ids[0]]);
    expect(receiver.received.map((one) => signedAt(one, secret) !== null)).toEqual([true, true, true]);
    expect((await read(second, `/v1/webhooks/${id}`, users.ada.pat)).json).toMatchObject({
      status: 'active',
      last_success_at: expect.any(String),
    });
  });

  it('--fresh starts fresh; in memory nothing is kept and nothing written', async () => {
    const first = await start();
    const before = await world(first);
    await control(first.url, 'POST /clock', { advance_seconds: 10 * DAY });
    await first.stop();
    const second = await start(['--data', folder, '--fresh']);
    const [aside = ''] = readdirSync(folder).filter((name) => name.startsWith('set-aside-'));
    const kept = await start(['--data', join(folder, aside)]);
    expect((await read(kept, '/v1/me', before.users.ada.pat)).status).toBe(200);
    await kept.stop();
    const after = await world(second);
    expect(Math.abs(new Date(after.now).getTime() - Date.now())).toBeLessThan(60_000);
    expect((await read(second, '/v1/me', before.users.ada.pat)).status).toBe(401);
    expect((await read(second, '/v1/me', after.users.ada.pat)).status).toBe(200);
    const third = await start(['--data', ':memory:'], { SANDBOX_DATA: join(folder, 'unused') });
    expect((await read(third, '/v1/me', after.users.ada.pat)).status).toBe(401);
    expect([existsSync(join(folder, 'unused')), existsSync(':memory:')]).toEqual([false, false]);
  });
});

describe('receivers', () => {
  const certificates = new URL('../../shared/testing/data/certificates/', import.meta.url);
  const certificate = { path: fileURLToPath(new URL('localhost.pem', certificates)), keyPath: new URL('localhost.key', certificates) };
  const subscribe = async ({ url }: Sandbox, receiver: string) => {
    const { users } = await control(url, 'GET /world');
    return send(url, '/v1/webhooks', { method: 'POST', as: users.ada.pat, body: { url: receiver, events: ['bubble.ready'] } });
  };

  it('[DLV-02] [HOOK-10] are spoken to as the variables of the dispatcher say', async () => {
    const receiver = await startReceiver({
      cert: readFileSync(certificate.path, 'utf8'),
      key: readFileSync(certificate.keyPath, 'utf8'),
    });
    receivers.push(receiver);
    const sandbox = await start(['--data', ':memory:'], {
      WEBHOOK_EXTRA_CA_FILE: certificate.path,
      WEBHOOK_HEADER_NAME: 'Acme',
      WEBHOOK_USER_AGENT: 'acme/1',
      WEBHOOK_ALLOW_CIDRS: '10.9.0.0/16',
      WEBHOOK_DENY_CIDRS: '93.184.0.0/16',
      WEBHOOK_ALLOW_HTTP: 'true',
    });
    expect((await subscribe(sandbox, receiver.url)).status).toBe(201);
    const { users } = await world(sandbox);
    await control(sandbox.url, 'POST /bubbles', { type: 'custom_image', participant_ids: [users.ada.id] });
    await receiver.reached(1);
    expect(receiver.received[0]?.headers).toMatchObject({ 'x-acme-event': 'bubble.ready', 'user-agent': 'acme/1' });
    const asked = ['https://10.9.0.1/', 'https://10.8.0.1/', 'https://93.184.215.14/', 'http://example.com/'];
    const statuses = await Promise.all(asked.map(async (url) => (await subscribe(sandbox, url)).status));
    expect(statuses).toEqual([201, 400, 400, 201]);
    expect(await refusal([], { WEBHOOK_DENY_CIDRS: 'x' })).toContain('WEBHOOK_DENY_CIDRS: must be a comma-separated list of networks');
  });

  it('[HOOK-10] with the rules of production nothing on this machine is admitted', async () => {
    const status = async (sandbox: Sandbox, receiver: string) => (await subscribe(sandbox, receiver)).status;
    const here = ['http://127.0.0.1:8099/', 'https://127.0.0.1/', 'http://[::1]:8099/', 'http://localhost:8099/', 'https://localhost/'];
    const [lenient, strict] = [await start(['--data', ':memory:']), await start(['--data', ':memory:'], { SANDBOX_STRICT_RECEIVERS: '1' })];
    for (const receiver of here)
      expect([receiver, await status(lenient, receiver), await status(strict, receiver)]).toEqual([receiver, 201, 400]);
    for (const receiver of ['http://example.com/', 'http://10.0.0.1/', 'http://192.168.0.1:8080/', 'https://intranet/'])
      expect([receiver, await status(lenient, receiver)]).toEqual([receiver, 400]);
    expect(await status(strict, 'https://example.com/')).toBe(201);
  });
});
