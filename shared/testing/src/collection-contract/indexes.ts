import type { IndexSpec } from '@bubbles/store/collection.ts';
import { describe, expect, it } from '@jest/globals';
import { fresh, idsOf, type MakeDatabase } from './fresh.ts';

const MAIL = { name: 'mail', keys: { mail: 1 }, unique: true } as const;

export const describeIndexes = (make: MakeDatabase): void =>
  describe('indexes', () => {
    it('a unique key is taken once: by insert, update, upsert and replacement', async () => {
      const things = await fresh(make);
      await things.ensureIndexes([MAIL]);
      expect(await things.insert({ _id: 'a', mail: 'a@x' })).toBe(true);
      expect(await things.insert({ _id: 'b', mail: 'b@x' })).toBe(true);
      expect(await things.insert({ _id: 'c', mail: 'a@x' })).toBe(false);
      expect(await things.updateOne({ _id: 'b' }, { $set: { mail: 'a@x' } })).toBe('duplicate');
      expect(await things.updateOne({ _id: 'c' }, { $set: { mail: 'a@x' } }, { upsert: true })).toBe('duplicate');
      expect(await things.findOneAndUpdate({ _id: 'b' }, { $set: { mail: 'a@x' } })).toBeNull();
      expect(await things.replaceOne({ _id: 'b' }, { _id: 'b', mail: 'a@x' })).toBe(false);
      expect(await things.find({}, { sort: { _id: 1 } })).toEqual([
        { _id: 'a', mail: 'a@x' },
        { _id: 'b', mail: 'b@x' },
      ]);
    });

    it('a unique key is free again when its document is gone or has another', async () => {
      const things = await fresh(make, [
        { _id: 'a', mail: 'a@x' },
        { _id: 'b', mail: 'b@x' },
      ]);
      await things.ensureIndexes([MAIL]);
      await things.deleteOne({ _id: 'a' });
      expect(await things.insert({ _id: 'c', mail: 'a@x' })).toBe(true);
      await things.updateOne({ _id: 'b' }, { $set: { mail: 'd@x' } });
      expect(await things.insert({ _id: 'e', mail: 'b@x' })).toBe(true);
    });

    it('a unique key of several paths is taken as a whole', async () => {
      const things = await fresh(make);
      await things.ensureIndexes([{ name: 'place', keys: { team: 1, slug: 1 }, unique: true }]);
      expect(await things.insert({ _id: 'a', team: 1, slug: 'x' })).toBe(true);
      expect(await things.insert({ _id: 'b', team: 2, slug: 'x' })).toBe(true);
      expect(await things.insert({ _id: 'c', team: 1, slug: 'x' })).toBe(false);
    });

    it('a unique key in an array is taken once over all documents', async () => {
      const things = await fresh(make);
      await things.ensureIndexes([{ name: 'keys', keys: { hashes: 1 }, unique: true }]);
      expect(await things.insert({ _id: 'a', hashes: ['h1', 'h2'] })).toBe(true);
      expect(await things.insert({ _id: 'b', hashes: ['h3'] })).toBe(true);
      expect(await things.updateOne({ _id: 'b' }, { $push: { hashes: 'h2' } })).toBe('duplicate');
      expect(idsOf(await things.find({ hashes: 'h2' }))).toEqual(['a']);
    });

    it('a sparse unique index does not mind documents without the field', async () => {
      const things = await fresh(make);
      await things.ensureIndexes([{ ...MAIL, sparse: true }]);
      expect(await things.insert({ _id: 'a' })).toBe(true);
      expect(await things.insert({ _id: 'b' })).toBe(true);
      expect(await things.insert({ _id: 'c', mail: 'x' })).toBe(true);
      expect(await things.insert({ _id: 'd', mail: 'x' })).toBe(false);
      expect(idsOf(await things.find({ mail: null })).sort()).toEqual(['a', 'b']);
    });

    it('an index may be asked for again, and hides no document that was there', async () => {
      const things = await fresh(make, [
        { _id: 'a', n: 1 },
        { _id: 'b', n: 2 },
      ]);
      const index = { name: 'n', keys: { n: -1 } } as const;
      await things.ensureIndexes([index]);
      await things.ensureIndexes([index]);
      expect(idsOf(await things.find({ n: { $gt: 0 } }, { sort: { n: -1 } }))).toEqual(['b', 'a']);
    });

    it('an index stands by its name: with other keys, another order of them or another option the start is refused, and nothing is changed', async () => {
      const things = await fresh(make);
      const due = { name: 'due', keys: { status: 1, at: 1 } } as const;
      await things.ensureIndexes([due]);
      const others: readonly IndexSpec[] = [
        { name: 'due', keys: { status: 1 } },
        { name: 'due', keys: { status: 1, at: -1 } },
        { name: 'due', keys: { at: 1, status: 1 } },
        { ...due, unique: true },
        { ...due, sparse: true },
      ];
      for (const other of others) {
        await expect(things.ensureIndexes([MAIL, other], ['mail'])).rejects.toMatchObject({
          name: 'StartupError',
          message: expect.stringMatching(/^The index due of \S+\/contract_\S+ is .* Drop that one \(.*'due'.*\), then start again\.$/),
        });
      }
      await things.ensureIndexes([due, MAIL]);
    });

    it('one order of documents has one index: a second name for its keys is refused', async () => {
      const things = await fresh(make);
      await things.ensureIndexes([MAIL]);
      const twin = expect.stringMatching(/^The index mail_v2 of .* index mail that is there\. Drop that one/);
      await expect(things.ensureIndexes([{ ...MAIL, name: 'mail_v2' }])).rejects.toMatchObject({ name: 'StartupError', message: twin });
      const both = [{ ...MAIL, name: 'a', keys: { a: 1 } } as const, { name: 'b', keys: { a: 1 } } as const];
      await expect((await fresh(make)).ensureIndexes(both)).rejects.toMatchObject({ name: 'StartupError' });
    });

    it('an index of an earlier version goes before its successor is made, and one that never was is gone already', async () => {
      const things = await fresh(make, [{ _id: 'a', mail: 'x', team: 1 }]);
      await things.ensureIndexes([MAIL]);
      const next = { name: 'mail_v2', keys: { mail: 1, team: 1 }, unique: true } as const;
      for (let start = 0; start < 2; start += 1) await things.ensureIndexes([next], ['mail', 'never_was']);
      expect(await things.insert({ _id: 'b', mail: 'x', team: 2 })).toBe(true);
      expect(await things.insert({ _id: 'c', mail: 'x', team: 2 })).toBe(false);
      await things.ensureIndexes([{ ...next, name: 'mail_v3' }], ['mail_v2']);
      expect(await things.insert({ _id: 'c', mail: 'x', team: 2 })).toBe(false);
    });

    it('an index of an earlier version that is defined as its successor serves on, so that a replica of that version may start beside this one', async () => {
      const things = await fresh(make, [{ _id: 'a', mail: 'x' }]);
      const next = { ...MAIL, name: 'mail_v2' };
      await things.ensureIndexes([MAIL]);
      for (let start = 0; start < 2; start += 1) {
        await things.ensureIndexes([next], ['mail']);
        await things.ensureIndexes([MAIL]);
      }
      expect(await things.insert({ _id: 'b', mail: 'x' })).toBe(false);
      await things.ensureIndexes([{ ...next, sparse: true }], ['mail']);
      expect(await things.insert({ _id: 'b', mail: 'x' })).toBe(false);
      expect(await things.insert({ _id: 'c' })).toBe(true);
      expect(await things.insert({ _id: 'd' })).toBe(true);
    });

    it('a unique index over documents that repeat its key is refused', async () => {
      const things = await fresh(make, [
        { _id: 'a', mail: 'x' },
        { _id: 'b', mail: 'x' },
      ]);
      await expect(things.ensureIndexes([MAIL])).rejects.toMatchObject({
        name: 'StartupError',
        message: expect.stringMatching(/^The index mail of .* is unique and documents that are there repeat its key/),
      });
      await things.deleteOne({ _id: 'b' });
      await things.ensureIndexes([MAIL]);
      expect(await things.insert({ _id: 'b', mail: 'x' })).toBe(false);
    });

    it('updateMany that would repeat a unique key is refused', async () => {
      const things = await fresh(make, [
        { _id: 'a', mail: 'a' },
        { _id: 'b', mail: 'b' },
      ]);
      await things.ensureIndexes([MAIL]);
      await expect(things.updateMany({}, { $set: { mail: 'c' } })).rejects.toMatchObject({ kind: 'internal' });
    });
  });
