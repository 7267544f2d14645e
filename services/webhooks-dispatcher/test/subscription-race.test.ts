import type { Collection, Database, Doc } from '@bubbles/store/collection.ts';
import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { expect, it } from '@jest/globals';
import { openStores } from '../src/adapters/store/stores.ts';
import { DEFAULT_QUOTA } from '../src/config.ts';
import { aSubscription, NOON } from './builders.ts';

/** The database to somebody who, after his first read, is overtaken. */
const overtaken = (database: Database, overtake: () => Promise<unknown>): Database => {
  let pending: typeof overtake | null = overtake;
  return {
    ...database,
    collection: <T extends Doc>(name: string): Collection<T> => {
      const collection = database.collection<T>(name);
      return {
        ...collection,
        async findOne(...query) {
          const found = await collection.findOne(...query);
          const now = pending;
          pending = null;
          await now?.();
          return found;
        },
      };
    },
  };
};

it('[HOOK-05] [HOOK-08] who enables while the twentieth failure disables enables', async () => {
  const database = memoryDatabase();
  const { subscriptions, ensureIndexes } = openStores(database);
  await ensureIndexes();
  await subscriptions.insert(aSubscription({ consecutiveFailures: 19 }), DEFAULT_QUOTA);
  const twentieth = () => subscriptions.failed({ subscriptionId: 'wh_1', epoch: 1, at: NOON, key: 'dlv_20#1' });
  const slow = openStores(overtaken(database, twentieth)).subscriptions;
  const enabled = await slow.update('owner', 'wh_1', ({ status, epoch }) => ({
    url: 'https://hooks.example.com/new',
    ...(status === 'disabled' && { status: 'active', consecutiveFailures: 0, epoch: epoch + 1 }),
  }));
  expect(enabled).toMatchObject({ status: 'active', epoch: 2, url: 'https://hooks.example.com/new' });
});
