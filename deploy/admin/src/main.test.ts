import { spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

const ROOT = join(import.meta.dirname, '../../..');
const OPERATOR_KEY = generateKeyPairSync('ed25519').privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64');

interface Asked {
  readonly path: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Stands in for services: answers as the test says, one answer after the other. */
const asked: Asked[] = [];
const answers: { readonly status: number; readonly body: string }[] = [];
const server = createServer(async (req, res) => {
  asked.push({ path: req.url, headers: req.headers, body: await text(req) });
  const { status, body } = answers.shift() ?? { status: 500, body: '' };
  res.writeHead(status, { 'x-request-id': 'request-1' }).end(body);
});
let url = '';
beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  // The address of a listening TCP server.
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await promisify(server.close.bind(server))();
});

const admin = async (line: string, environment: Readonly<Record<string, string>> = {}) => {
  asked.length = 0;
  const own = { IDENTITY_URL: url, WEBHOOKS_DISPATCHER_URL: url, SIGNUP_URL: url, BUBBLES_QUERY_URL: url, OPERATOR_KEY, ...environment };
  const child = spawn('node', ['deploy/launch.mjs', 'deploy/admin/src/main.ts', ...line.split(' ')], {
    cwd: ROOT,
    env: { PATH: process.env['PATH'], ...own },
  });
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { out, err, code };
};
const answer = (body: unknown, status = 200) => answers.push({ status, body: typeof body === 'string' ? body : JSON.stringify(body) });
const seals = (fields: object) => ({
  newest_key: 'k2',
  keys: ['k2', 'k1'],
  sealed: {},
  resealed: 0,
  unreadable: {},
  next_after: null,
  carried_seconds: 0,
  ...fields,
});

