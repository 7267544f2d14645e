import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeCollection } from '@bubbles/testing/collection-contract.ts';
import { memoryLog } from '@bubbles/testing/memory-log.ts';
import { describeMigrations } from '@bubbles/testing/migrations-contract.ts';
import { describeWorkQueue } from '@bubbles/testing/work-queue-contract.ts';
import { afterAll } from '@jest/globals';
import { openEmbedded } from './open-embedded.ts';

const folder = mkdtempSync(join(tmpdir(), 'contract-'));
const store = openEmbedded({ path: join(folder, 'data.db'), log: memoryLog() });
afterAll(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

describeCollection('the embedded engine on a file', () => store.database('contract'));
describeWorkQueue('the embedded engine on a file', () => store.database('contract'));
describeMigrations('the embedded engine on a file', () => store.database('contract'));
