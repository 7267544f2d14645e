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
import { NOON } from './builders.ts';
import { describeJoinStore } from './join-store.contract.ts';
import { describeProviderEventStore } from './provider-event-store.contract.ts';
import { describeQuotaStore } from './quota-store.contract.ts';
import { describeWatchQueue } from './watch-queue.contract.ts';

const describeStores = (engine: string, open: () => Database): void => {
  const make = async () => {
    const context = { database: open(), clock: fakeClock(NOON), ids: fakeIds(), source: 'meetings-bot-gateway', onCommit: () => undefined };
    const made = openStores(context);
    await made.ensureIndexes();
    return made;
  };
  describeJoinStore(engine, make);
  describeWatchQueue(engine, make);
  describeProviderEventStore(engine, make);
  describeQuotaStore(engine, async () => (await make()).quotas);
};

describeStores('the embedded store', memoryDatabase);

const url = process.env['MONGODB_URL'];
if (url !== undefined) {
  const databases: Database[] = [];
  afterAll(() => Promise.all(databases.map((database) => database.close())));
  describeStores('MongoDB', () => {
    const name = `meetings_test_${randomUUID().slice(0, 8)}`;
    const database = openMongo({ url, name, log: memoryLog(), clock: systemClock() });
    databases.push(database);
    return database;
  });
}
