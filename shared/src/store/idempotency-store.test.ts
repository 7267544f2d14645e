import { afterAll } from '@jest/globals';
import { systemClock } from '../clock.ts';
import { describeIdempotencyStore } from '../testing/idempotency-contract.ts';
import { memoryLog } from '../testing/memory-log.ts';
import type { Database } from './collection.ts';
import { openEmbedded } from './embedded/open-embedded.ts';
import { openMongo } from './mongo.ts';

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
