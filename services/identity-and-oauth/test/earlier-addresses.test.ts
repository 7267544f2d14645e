import { systemIds } from '@bubbles/kernel/ids.ts';
import type { Database } from '@bubbles/store/collection.ts';
import { openMigrations } from '@bubbles/store/migrations.ts';
import { SILENT_LOG } from '@bubbles/testing/http.ts';
import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { memoryLog } from '@bubbles/testing/memory-log.ts';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { MIGRATIONS } from '../src/adapters/store/migrations.ts';
import { openStores } from '../src/adapters/store/stores.ts';
import { AT, anAccount } from './builders.ts';
import { startIdentity, type TestIdentity } from './identity.ts';

const ADA = 'ada@acme.test';
const MINUTE_MS = 60_000;

let identity: TestIdentity;
beforeEach(async () => {
  identity = await startIdentity();
});
afterEach(() => identity.stop());

const idsAt = async (email: string) => {
  const { body } = await identity.admin('GET', `accounts?email=${encodeURIComponent(email)}`);
  return body.accounts.map(({ user_id }: { user_id: string }) => user_id);
};
const create = (email: string | null) => identity.admin('POST', 'accounts', { name: 'Ada', email, picture_url: null, key_name: null });

describe('accounts of an older release that runs beside this one', () => {
  let database: Database;
  const migrate = (contract: boolean) =>
    openMigrations({
      database,
      service: 'identity-and-oauth',
      steps: MIGRATIONS,
      clock: identity.clock,
      ids: systemIds(),
      log: SILENT_LOG,
    }).run({
      contract,
      stopping: new AbortController().signal,
    });
  /** The job has run; then the older release, which goes on, writes the accounts. */
  const withEarlier = async (...accounts: Parameters<typeof anAccount>[0][]) => {
    database = memoryDatabase();
    await migrate(false);
    return await restartWith(...accounts);
  };
  /** Identity stops, an older release writes the accounts, identity starts again. */
  const restartWith = async (...accounts: Parameters<typeof anAccount>[0][]) => {
    await stopAndWrite(...accounts);
    return await start();
  };
  const stopAndWrite = async (...accounts: Parameters<typeof anAccount>[0][]) => {
    await identity.stop();
    const options = { ids: systemIds(), source: 'identity-and-oauth', onCommit: () => undefined };
    const stores = openStores({ database, clock: identity.clock, ...options });
    for (const account of accounts) await stores.accounts.insert({ state: anAccount(account), events: [] });
  };
  const start = async () => {
    const log = memoryLog();
    identity = await startIdentity({ database, clock: identity.clock, log, migrations: 'await' });
    return log;
  };

  it('have their addresses before the first new account is made', async () => {
    await withEarlier({ id: 'early', email: ADA }, { id: 'none', email: null }, { id: 'odd', email: 'no address' });
    expect((await create(ADA)).status).toBe(409);
    expect(await idsAt(ADA)).toEqual(['early']);
  });

  it('are found by their addresses at once', async () => {
    await withEarlier({ id: 'early', email: 'ADA@acme.test' });
    expect(await idsAt(ADA)).toEqual(['early']);
  });

  it('are found at once again after the older release ran in between', async () => {
    await withEarlier({ id: 'early', email: ADA });
    expect(await idsAt(ADA)).toEqual(['early']);
    await restartWith({ id: 'between', email: 'Between@acme.test' });
    expect((await create('between@acme.test')).status).toBe(409);
    expect(await idsAt('between@acme.test')).toEqual(['between']);
  });

  it.each([
    ['a', 'b'],
    ['b', 'a'],
  ])('of two with one address the older one keeps it, and the log names both: %s before %s', async (older, younger) => {
    const later = new Date(AT.getTime() + 1);
    const log = await withEarlier({ id: older, email: ADA }, { id: younger, email: 'Ada@acme.test', createdAt: later });
    for (let run = 0; run < 2; run += 1) {
      await identity.runJob('take-earlier-addresses');
      expect(await idsAt(ADA)).toEqual([older]);
    }
    const told = log.lines.filter(({ message }) => message === 'two accounts have one address');
    expect(told.map(({ level }) => level)).toEqual(['warn', 'warn']);
    expect(JSON.stringify(told)).not.toContain('acme.test');
  });

  it('are read once for many who ask at once', async () => {
    const log = await withEarlier({ id: 'a', email: ADA }, { id: 'b', email: ADA, createdAt: new Date(AT.getTime() + 1) });
    const made = await Promise.all(Array.from({ length: 9 }, (_, i) => create(`new-${i}@acme.test`)));
    expect(made.map(({ status }) => status)).toEqual(Array(9).fill(201));
    expect(log.lines.filter(({ message }) => message === 'two accounts have one address')).toHaveLength(1);
  });

  it('have their addresses when the last steps have run, and no process reads all accounts any more', async () => {
    await withEarlier({ id: 'early', email: ADA });
    await migrate(true);
    await restartWith();
    expect(await idsAt(ADA)).toEqual(['early']);
    await restartWith({ id: 'late', email: 'late@acme.test' });
    await identity.runJob('take-earlier-addresses');
    expect(await idsAt('late@acme.test')).toEqual([]);
  });

  it('have their addresses before this release starts, which waits for that', async () => {
    database = memoryDatabase();
    await stopAndWrite({ id: 'early', email: ADA });
    const starting = start();
    await identity.clock.advance(MINUTE_MS);
    await migrate(false);
    await starting;
    expect(await database.collection('addresses').findOne({ _id: ADA })).toMatchObject({ accountId: 'early' });
  });

  it('of more than one page are all taken', async () => {
    await withEarlier(...Array.from({ length: 401 }, (_, i) => ({ id: `user-${i}`, email: `user-${i}@acme.test` })));
    await identity.runJob('take-earlier-addresses');
    for (const i of [0, 200, 400]) expect(await idsAt(`user-${i}@acme.test`)).toEqual([`user-${i}`]);
  });
});
