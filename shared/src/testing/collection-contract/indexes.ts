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

    it('updateMany that would repeat a unique key is refused', async () => {
      const things = await fresh(make, [
        { _id: 'a', mail: 'a' },
        { _id: 'b', mail: 'b' },
      ]);
      await things.ensureIndexes([MAIL]);
      await expect(things.updateMany({}, { $set: { mail: 'c' } })).rejects.toMatchObject({ kind: 'internal' });
    });
  });
