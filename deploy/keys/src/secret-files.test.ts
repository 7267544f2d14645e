import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readProcessConfig } from '@bubbles/host/variables.ts';
import { partsOf } from '@bubbles/services/deployment.ts';
import { PRODUCT } from '@bubbles/services/product.ts';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

const MAIN = new URL('main.ts', import.meta.url).pathname;
const ADDRESSES = {
  BROKER_ADDRESS: 'amqp://broker:5672',
  STORE_ADDRESS: 'mongodb://one:27017,two:27017/?replicaSet=rs0',
  MAIL_ADDRESS: 'smtp://mail:1025',
};

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'keys-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const start = (environment: Readonly<Record<string, string>> = ADDRESSES) =>
  spawn(process.execPath, [MAIN], { env: { KEYS_FOLDER: folder, ...environment }, stdio: ['ignore', 'ignore', 'pipe'] });
const endOf = async (child: ReturnType<typeof start>) => {
  const said: Buffer[] = [];
  child.stderr.on('data', (chunk: Buffer) => said.push(chunk));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, said: Buffer.concat(said).toString() };
};
const run = (environment?: Readonly<Record<string, string>>) => endOf(start(environment));
const contents = (): Readonly<Record<string, string>> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [path.slice(folder.length + 1), readFileSync(path, 'utf8')]),
  );

describe('the job of the keys', () => {
  it('makes what each service needs to be told in secret', async () => {
    expect(await run()).toEqual({ code: 0, said: '' });
    for (const definition of PRODUCT.definitions) {
      const own = readdirSync(join(folder, definition.name)).map((name) => [`${name}_FILE`, join(folder, definition.name, name)]);
      const open = { PUBLIC_BASE_URL: 'http://localhost', APP_BASE_URL: 'http://localhost', NOTETAKERS: 'zoom=simulator' };
      const urls = Object.fromEntries(Object.values(PRODUCT.services).map(({ urlsVariable }) => [urlsVariable, 'http://service']));
      const config = readProcessConfig(definition, { ...open, ...urls, ...Object.fromEntries(own) });
      const { username, password, host, pathname } = new URL(config.amqpUrl);
      expect({ username, host, pathname }).toEqual({ username: definition.name, host: 'broker:5672', pathname: '/bubbles' });
      expect(password).toMatch(/^[\w-]{32}$/);
      const database = PRODUCT.services[definition.name]?.database;
      expect(config.mongoUrl).toMatch(
        new RegExp(`^mongodb://${definition.name}:[\\w-]{32}@one:27017,two:27017/[?]replicaSet=rs0&authSource=${database}$`),
      );
      expect([...config.callers.keys()].toSorted()).toEqual(PRODUCT.services[definition.name]?.callers.toSorted());
    }
  });

  it('makes every required secret of every part, and no other file for it', async () => {
    await run();
    const made = Object.keys(contents());
    for (const { name, variables } of partsOf()) {
      const required = variables.filter(({ isSecret, isRequired }) => isSecret && isRequired).map((variable) => `${name}/${variable.name}`);
      expect(made).toEqual(expect.arrayContaining(required));
      const known = variables.map((variable) => `${name}/${variable.name}`);
      expect(made.filter((path) => path.startsWith(`${name}/`) && !known.includes(path))).toEqual([]);
    }
  });

  it('gives no two parts the same secret', async () => {
    await run();
    const secrets = Object.entries(contents()).filter(([path]) => path.startsWith('made/'));
    expect(new Set(secrets.map(([, value]) => value)).size).toBe(secrets.length);
    for (const variable of ['SEAL_KEYS', 'CURSOR_KEY', 'SERVICE_KEY']) {
      const own = Object.entries(contents()).flatMap(([path, value]) => (path.endsWith(`/${variable}`) ? [value] : []));
      expect(own.length).toBeGreaterThan(1);
      expect(new Set(own).size).toBe(own.length);
    }
  });

  it('leaves what is there as it is', async () => {
    await run();
    const before = contents();
    expect(await run()).toEqual({ code: 0, said: '' });
    expect(contents()).toEqual(before);
  });

  it('mends who may read what is there', async () => {
    await run();
    const file = join(folder, 'gateway', 'SERVICE_KEY');
    const before = statSync(file).mode;
    chmodSync(file, 0o644);
    await run();
    expect(statSync(file).mode).toBe(before);
  });

  it('makes again what was lost of a part, from the secrets that it keeps', async () => {
    await run();
    const before = contents();
    rmSync(join(folder, 'signup'), { recursive: true });
    writeFileSync(join(folder, 'gateway', 'SERVICE_KEY'), 'half a ke', { flag: 'r+' });
    await run();
    expect(contents()).toEqual(before);
  });

  it('agrees with itself when it runs twice at the same time, and after it was killed', async () => {
    const killed = start();
    // Heard from its start: it may end by itself before it is killed.
    const ended = endOf(killed);
    while (!readdirSync(folder).includes('made')) await new Promise((resolve) => setImmediate(resolve));
    killed.kill('SIGKILL');
    await ended;
    const kept = Object.entries(contents()).filter(([path]) => path.startsWith('made/') && path.endsWith('.key'));
    expect(await Promise.all([run(), run()])).toEqual([
      { code: 0, said: '' },
      { code: 0, said: '' },
    ]);
    const after = contents();
    expect(after).toMatchObject(Object.fromEntries(kept));
    expect(await run()).toEqual({ code: 0, said: '' });
    expect(Object.fromEntries(Object.entries(contents()).filter(([path]) => !path.startsWith('made/')))).toEqual(
      Object.fromEntries(Object.entries(after).filter(([path]) => !path.startsWith('made/'))),
    );
  });

  it('lets nobody read a secret but its owner and its group', async () => {
    await run();
    const modes = Object.keys(contents()).map((path) => [path, (statSync(join(folder, path)).mode & 0o777).toString(8)] as const);
    const expected = (path: string) => (path.startsWith('made/') ? '600' : /^(?:rabbitmq|mongodb)\//.test(path) ? '444' : '440');
    expect(modes).toEqual(modes.map(([path]) => [path, expected(path)]));
    expect((statSync(join(folder, 'made')).mode & 0o777).toString(8)).toBe('700');
  });

  it('says in one line which address is wrong, and makes nothing', async () => {
    const { code, said } = await run({ ...ADDRESSES, BROKER_ADDRESS: 'amqp://user:secret@broker', STORE_ADDRESS: 'mongodb://store' });
    expect({ code, lines: said.trimEnd().split('\n').length }).toEqual({ code: 2, lines: 1 });
    expect(said).toMatch(/^keys: bad configuration: BROKER_ADDRESS: must be .*; STORE_ADDRESS: must be /);
    expect(said).not.toContain('secret@');
    expect(readdirSync(folder)).toEqual([]);
  });
});
