import { randomBytes, randomUUID } from 'node:crypto';
import { SealsPage } from '@bubbles/contracts/internal/operators.ts';
import { createSeal } from '@bubbles/kernel/seal.ts';
import type { Database, Doc } from '@bubbles/store/collection.ts';
import { openMongo } from '@bubbles/store/mongo.ts';
import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { asService, startTestHttp } from '@bubbles/testing/http.ts';
import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { memoryLog } from '@bubbles/testing/memory-log.ts';
import { afterAll, describe, expect, it } from '@jest/globals';
import { type SealedFields, sealsRoute } from './seals.ts';

interface Secret extends Doc {
  readonly version: number;
  readonly sealed: string | null;
  readonly former?: { readonly sealed: string } | null;
}
type Keys = readonly { readonly id: string; readonly key: Buffer }[];

const [K1, K2, K3] = ['k1', 'k2', 'k3'].map((id) => ({ id, key: randomBytes(32) }));
const FIELDS = [
  { collection: 'secrets', fields: ['sealed', 'former.sealed'], lock: 'version' },
  { collection: 'letters', fields: ['sealed'], nameOf: (id: string) => `letter ${id}` },
] as const satisfies readonly SealedFields[];
const given = (keys: readonly (Keys[number] | undefined)[]): Keys => keys.filter((key) => key !== undefined);
const sealOf = (...keys: readonly (Keys[number] | undefined)[]) => createSeal(given(keys), randomBytes);