describe('npm run admin', () => {
  it.each([
    ['accounts create', {}, 'usage: npm run admin -- accounts create [--name …]'],
    ['accounts drop', {}, 'usage: npm run admin -- <command>'],
    ['accounts state u1 gone', {}, 'state:'],
    ['accounts list', { IDENTITY_URL: '', OPERATOR_KEY: '' }, 'OPERATOR_KEY: is required; IDENTITY_URL: is required'],
    ['accounts list', { OPERATOR_NAME: 'two words' }, 'as: must have 1 to 64 letters'],
    ['dead-letters list bubbles-query', {}, 'AMQP_URL: is required'],
  ])('ends with 2 and asks nobody when it is wrong or wrongly configured: %s', async (line, environment, said) => {
    const { out, err, code } = await admin(line, environment);
    expect([out, code, asked]).toEqual(['', 2, []]);
    expect(err).toContain(said);
  });

  it('writes the answer, tells beside it that it holds a secret, and says who asks', async () => {
    answer({ account: { user_id: 'u1' }, key: { token: 'svc_pat_x' } }, 201);
    const { out, err, code } = await admin('accounts create --name Ada --as ben');
    expect([JSON.parse(out).account.user_id, code]).toEqual(['u1', 0]);
    expect(err).toContain('is a secret and is shown this once');
    expect(err).not.toContain('svc_pat_x');
    expect(asked).toMatchObject([{ path: '/internal/v1/admin/accounts', headers: { 'x-operator-name': 'ben' } }]);
  });

  it.each([
    [
      409,
      { error: { type: 'invalid_request', message: 'The address is taken.' } },
      'refused (409) invalid_request: The address is taken. [request request-1]',
    ],
    [502, '<html>', 'refused (502) the answer is none of our services; look at the address'],
    [200, '<html>', 'refused (200) the answer is none of our services; look at the address'],
  ])('ends with 1 and says why when it is refused: %s', async (status, body, said) => {
    answer(body, status);
    const { out, err, code } = await admin('accounts show u1', { OPERATOR_NAME: 'ada' });
    expect([out, code]).toEqual(['', 1]);
    expect(err).toContain(`identity-and-oauth ${said}`);
  });

  it.each([
    ['accounts state u1 disabled', ' The change may have been made. Look before you repeat it.'],
    ['accounts show u1', ''],
  ])('ends with 1 when nobody answers "%s", says why and whether it may have been done', async (line, advice) => {
    const closed = createServer();
    await once(closed.listen(0, '127.0.0.1'), 'listening');
    const { port } = closed.address() as AddressInfo; // The address of a listening TCP server.
    await promisify(closed.close.bind(closed))();
    const { err, code } = await admin(line, { IDENTITY_URL: `http://127.0.0.1:${port}` });
    expect([err.trim(), code]).toEqual([`identity-and-oauth did not answer: connect ECONNREFUSED 127.0.0.1:${port}.${advice}`, 1]);
  });

  it('ends with 1 when an answer breaks off, and says that the change may have been made', async () => {
    const breaking = createServer((_req, res) => {
      res.writeHead(201, { 'content-type': 'application/json', 'content-length': '100' });
      res.write('{', () => res.destroy());
    });
    await once(breaking.listen(0, '127.0.0.1'), 'listening');
    const { port } = breaking.address() as AddressInfo; // As above.
    const { err, code } = await admin('keys grant u1 ci', { IDENTITY_URL: `http://127.0.0.1:${port}` });
    breaking.close();
    expect(err).toMatch(/^identity-and-oauth did not answer: .*\. The change may have been made\. Look before you repeat it\.$/m);
    expect(code).toBe(1);
  });

  it('seals again page by page, then counts what is left and says which keys are free', async () => {
    answer(seals({ sealed: { k1: 200 }, resealed: 200, next_after: 'mails/1' }));
    answer(seals({ sealed: { k1: 3, k2: 1 }, resealed: 3 }));
    answer(seals({ sealed: { k2: 204 }, carried_seconds: 60 }));
    const { out, code } = await admin('seals renew --service signup');
    expect([JSON.parse(out), code]).toEqual([
      [
        {
          service: 'signup',
          newest_key: 'k2',
          sealed: { k2: 204 },
          resealed: 203,
          unreadable: {},
          free_keys: ['k1'],
          keep_free_keys_seconds_after_roll_out: 60,
        },
      ],
      0,
    ]);
    expect(asked.map(({ body }) => JSON.parse(body))).toEqual([
      { after: null, dry_run: false },
      { after: 'mails/1', dry_run: false },
      { after: null, dry_run: true },
    ]);
  });

  it.each([
    ['an old key is in use again', [seals({ sealed: { k1: 1 }, resealed: 1 }), seals({ sealed: { k1: 1 } })], '"k1": 1'],
    ['something cannot be read', [seals({}), seals({ unreadable: { 'mails.sealed': 1 } })], 'mails.sealed'],
    ['two replicas have different keys', [seals({ next_after: 'mails/1' }), seals({ keys: ['k1'] })], 'Finish the roll-out'],
  ])('ends with 1 when %s', async (_what, pages, said) => {
    for (const page of pages) answer(page);
    const { out, err, code } = await admin('seals renew --service signup');
    expect([code, `${out}${err}`]).toEqual([1, expect.stringContaining(said)]);
    answers.length = 0;
  });

  it('sums up what a dry run counts, and what a rebuild has read', async () => {
    for (const [matching, next_after] of [
      [1000, 'a b'],
      [7, null],
    ])
      answer({ subscription_id: 'wh_1', matching, next_after, replay_id: null });
    const counted = await admin('deliveries redeliver wh_1 --from 2026-11-01T00:00:00Z --dry-run');
    expect([JSON.parse(counted.out), counted.code]).toEqual([{ matching: 1007 }, 0]);
    expect(counted.err).toContain('Dry run: nothing is changed.');
    expect(asked.map(({ body }) => JSON.parse(body).after)).toEqual([null, 'a b']);
    answer({ accounts: 2, next_after: 'u2' });
    answer({ accounts: 1, next_after: null });
    expect(JSON.parse((await admin('rebuild people')).out)).toEqual({ accounts: 3 });
  });
});
