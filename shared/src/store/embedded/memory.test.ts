import { afterAll } from '@jest/globals';
import { describeCollection } from '../../testing/collection-contract.ts';
import { memoryLog } from '../../testing/memory-log.ts';
import { openEmbedded } from './open-embedded.ts';

const store = openEmbedded({ path: ':memory:', log: memoryLog() });
afterAll(() => store.close());

describeCollection('the embedded engine in memory', () => store.database('contract'));
