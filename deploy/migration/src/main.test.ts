import { spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { systemClock } from '@bubbles/kernel/clock.ts';
import type { Database, Doc } from '@bubbles/store/collection.ts';
import { openMongo } from '@bubbles/store/mongo.ts';
import { expectEventually } from '@bubbles/testing/eventually.ts';
import { SILENT_LOG } from '@bubbles/testing/http.ts';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

const MAIN = join(import.meta.dirname, 'main.ts');
const run = (env: Readonly<Record<string, string>>, ...words: readonly string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, ...words], { env, encoding: 'utf8' });
  return { status, stdout, stderr };
};

/** Nobody listens there; a port that was given free may be given to somebody else meanwhile. */
const NOBODY = '127.0.0.1:1';

describe('the migration job', () => {
  it('ends with one line that names the database when that is out of reach', () => {
    const { status, stderr } = run({ MONGODB_URL: `mongodb://user:hunter2@${NOBODY}/` });
    expect(stderr).toMatch(new RegExp(`^migration: the database bubbles_identity at ${NOBODY} cannot be used: [^\\n]+\\n$`));
    expect(stderr).not.toContain('hunter2');
    expect(status).toBe(2);
  });

  it.each([
    [['--force'], /^migration: usage: migration /],
    [['gateways'], /^migration: there is no service gateways; usage: migration /],
    [['run'], /^migration: there is no service run; /],
  ])('refuses %j in one line, and does nothing', (words, line) => {
    const { status, stdout, stderr } = run({}, ...words);
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(line);
  });

  it('names the variable that it was not told', () => {
    expect(run({})).toEqual({ status: 2, stdout: '', stderr: expect.stringContaining('bad configuration: MONGODB_URL') });
  });
});

const describeOnEngine = (url: string) =>
  describe('the migration job on MongoDB', () => {
    const ACCOUNTS = 3000;
    let env: Readonly<Record<string, string>>;
    let database: Database;
    beforeEach(async () => {
      const prefix = `migration_${randomUUID().slice(0, 8)}_`;
      env = { MONGODB_URL: url, MONGODB_DATABASE_PREFIX: prefix };
      database = openMongo({ url, name: `${prefix}bubbles_identity`, log: SILENT_LOG, clock: systemClock() });
      const accounts = Array.from({ length: ACCOUNTS }, (_, n) => ({
        _id: `user-${n}`,
        email: `user-${n}@acme.test`,
        createdAt: new Date(),
      }));
      for (let n = 0; n < ACCOUNTS; n += 500) await database.collection('accounts').insertEach(accounts.slice(n, n + 500));
    });
    afterEach(() => database.close());

    const start = (...words: readonly string[]) => {
      const child = spawn(process.execPath, [MAIN, 'identity-and-oauth', ...words], { env, stdio: ['ignore', 'pipe', 'pipe'] });
      let output = '';
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding('utf8').on('data', (chunk: string) => {
          output += chunk;
        });
      return { child, ended: once(child, 'close'), output: () => output };
    };
    const taken = () => database.collection('addresses').count({});
    const batches = async () => {
      const record = await database.collection<Doc & { readonly batches: number }>('migrations').findOne({ _id: '0001' });
      return record?.batches ?? 0;
    };
    const endedMidway = async (signal: NodeJS.Signals) => {
      const job = start();
      await expectEventually(async () => (await batches()) > 1);
      job.child.kill(signal);
      const [code] = await job.ended;
      expect(await taken()).toBeLessThan(ACCOUNTS);
      return { code, output: job.output() };
    };

    it('goes on where it was killed', async () => {
      await endedMidway('SIGKILL');
      const next = start();
      expect((await next.ended)[0]).toBe(0);
      expect(next.output()).toContain('step goes on');
      expect(await taken()).toBe(ACCOUNTS);
    });

    it('ends after the batch in progress when it is told to, says so with code 1, and goes on', async () => {
      const { code, output } = await endedMidway('SIGTERM');
      expect(code).toBe(1);
      expect(output).toContain('migration: stopped before the steps of identity-and-oauth were done; run it again and it goes on\n');
      expect(run(env, 'status', 'identity-and-oauth').stdout).toMatch(
        /^identity-and-oauth 1 take_earlier_addresses \(expand\): would go on after \d+ batches, from user-/,
      );
      expect(run(env, 'identity-and-oauth').status).toBe(0);
      expect(await taken()).toBe(ACCOUNTS);
    });

    it('of two at once does each step once, and tells what it would do without doing it', async () => {
      expect(run(env, '--dry-run', 'identity-and-oauth').stdout.split('\n')).toEqual([
        'identity-and-oauth 1 take_earlier_addresses (expand): would run',
        'identity-and-oauth 2 take_last_earlier_addresses (contract): waits for --contract, when no process of an earlier release runs any more',
        '',
      ]);
      expect(await batches()).toBe(0);
      const jobs = [start('--contract'), start('--contract')];
      expect(await Promise.all(jobs.map(async ({ ended }) => (await ended)[0]))).toEqual([0, 0]);
      const lines = jobs.map(({ output }) => output()).join('');
      expect(lines.match(/step is done/g)).toHaveLength(2);
      expect(await taken()).toBe(ACCOUNTS);
    });
  });

if (process.env['MONGODB_URL'] !== undefined) describeOnEngine(process.env['MONGODB_URL']);
