import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { systemClock } from '@bubbles/kernel/clock.ts';
import { partsOf } from '@bubbles/services/deployment.ts';
import { storeUsers } from '@bubbles/services/engine-users.ts';
import type { Database } from '@bubbles/store/collection.ts';
import { accessRefusalOf } from '@bubbles/store/collection.ts';
import { openMongo } from '@bubbles/store/mongo.ts';
import { SILENT_LOG } from '@bubbles/testing/http.ts';
import { openTestService } from '@bubbles/testing/service-under-test.ts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openKeys } from '../../deploy/keys/src/keys.ts';
import { secretFiles } from '../../deploy/keys/src/secret-files.ts';
import { PRODUCT } from '../../deploy/services/src/product.ts';

type Command = Readonly<Record<string, unknown>>;

const ENGINES = new URL('../../deploy/engines/engines.sh', import.meta.url).pathname;
const USERS_SCRIPT = readFileSync(new URL('../../deploy/mongodb/users.js', import.meta.url), 'utf8');
const DRIVER = import.meta.resolve('mongodb');
const NOTHING: readonly string[] = [];

const home = mkdtempSync(join(tmpdir(), 'rights-'));
const keys = openKeys(join(home, 'keys'));
let files: ReadonlyMap<string, string>;
let address: string;

/** The store alone: whatever is named as the broker is used. */
const engines = (word: string, environment: Readonly<Record<string, string>> = {}): string => {
  const env = { ...process.env, AMQP_URL: 'none', MONGODB_URL: '', ENGINES_HOME: join(home, 'engines'), ...environment };
  return execFileSync('bash', [ENGINES, word], { env, encoding: 'utf8' });
};
const up = (environment?: Readonly<Record<string, string>>) => /^MONGODB_URL=(.+)$/m.exec(engines('up', environment))?.[1] ?? '';

/** One command by a process of its own, since scripts of the shell wait for each answer. */
const commandAt = (url: string) => (database: string, command: Command) => {
  const script = `import { MongoClient } from '${DRIVER}';
    const [url, database, command] = JSON.parse(process.argv[1]);
    const client = new MongoClient(url, { serverSelectionTimeoutMS: 5000 });
    const { ok, users, isWritablePrimary } = await client.db(database).command(command).finally(() => client.close());
    console.log(JSON.stringify({ ok, users, isWritablePrimary }));`;
  const words = ['--input-type=module', '--eval', script, JSON.stringify([url, database, command])];
  return JSON.parse(execFileSync(process.execPath, words, { encoding: 'utf8' }));
};

/** What mongosh hands to a script, as far as deploy/mongodb/users.js asks for it, on the real store. */
const runUsersScript = (store: string): void => {
  const folder = { 'root-password': files.get('mongodb/root-password'), 'users.json': files.get('mongodb/users.json') };
  const connect = (url: string) => {
    const command = commandAt(url);
    return {
      adminCommand: (one: Command) => command('admin', one),
      hello: () => command('admin', { hello: 1 }),
      getSiblingDB: (database: string) => ({
        getUser: (user: string) => command(database, { usersInfo: user }).users[0] ?? null,
        createUser: ({ user, ...wanted }: Command) => command(database, { createUser: user, ...wanted }),
        updateUser: (user: string, wanted: Command) => command(database, { updateUser: user, ...wanted }),
      }),
    };
  };
  runInNewContext(USERS_SCRIPT, {
    connect,
    print: () => undefined,
    process: { env: { KEYS_FOLDER: '', STORE: store } },
    require: (name: string) =>
      name === 'node:fs'
        ? { readFileSync: (path: string) => folder[path.slice(1) as keyof typeof folder] }
        : createRequire(import.meta.url)(name),
  });
};

beforeAll(() => {
  address = up();
  files = secretFiles({ keys, addresses: { broker: 'amqp://broker', store: address, mail: 'smtp://mail' } });
  const root = { createUser: 'root', pwd: files.get('mongodb/root-password'), roles: [{ role: 'root', db: 'admin' }] };
  commandAt(address)('admin', root);
  engines('down');
  up({ MONGO_LOGINS: '1' });
  const store = new URL(address).host;
  runUsersScript(store);
  runUsersScript(store);
});
afterAll(() => {
  engines('down');
  rmSync(home, { recursive: true });
});

const urlOf = (user: string): string => files.get(`${user}/MONGODB_URL`) ?? '';
const as = async <T>(url: string, name: string, work: (database: Database) => Promise<T>): Promise<T> => {
  const database = openMongo({ url, name, log: SILENT_LOG, clock: systemClock() });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
};

const USERS = storeUsers(partsOf());
const services = USERS.filter(({ database }) => database !== 'admin');
const databases = services.map(({ database }) => database);
const INDEX = { name: 'n', keys: { n: 1 } } as const;
const WORKS: Readonly<Record<string, (database: Database) => Promise<unknown>>> = {
  find: (database) => database.collection('tried').find({}, {}),
  insert: (database) => database.collection('tried').insert({ _id: 'one' }),
  update: (database) => database.collection('tried').updateMany({}, { $set: { n: 1 } }),
  delete: (database) => database.collection('tried').deleteMany({}),
  createIndexes: (database) => database.collection('tried').ensureIndexes([INDEX]),
};
const isAllowed = async (work: Promise<unknown>): Promise<boolean> => {
  try {
    await work;
    return true;
  } catch (error) {
    if (accessRefusalOf(error) === null) throw error;
    return false;
  }
};
/** Which of these works the store lets a user do in a database. */
const allowed = (url: string, name: string): Promise<readonly string[]> =>
  as(url, name, async (database) => {
    const done: string[] = [];
    for (const [work, act] of Object.entries(WORKS)) if (await isAllowed(act(database))) done.push(work);
    return done;
  });

describe('the users of a deployment in a store that asks for logins', () => {
  it.each(services)('$user reads, writes and indexes its own database, and no other', async ({ user, database: own }) => {
    for (const database of databases)
      expect([database, await allowed(urlOf(user), database)]).toEqual([database, database === own ? Object.keys(WORKS) : NOTHING]);
    expect(await allowed(urlOf(user), 'admin')).toEqual([]);
  });

  it('the migration job does in all of them', async () => {
    for (const database of databases) expect(await allowed(urlOf('migration'), database)).toEqual(Object.keys(WORKS));
  });

  it.each(services)('$user has what its service does when it starts', async ({ user, database: name }) => {
    const definition = PRODUCT.definitions.find((one) => one.name === user);
    if (definition === undefined) throw new Error(`there is no service ${user}`);
    await as(urlOf(user), name, async (database) => {
      const { service } = openTestService(definition, { database, clock: systemClock() });
      await service.start();
      await service.stop();
    });
  });

  it.each([
    ['a wrong password', (url: string) => url.replace(/:[^:@]+@/, ':wrong@')],
    ['no user', (url: string) => url.replace(/\/\/[^@]+@/, '//').replace(/&authSource=\w+/, '')],
    ['the database of another as authSource', (url: string) => url.replace(/authSource=\w+/, 'authSource=bubbles_query')],
  ])('with %s nothing is allowed', async (_, change) => {
    expect(await allowed(change(urlOf('signup')), 'bubbles_signup')).toEqual([]);
  });
});
