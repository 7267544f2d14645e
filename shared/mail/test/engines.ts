import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Database } from '@bubbles/store/collection.ts';
import { indexedCollections, type OpenCollection } from '@bubbles/store/indexed-collections.ts';
import { openMongo } from '@bubbles/store/mongo.ts';
import { openEmbedded } from '@bubbles/store-embedded/open-embedded.ts';
import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { SILENT_LOG } from '@bubbles/testing/http.ts';
import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { afterAll, describe } from '@jest/globals';

/** A database of its own with each call. */
export type MakeDatabase = () => Database;

/** Opens with `open` in an empty database and makes the indexes, once for each of the replicas. */
export const openedIn = async <T>(database: Database, open: (open: OpenCollection) => T): Promise<T> => {
  const collections = indexedCollections(database);
  const opened = open(collections.open);
  await collections.ensureIndexes();
  return opened;
};

/** Runs the suite on every engine there is; on MongoDB when `MONGODB_URL` names one. */
export const onEveryEngine = (suite: (make: MakeDatabase) => void): void => {
  describe('on the embedded engine in memory', () => suite(memoryDatabase));

  describe('on the embedded engine on a file', () => {
    const folder = mkdtempSync(join(tmpdir(), 'mail-'));
    const store = openEmbedded({ path: join(folder, 'data.sqlite'), log: SILENT_LOG });
    afterAll(async () => {
      await store.close();
      rmSync(folder, { recursive: true });
    });
    suite(() => store.database(`mail_${randomUUID()}`));
  });

  const url = process.env['MONGODB_URL'];
  if (url === undefined) return;
  describe('on MongoDB', () => {
    const databases: Database[] = [];
    afterAll(() => Promise.all(databases.map((database) => database.close())));
    suite(() => {
      const database = openMongo({ url, name: `mail_test_${randomUUID().slice(0, 8)}`, log: SILENT_LOG, clock: fakeClock() });
      databases.push(database);
      return database;
    });
  });
};
