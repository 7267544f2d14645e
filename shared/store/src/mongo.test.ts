import { once } from 'node:events';
import { connect, createServer, type Server } from 'node:net';
import { holdPort } from '@bubbles/http/wire/listen.ts';
import { systemClock } from '@bubbles/kernel/clock.ts';
import { describeCollection } from '@bubbles/testing/collection-contract.ts';
import { expectEventually } from '@bubbles/testing/eventually.ts';
import { memoryLog } from '@bubbles/testing/memory-log.ts';
import { describeMigrations } from '@bubbles/testing/migrations-contract.ts';
import { describeWorkQueue } from '@bubbles/testing/work-queue-contract.ts';
import { afterAll, describe, expect, it } from '@jest/globals';
import { BSON, type MongoClient } from 'mongodb';
import { mongoDatabase, openMongo } from './mongo.ts';
import { storeError } from './mongo-errors.ts';

const open = (url: string) => openMongo({ url, name: 'bubbles_contract', log: memoryLog(), clock: systemClock() });

const url = process.env['MONGODB_URL'];
if (url) {
  const database = open(url);
  afterAll(() => database.close());
  describeCollection('MongoDB', () => database);
  describeWorkQueue('MongoDB', () => database);
  describeMigrations('MongoDB', () => database);

  describe('openMongo', () => {
    it('reaches a server that was not there at first', async () => {
      const held = await holdPort({ host: '127.0.0.1', port: 0 });
      const late = open(`mongodb://127.0.0.1:${held.port}/?directConnection=true`);
      for (let n = 0; n < 2; n += 1) await expect(late.ping()).rejects.toMatchObject({ kind: 'unavailable' });
      const server = await relay(held.port, new URL(url));
      held.release();
      await expectEventually(() =>
        late.ping().then(
          () => true,
          () => false,
        ),
      );
      await late.close();
      server.close();
    });
  });
}

/** Listens in front of the server at the address. */
const relay = async (port: number, { hostname, port: to }: URL): Promise<Server> => {
  const server = createServer((near) => {
    const far = connect(Number(to), hostname);
    near.pipe(far).pipe(near);
    for (const socket of [near, far]) socket.on('error', () => [near, far].map((end) => end.destroy()));
  });
  await once(server.listen(port, '127.0.0.1'), 'listening');
  return server;
};

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

describe('what is too large for the driver', () => {
  it('is refused for good, so that nobody tries it for ever', () => {
    const segments = Array.from({ length: 100_000 }, (_, n) => ({ text: `${n} `.repeat(40) }));
    const encode = (): Error => {
      try {
        BSON.serialize({ segments });
      } catch (error) {
        return storeError(error);
      }
      throw new Error('it was not too large');
    };
    expect(encode()).toMatchObject({ kind: 'internal' });
  });
});

describe('mongoDatabase', () => {
  /** A client every operation of which ends so. */
  const answering = (answer: () => Promise<unknown>) =>
    // As much of the driver's client as these operations use.
    ({ db: () => ({ command: answer, collection: () => ({ findOne: answer }) }) }) as unknown as MongoClient;

  it('asks the client that replaces a broken one from then on', async () => {
    const [failing, next] = [answering(() => Promise.reject(new Error('away'))), answering(() => Promise.resolve({ _id: 'a' }))];
    let current = failing;
    const client = {
      current: () => current,
      replaceIfBroken() {
        current = next;
        return true;
      },
      whyNoServer: () => null,
      close: () => Promise.resolve(),
    };
    const database = mongoDatabase(client, { name: 'any', log: memoryLog(), clock: systemClock() });
    const things = database.collection<{ readonly _id: string }>('things');
    await expect(things.findOne({ _id: 'a' })).rejects.toMatchObject({ kind: 'unavailable' });
    expect(await things.findOne({ _id: 'a' })).toEqual({ _id: 'a' });
    current = failing;
    await expect(database.ping()).rejects.toMatchObject({ kind: 'unavailable' });
    await database.ping();
  });
});
