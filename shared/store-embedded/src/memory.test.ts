import { describeCollection } from '@bubbles/testing/collection-contract.ts';
import { memoryLog } from '@bubbles/testing/memory-log.ts';
import { describeMigrations } from '@bubbles/testing/migrations-contract.ts';
import { describeWorkQueue } from '@bubbles/testing/work-queue-contract.ts';
import { afterAll } from '@jest/globals';
import { openEmbedded } from './open-embedded.ts';

const store = openEmbedded({ path: ':memory:', log: memoryLog() });
afterAll(() => store.close());

describeCollection('the embedded engine in memory', () => store.database('contract'));
describeWorkQueue('the embedded engine in memory', () => store.database('contract'));
describeMigrations('the embedded engine in memory', () => store.database('contract'));
