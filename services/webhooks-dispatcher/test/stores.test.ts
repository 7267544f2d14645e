import { randomUUID } from 'node:crypto';
import { systemClock } from '@bubbles/kernel/clock.ts';
import type { Database } from '@bubbles/store/collection.ts';
import { openMongo } from '@bubbles/store/mongo.ts';
import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { memoryLog } from '@bubbles/testing/memory-log.ts';
import { afterAll } from '@jest/globals';
import { openStores } from '../src/adapters/store/stores.ts';
import { describeDeliveryStore } from './delivery-store.contract.ts';
import { describeEventStore } from './event-store.contract.ts';
import { describeReplayStore } from './replay-store.contract.ts';
import { describeSubscriptionStore } from './subscription-store.contract.ts';

const describeStores = (engine: string, open: () => Database): void => {
  const make = async () => {
    const made = openStores(open());
    await made.ensureIndexes();
    return made;
  };
  describeSubscriptionStore(engine, async () => (await make()).subscriptions);
  describeDeliveryStore(engine, async () => (await make()).deliveries);
  describeEventStore(engine, async () => (await make()).events);
  describeReplayStore(engine, async () => (await make()).replays);
};

describeStores('the embedded store', memoryDatabase);

const url = process.env['MONGODB_URL'];
if (url !== undefined) {
  const databases: Database[] = [];
  afterAll(() => Promise.all(databases.map((database) => database.close())));
  describeStores('MongoDB', () => {
    const name = `webhooks_test_${randomUUID().slice(0, 8)}`;
    const database = openMongo({ url, name, log: memoryLog(), clock: systemClock() });
    databases.push(database);
    return database;
  });
}
