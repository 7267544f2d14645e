import { randomUUID } from 'node:crypto';
import { systemIds } from '@bubbles/kernel/ids.ts';
import type { Database } from '@bubbles/store/collection.ts';
import { openMongo } from '@bubbles/store/mongo.ts';
import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { memoryLog } from '@bubbles/testing/memory-log.ts';
import { afterAll } from '@jest/globals';
import { openStores } from '../src/adapters/store/stores.ts';
import { AT } from './builders.ts';
import { describeFeeds } from './feed-suites.ts';
import { describeStores } from './store-suites.ts';

const opened = (make: () => Database) => async () => {
  const stores = openStores({
    database: make(),
    clock: fakeClock(AT),
    ids: systemIds(),
    source: 'bubbles-query',
    onCommit: () => undefined,
  });
  await stores.ensureIndexes();
  return stores;
};

describeStores('the embedded store', opened(memoryDatabase));
describeFeeds('the embedded store', opened(memoryDatabase));

const url = process.env['MONGODB_URL'];
if (url !== undefined) {
  const databases: Database[] = [];
  afterAll(() => Promise.all(databases.map((database) => database.close())));
  const onMongo = opened(() => {
    const database = openMongo({ url, name: `bubbles_test_${randomUUID().slice(0, 8)}`, log: memoryLog(), clock: fakeClock(AT) });
    databases.push(database);
    return database;
  });
  describeStores('MongoDB', onMongo);
  describeFeeds('MongoDB', onMongo);
}
