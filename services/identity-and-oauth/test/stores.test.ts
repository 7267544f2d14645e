import { randomUUID } from 'node:crypto';
import { systemIds } from '@bubbles/kernel/ids.ts';
import type { Database } from '@bubbles/store/collection.ts';
import { openMongo } from '@bubbles/store/mongo.ts';
import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { memoryLog } from '@bubbles/testing/memory-log.ts';
import { afterAll } from '@jest/globals';
import { openStores } from '../src/adapters/store/stores.ts';
import { describeAuthorizationRequestStore } from './authorization-request-suite.ts';
import { AT } from './builders.ts';
import { fakeSigningKeyStore } from './fakes.ts';
import { describeGrantStores } from './grant-suites.ts';
import { describeRegisteredClientStore } from './oauth-client-suite.ts';
import { describeSigningKeyStore, describeStores } from './store-suites.ts';

const opened = (make: () => Database) => async () => {
  const database = make();
  const replica = () =>
    openStores({ database, clock: fakeClock(AT), ids: systemIds(), source: 'identity-and-oauth', onCommit: () => undefined });
  const stores = replica();
  await stores.ensureIndexes();
  return { ...stores, otherKeyUses: replica().keyUses };
};

const onEmbedded = opened(memoryDatabase);
describeStores('the embedded store', onEmbedded);
describeSigningKeyStore('the embedded store', async () => (await onEmbedded()).accessTokenKeys);
describeSigningKeyStore('a fake', () => Promise.resolve(fakeSigningKeyStore()));
describeAuthorizationRequestStore('the embedded store', async () => (await onEmbedded()).authorizationRequests);
describeRegisteredClientStore('the embedded store', async () => (await onEmbedded()).registeredClients);
describeGrantStores('the embedded store', onEmbedded);

const url = process.env['MONGODB_URL'];
if (url !== undefined) {
  const databases: Database[] = [];
  afterAll(() => Promise.all(databases.map((database) => database.close())));
  const onMongo = opened(() => {
    const database = openMongo({ url, name: `identity_test_${randomUUID().slice(0, 8)}`, log: memoryLog(), clock: fakeClock(AT) });
    databases.push(database);
    return database;
  });
  describeStores('MongoDB', onMongo);
  describeSigningKeyStore('MongoDB', async () => (await onMongo()).accessTokenKeys);
  describeAuthorizationRequestStore('MongoDB', async () => (await onMongo()).authorizationRequests);
  describeRegisteredClientStore('MongoDB', async () => (await onMongo()).registeredClients);
  describeGrantStores('MongoDB', onMongo);
}
