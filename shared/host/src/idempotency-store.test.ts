import { systemClock } from '@bubbles/kernel/clock.ts';
import type { Database } from '@bubbles/store/collection.ts';
import { openMongo } from '@bubbles/store/mongo.ts';
import { openEmbedded } from '@bubbles/store-embedded/open-embedded.ts';
import { describeIdempotencyStore } from '@bubbles/testing/idempotency-contract.ts';
import { memoryLog } from '@bubbles/testing/memory-log.ts';
import { afterAll } from '@jest/globals';

const databases: Database[] = [];
const open = (database: Database): (() => Database) => {
  databases.push(database);
  return () => database;
};
afterAll(() => Promise.all(databases.map((database) => database.close())));

const refuseScan = (space: string, query: unknown) => {
  throw new Error(`no index of ${space} serves ${JSON.stringify(query)}`);
};
describeIdempotencyStore(
  'the embedded store',
  open(openEmbedded({ path: ':memory:', log: memoryLog(), onScan: refuseScan }).database('contract')),
);

const url = process.env['MONGODB_URL'];
if (url !== undefined)
  describeIdempotencyStore('MongoDB', open(openMongo({ url, name: 'bubbles_contract', log: memoryLog(), clock: systemClock() })));
