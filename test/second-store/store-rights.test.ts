import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@bubbles/kernel/clock.ts';
import { partsOf } from '@bubbles/services/deployment.ts';
import { storeUsers } from '@bubbles/services/engine-users.ts';
import type { Database } from '@bubbles/store/collection.ts';
import { accessRefusalOf } from '@bubbles/store/collection.ts';
import { openMongo } from '@bubbles/store/mongo.ts';
import { expectEventually } from '@bubbles/testing/eventually.ts';
import { SILENT_LOG } from '@bubbles/testing/http.ts';
import { openTestService } from '@bubbles/testing/service-under-test.ts';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { openKeys } from '../../deploy/keys/src/keys.ts';
import { PRODUCT } from '../../deploy/services/src/product.ts';
import { type ProcessPlan, planProcesses } from '../../deploy/stack/src/plan.ts';
import { openProcesses } from '../../deploy/stack/src/processes.ts';
import { awaitReady, whyNotReady } from '../../deploy/stack/src/readiness.ts';

const WITH_LOGINS = new URL('engines-with-logins.sh', import.meta.url).pathname;
const ENGINES = new URL('../../deploy/engines/engines.sh', import.meta.url).pathname;
const NOTHING: readonly string[] = [];
const PORT = 8980;

const home = mkdtempSync(join(tmpdir(), 'rights-'));
const secrets = join(home, 'secrets');
/** The store alone. */
const bash = (...words: readonly string[]) =>
  execFileSync('bash', words, { env: { ...process.env, AMQP_URL: 'none', MONGODB_URL: '', ENGINES_HOME: join(home, 'engines') } });

beforeAll(() => {
  mkdirSync(secrets);
  bash(WITH_LOGINS, secrets);
  bash(WITH_LOGINS, secrets);
});
afterAll(() => {
  bash(ENGINES, 'down');
  rmSync(home, { recursive: true });
});

const urlOf = (user: string): string => readFileSync(join(secrets, user, 'MONGODB_URL'), 'utf8');
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

describe('a service whose login to the store is wrong', () => {
  const processes = openProcesses(join(home, 'processes'));
  const loginFile = join(secrets, 'signup', 'MONGODB_URL');
  const planWith = (login: string, environment: Readonly<Record<string, string>> = {}): ProcessPlan => {
    const layout = { port: PORT, amqpUrl: '', mongoUrl: '', databasePrefix: '', replicas: { signup: 1 }, folder: home, logins: secrets };
    const [plan] = planProcesses({ ...layout, drainNotice: '0s', shedding: true, settings: {} }, openKeys(join(home, 'keys')));
    if (plan === undefined) throw new Error('there is no process of signup');
    const file = join(home, 'login');
    writeFileSync(file, login);
    return { ...plan, environment: { ...plan.environment, MONGODB_URL_FILE: file, ...environment } };
  };
  afterEach(() => processes.end(planWith(''), 'SIGKILL'));
  const refusalOf = async (plan: ProcessPlan): Promise<string> => {
    processes.start(plan);
    const refusal: unknown = await awaitReady(plan, processes).catch((error: unknown) => error);
    expect(await processes.end(plan, 'SIGKILL')).toBe(2);
    return Error.isError(refusal) ? refusal.message : 'it is ready';
  };

  it.each([
    ['password', (url: string) => url.replace(/:[^:@]+@/, ':wrong@'), {}, 'the database refuses the user or the password'],
    ['database', (url: string) => url, { MONGODB_DATABASE: 'elsewhere' }, 'the database does not let the user find in elsewhere'],
    [
      'replica set',
      (url: string) => url.replace(/replicaSet=\w+/, 'replicaSet=rs9'),
      {},
      'the database at [0-9.:]+ is in the replica set secantus, and the URL names rs9',
    ],
    ['option', (url: string) => `${url}&replicaste=rs0`, {}, 'option replicaste is not supported'],
  ])('ends with 2 and one line that names the %s', async (_, change, environment, reason) => {
    expect(await refusalOf(planWith(change(urlOf('signup')), environment))).toMatch(
      new RegExp(`^signup-1 ended: signup: MONGODB_URL: ${reason}[.] \\(`),
    );
  });

  it('the migration job ends so too, and says what the user of a service may not do', () => {
    const env = { MONGODB_URL: urlOf('signup') };
    const { status, stderr } = spawnSync(process.execPath, ['deploy/migration/src/main.ts'], { env, encoding: 'utf8' });
    const line = 'migration: MONGODB_URL: the database does not let the user find in bubbles_identity.\n';
    expect({ status, stderr }).toEqual({ status: 2, stderr: line });
  });

  it('runs on when the password is changed, says why it is not ready, and is ready again after a restart with the new one', async () => {
    const plan = planWith(urlOf('signup'));
    processes.start(plan);
    await awaitReady(plan, processes);
    const before = urlOf('signup');
    rmSync(join(secrets, 'made', 'store-signup.key'));
    bash(WITH_LOGINS, secrets);
    expect(urlOf('signup')).not.toBe(before);
    // Its connections end, and new ones are refused.
    bash(ENGINES, 'signal', 'mongo', 'TERM');
    bash('-c', `MONGO_LOGINS=1 bash ${ENGINES} up`);
    await expectEventually(async () => (await whyNotReady(plan))?.startsWith('database refuses the user or the password') ?? false);
    expect(processes.isRunning(plan)).toBe(true);
    const next = { ...plan, environment: { ...plan.environment, MONGODB_URL_FILE: loginFile } };
    expect(await processes.end(plan, 'SIGTERM')).toBe(0);
    processes.start(next);
    await awaitReady(next, processes);
    expect(await processes.end(next, 'SIGTERM')).toBe(0);
  });
});
