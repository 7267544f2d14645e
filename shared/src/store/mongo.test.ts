import { afterAll, describe, expect, it } from '@jest/globals';
import { systemClock } from '../clock.ts';
import { describeCollection } from '../testing/collection-contract.ts';
import { memoryLog } from '../testing/memory-log.ts';
import { openMongo } from './mongo.ts';

const open = (url: string) => openMongo({ url, name: 'bubbles_contract', log: memoryLog(), clock: systemClock() });

const url = process.env['MONGODB_URL'];
if (url) {
  const database = open(url);
  afterAll(() => database.close());
  describeCollection('MongoDB', () => database);
}

describe('openMongo', () => {
  it('a server that is not there is unavailable within the limits, and the driver is not quoted', async () => {
    const database = open('mongodb://127.0.0.1:1/?directConnection=true');
    await expect(database.ping()).rejects.toMatchObject({
      kind: 'unavailable',
      retryAfterSeconds: 1,
      message: 'The service is temporarily unavailable.',
      cause: expect.anything(),
    });
    await database.close();
  });
});
