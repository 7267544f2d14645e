import { randomUUID } from 'node:crypto';
import { systemClock } from '@bubbles/kernel/clock.ts';
import type { Database } from '@bubbles/store/collection.ts';
import { openMongo } from '@bubbles/store/mongo.ts';
import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { fakeIds } from '@bubbles/testing/fake-ids.ts';
import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { memoryLog } from '@bubbles/testing/memory-log.ts';
import { afterAll } from '@jest/globals';
import { openStores } from '../src/adapters/store/stores.ts';
import { describeCalendarGrantStore } from './calendar-grant-store.contract.ts';
import { describeSignupStores } from './flow-store.contract.ts';
import { NOON } from './signup.ts';

const describeStores = (engine: string, open: () => Database): void => {
  const make = async () => {
    const clock = fakeClock(NOON);
    const stores = openStores({ database: open(), clock, ids: fakeIds() });
    await stores.ensureIndexes();
    return { ...stores, clock };
  };
  describeSignupStores(engine, make);
  describeCalendarGrantStore(engine, make);
};

describeStores('the embedded store', memoryDatabase);

const url = process.env['MONGODB_URL'];
if (url !== undefined) {
  const databases: Database[] = [];
  afterAll(() => Promise.all(databases.map((database) => database.close())));
  describeStores('MongoDB', () => {
    const database = openMongo({ url, name: `signup_test_${randomUUID().slice(0, 8)}`, log: memoryLog(), clock: systemClock() });
    databases.push(database);
    return database;
  });
}
