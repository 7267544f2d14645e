import { describe, expect, it } from '@jest/globals';
import { MongoServerError } from 'mongodb';
import type { IndexSpec } from './collection.ts';
import { makeIndexes } from './mongo-indexes.ts';

type Indexed = Parameters<typeof makeIndexes>[0];
interface Listed {
  readonly name: string;
  readonly key: Readonly<Record<string, number>>;
  readonly [option: string]: unknown;
}

const refusing = (code: number) => Promise.reject(new MongoServerError({ code, message: 'driver text' }));

interface ServerOptions {
  /** What each listing shows; the last one again and again. */
  readonly listings: readonly (readonly Listed[] | number)[];
  readonly created?: number;
  readonly dropped?: number;
}

/** As much of the driver's collection as indexes need; a number is the code of the server's refusal. */
const server = ({ listings, created, dropped }: ServerOptions) => {
  const told: string[] = [];
  let at = 0;
  const list = () => {
    const listing = listings[Math.min(at, listings.length - 1)] ?? [];
    at += 1;
    return typeof listing === 'number' ? refusing(listing) : Promise.resolve(listing);
  };
  const collection = {
    dbName: 'db',
    collectionName: 'things',
    listIndexes: () => ({ toArray: list }),
    createIndexes(specs: readonly { readonly name: string }[]) {
      told.push(`create ${specs.map(({ name }) => name).join(' ')}`);
      return created === undefined ? Promise.resolve([]) : refusing(created);
    },
    dropIndex(name: string) {
      told.push(`drop ${name}`);
      return dropped === undefined ? Promise.resolve({}) : refusing(dropped);
    },
  };
  // The rest of the driver's collection is not touched.
  return { collection: collection as unknown as Indexed, told };
};

const ID: Listed = { name: '_id_', key: { _id: 1 }, v: 2 };
const DUE: IndexSpec = { name: 'due', keys: { status: 1, at: 1 } };
const OF_DUE: Listed = { name: 'due', key: { status: 1, at: 1 }, v: 2, ns: 'db.things' };
const OTHER_DUE: Listed = { ...OF_DUE, key: { status: 1 } };

const make = ({ collection }: { readonly collection: Indexed }, dropped: readonly string[] = []) =>
  makeIndexes(collection, { wanted: [DUE], dropped }, {});

describe('makeIndexes', () => {
  it('asks for nothing that is there', async () => {
    const there = server({ listings: [[ID, OF_DUE]] });
    expect(await make(there)).toBeNull();
    expect(there.told).toEqual([]);
  });

  it('a collection that does not exist yet has no indexes (code 26)', async () => {
    const empty = server({ listings: [26] });
    expect(await make(empty)).toBeNull();
    expect(empty.told).toEqual(['create due']);
  });

  it.each([26, 27])('an index that another process has dropped already is gone (code %d)', async (code) => {
    const raced = server({ listings: [[ID, { ...OTHER_DUE, name: 'old' }]], dropped: code });
    expect(await make(raced, ['old'])).toBeNull();
    expect(raced.told).toEqual(['drop old', 'create due']);
  });

  it('one of an earlier version with the same definition is neither dropped nor built again', async () => {
    const there = server({ listings: [[ID, { ...OF_DUE, name: 'older' }]] });
    expect(await make(there, ['older'])).toBeNull();
    expect(there.told).toEqual([]);
  });

  it('an option that no definition can have is another definition', async () => {
    const expiring = server({ listings: [[ID, { ...OF_DUE, expireAfterSeconds: 5 }]] });
    expect(await make(expiring)).toMatchObject({ message: expect.stringContaining('"expireAfterSeconds":5') });
    expect(expiring.told).toEqual([]);
  });

  it.each([85, 86])('one that another process made otherwise in the meantime is named (code %d)', async (code) => {
    const raced = server({ listings: [[ID], [ID, OTHER_DUE]], created: code });
    expect(await make(raced)).toMatchObject({
      name: 'StartupError',
      message: `The index due of db/things is {"keys":{"status":1}} and this version needs {"keys":{"status":1,"at":1}}. Drop that one (db.getCollection('things').dropIndex('due')), then start again.`,
    });
  });

  it.each([85, 86])('a conflict that only the server sees names what it refused (code %d)', async (code) => {
    expect(await make(server({ listings: [[ID]], created: code }))).toMatchObject({
      name: 'StartupError',
      message: expect.stringMatching(/^The server refuses the index due of db\/things .* Drop that one .*, then start again\.$/),
    });
  });

  it('any other failure is the store’s', async () => {
    await expect(make(server({ listings: [[ID]], created: 189 }))).rejects.toMatchObject({ code: 189 });
    await expect(make(server({ listings: [189] }))).rejects.toMatchObject({ code: 189 });
  });
});