const replica = async (database: Database, ...keys: readonly (Keys[number] | undefined)[]) => {
  const http = await startTestHttp({
    routes: [sealsRoute({ service: 'tested-service', database, seal: sealOf(...keys), sealed: FIELDS, carriedMs: 1500 })],
  });
  const post = (body: object) =>
    http.fetch('/internal/v1/admin/seals', {
      method: 'POST',
      headers: { ...asService('operator'), 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const page = async (after: string | null = null, dry_run = false) => SealsPage.parse(await (await post({ after, dry_run })).json());
  const all = async (dryRun = false, from: string | null = null): Promise<readonly SealsPage[]> => {
    const one = await page(from, dryRun);
    return one.next_after === null ? [one] : [one, ...(await all(dryRun, one.next_after))];
  };
  return { post, page, all, stop: http.stop };
};

const sum = (pages: readonly SealsPage[], of: (page: SealsPage) => Readonly<Record<string, number>>) => {
  const total: Record<string, number> = {};
  for (const [name, count] of pages.flatMap((page) => Object.entries(of(page)))) total[name] = (total[name] ?? 0) + count;
  return total;
};

const contract = (engine: string, make: () => Database) =>
  describe(`sealing again on ${engine}`, () => {
    const withSecrets = async (count: number) => {
      const database = make();
      const seal = sealOf(K1);
      const secrets = database.collection<Secret>('secrets');
      const letters = database.collection<Secret>('letters');
      const ids = Array.from({ length: count }, (_, n) => `s-${String(n).padStart(4, '0')}`);
      const sealed = (name: string, text: string) => seal.seal(Buffer.from(text), name);
      await secrets.insertEach(
        ids.map((_id, n) => ({
          _id,
          version: 1,
          sealed: n % 3 === 0 ? null : sealed(_id, _id),
          ...(n % 2 === 0 && { former: n % 4 === 0 ? null : { sealed: sealed(_id, `former ${_id}`) } }),
        })),
      );
      await letters.insert({ _id: 'l-1', version: 1, sealed: sealed('letter l-1', 'dear Ada') });
      return { database, secrets, letters };
    };

    it('writes everything with the newest key, in pages, and leaves what has none', async () => {
      const { database, secrets, letters } = await withSecrets(450);
      const { all, stop } = await replica(database, K2, K1);
      const before = await secrets.find({}, { sort: { _id: 1 } });
      const counted = await all(true);
      expect(sum(counted, ({ sealed }) => sealed)).toEqual({ k1: 300 + 112 + 1 });
      expect(await secrets.find({}, { sort: { _id: 1 } })).toEqual(before);
      const pages = await all();
      expect(pages).toHaveLength(4);
      expect(pages[0]).toMatchObject({ newest_key: 'k2', keys: ['k2', 'k1'], carried_seconds: 2, unreadable: {} });
      expect(pages.reduce((total, page) => total + page.resealed, 0)).toBe(413);
      expect(sum(await all(true), ({ sealed }) => sealed)).toEqual({ k2: 413 });
      const only = sealOf(K2);
      for (const { _id, sealed, former, version } of await secrets.find({})) {
        if (sealed !== null) expect(only.unseal(sealed, _id).toString()).toBe(_id);
        if (former) expect(only.unseal(former.sealed, _id).toString()).toBe(`former ${_id}`);
        expect(version).toBe(1 + Number(sealed !== null) + Number(Boolean(former)));
      }
      const letter = (await letters.findOne({ _id: 'l-1' }))?.sealed ?? '';
      expect(only.unseal(letter, 'letter l-1').toString()).toBe('dear Ada');
      await stop();
    });

    it('goes on where it was stopped, and does nothing twice', async () => {
      const { database, secrets } = await withSecrets(450);
      const { page, all, stop } = await replica(database, K2, K1);
      const first = await page();
      expect((await all()).slice(0, 2)).toMatchObject([{ resealed: 0 }, { resealed: expect.any(Number) }]);
      const stored = await secrets.find({}, { sort: { _id: 1 } });
      expect((await page(first.next_after)).resealed).toBe(0);
      expect(await secrets.find({}, { sort: { _id: 1 } })).toEqual(stored);
      await stop();
    });

    it('leaves what another process changes at that moment to the next run', async () => {
      const { database, secrets } = await withSecrets(2);
      const changed = sealOf(K1).seal(Buffer.from('newer'), 's-0001');
      const slow: Database = {
        ...database,
        collection: <T extends Doc>(name: string) => {
          const collection = database.collection<T>(name);
          return {
            ...collection,
            updateEach: async (updates: Parameters<typeof collection.updateEach>[0]) => {
              await secrets.updateOne({ _id: 's-0001' }, { $set: { sealed: changed } });
              return collection.updateEach(updates);
            },
          };
        },
      };
      const racing = await replica(slow, K2, K1);
      expect((await racing.page()).resealed).toBe(0);
      expect((await secrets.findOne({ _id: 's-0001' }))?.sealed).toBe(changed);
      await racing.stop();
      const { all, stop } = await replica(database, K2, K1);
      await all();
      expect(
        sealOf(K2)
          .unseal((await secrets.findOne({ _id: 's-0001' }))?.sealed ?? '', 's-0001')
          .toString(),
      ).toBe('newer');
      await stop();
    });

    it('names what no key opens, and changes nothing of it', async () => {
      const { database, secrets } = await withSecrets(5);
      const { all, stop } = await replica(database, K3, K2);
      const before = await secrets.find({}, { sort: { _id: 1 } });
      const pages = await all();
      expect(sum(pages, ({ unreadable }) => unreadable)).toEqual({ 'secrets.sealed': 3, 'secrets.former.sealed': 1, 'letters.sealed': 1 });
      expect(pages.map(({ resealed }) => resealed)).toEqual([0, 0]);
      expect(await secrets.find({}, { sort: { _id: 1 } })).toEqual(before);
      await stop();
    });

    it.each(['nowhere/x', '', 'secrets'])('refuses to begin at %j', async (after) => {
      const { database } = await withSecrets(1);
      const { post, stop } = await replica(database, K1);
      expect((await post({ after, dry_run: false })).status).toBe(400);
      expect((await post({ after: null })).status).toBe(400);
      await stop();
    });
  });

contract('the embedded store', memoryDatabase);

const url = process.env['MONGODB_URL'];
if (url !== undefined) {
  const databases: Database[] = [];
  afterAll(() => Promise.all(databases.map((database) => database.close())));
  contract('MongoDB', () => {
    const database = openMongo({ url, name: `seals_test_${randomUUID().slice(0, 8)}`, log: memoryLog(), clock: fakeClock() });
    databases.push(database);
    return database;
  });
}
