import { describe, expect, it } from '@jest/globals';
import { fresh, idsOf, type MakeDatabase } from './fresh.ts';

export const describeWrites = (make: MakeDatabase): void =>
  describe('writes', () => {
    it('a document comes back as it was given: dates, bytes, large whole numbers, nested and empty things', async () => {
      const doc = {
        _id: 'a',
        date: new Date('2026-01-02T03:04:05.678Z'),
        bytes: Buffer.from([0, 1, 254, 255]),
        whole: 7_205_759_403_792_793,
        negative: -1,
        fraction: 0.1,
        text: 'ö 🙂',
        yes: true,
        nothing: null,
        list: [1, 'two', null, { three: [3] }, []],
        nested: { deep: { deeper: new Date(0) }, empty: {} },
      };
      const things = await fresh(make, [doc]);
      const back = await things.findOne({ _id: 'a' });
      expect(back).toEqual(doc);
      expect(Buffer.isBuffer(back?.['bytes'])).toBe(true);
    });

    it('a typed array comes back as a Buffer', async () => {
      const things = await fresh(make, [{ _id: 'a', bytes: new Uint8Array([255, 0]) }]);
      expect((await things.findOne({ _id: 'a' }))?.['bytes']).toEqual(Buffer.from([255, 0]));
    });

    it('an insert of an id that is taken says so and changes nothing', async () => {
      const things = await fresh(make);
      expect(await things.insert({ _id: 'a', n: 1 })).toBe(true);
      expect(await things.insert({ _id: 'a', n: 2 })).toBe(false);
      expect(await things.findOne({ _id: 'a' })).toEqual({ _id: 'a', n: 1 });
    });

    it('many inserts at once tell of each whether its keys were free, and insert those', async () => {
      const things = await fresh(make, [{ _id: 'a', n: 1 }]);
      await things.ensureIndexes([{ name: 'key', keys: { key: 1 }, unique: true, sparse: true }]);
      const docs = [{ _id: 'b', key: 'k' }, { _id: 'a', n: 2 }, { _id: 'c', key: 'k' }, { _id: 'd' }, { _id: 'd' }];
      expect(await things.insertEach(docs)).toEqual([true, false, false, true, false]);
      expect(await things.find({}, { sort: { _id: 1 } })).toEqual([{ _id: 'a', n: 1 }, { _id: 'b', key: 'k' }, { _id: 'd' }]);
      expect(await things.insertEach([{ _id: 'e' }, { _id: 'f' }])).toEqual([true, true]);
      expect(await things.insertEach([])).toEqual([]);
    });

    it('what was read or given can be changed without changing what is stored', async () => {
      const given = { _id: 'a', list: [1], nested: { n: 1 } };
      const things = await fresh(make, [given]);
      given.list.push(2);
      const read = await things.findOne({ _id: 'a' });
      if (read) (read['nested'] as { n: number }).n = 9; // It was stored as such.
      expect(await things.findOne({ _id: 'a' })).toEqual({ _id: 'a', list: [1], nested: { n: 1 } });
    });

    it('updateOne changes one of those that match and says whether one did', async () => {
      const things = await fresh(make, [
        { _id: 'a', group: 1 },
        { _id: 'b', group: 1 },
      ]);
      expect(await things.updateOne({ group: 1 }, { $set: { seen: true } })).toBe('updated');
      expect(await things.count({ seen: true })).toBe(1);
      expect(await things.updateOne({ group: 2 }, { $set: { seen: true } })).toBe('none');
    });

    it('updateEach changes one document for each of its updates and counts those that matched', async () => {
      const things = await fresh(make, [
        { _id: 'a', n: 1 },
        { _id: 'b', n: 1 },
        { _id: 'c', n: 1 },
      ]);
      const updates = [
        { filter: { _id: 'a' }, update: { $inc: { n: 1 } } },
        { filter: { n: 1, _id: { $ne: 'a' } }, update: { $set: { n: 5 } } },
        { filter: { _id: 'absent' }, update: { $set: { n: 9 } } },
        { filter: { _id: 'a' }, update: { $inc: { n: 1 } } },
      ];
      expect(await things.updateEach(updates)).toBe(3);
      const found = await things.find({}, { sort: { n: 1 } });
      expect(found.map(({ n }) => n)).toEqual([1, 3, 5]);
      expect(await things.updateEach([])).toBe(0);
    });

    it('of updateEach those that race for one document, one wins', async () => {
      const things = await fresh(make, [{ _id: 'a', owner: null }]);
      const claims = Array.from({ length: 8 }, (_, n) =>
        things.updateEach([{ filter: { _id: 'a', owner: null }, update: { $set: { owner: `o${n}` } } }]),
      );
      expect((await Promise.all(claims)).toSorted()).toEqual([0, 0, 0, 0, 0, 0, 0, 1]);
    });

    it('an update that leaves everything as it is has matched all the same', async () => {
      const things = await fresh(make, [{ _id: 'a', n: 1 }]);
      expect(await things.updateOne({ _id: 'a' }, { $set: { n: 1 } })).toBe('updated');
      expect(await things.updateMany({ n: 1 }, { $set: { n: 1 } })).toBe(1);
    });

    it('updateMany changes all that match and counts them', async () => {
      const things = await fresh(make, [
        { _id: 'a', n: 1 },
        { _id: 'b', n: 2 },
        { _id: 'c', n: 3 },
      ]);
      expect(await things.updateMany({ n: { $gte: 2 } }, { $inc: { n: 10 } })).toBe(2);
      expect(await things.find({}, { sort: { _id: 1 }, projection: { _id: 0, n: 1 } })).toEqual([{ n: 1 }, { n: 12 }, { n: 13 }]);
    });

    it('findOneAndUpdate takes the first in the order and gives it after or before', async () => {
      const things = await fresh(make, [
        { _id: 'a', at: 3 },
        { _id: 'b', at: 1 },
        { _id: 'c', at: 2 },
      ]);
      expect(await things.findOneAndUpdate({}, { $set: { at: 9 } }, { sort: { at: 1 } })).toEqual({ _id: 'b', at: 9 });
      expect(await things.findOneAndUpdate({}, { $set: { at: 8 } }, { sort: { at: 1 }, returnDocument: 'before' })).toEqual({
        _id: 'c',
        at: 2,
      });
      expect(await things.findOneAndUpdate({ at: 77 }, { $set: { at: 0 } })).toBeNull();
    });

    it('replaceOne puts a whole document in the place of another', async () => {
      const things = await fresh(make, [{ _id: 'a', n: 1, old: true }]);
      expect(await things.replaceOne({ _id: 'a' }, { _id: 'a', n: 2 })).toBe(true);
      expect(await things.findOne({ _id: 'a' })).toEqual({ _id: 'a', n: 2 });
      expect(await things.replaceOne({ _id: 'b' }, { _id: 'b' })).toBe(false);
      expect(await things.replaceOne({ _id: 'b' }, { _id: 'b' }, { upsert: true })).toBe(true);
      expect(await things.count({})).toBe(2);
    });

    it('deleteOne and deleteMany say how many went', async () => {
      const things = await fresh(make, [
        { _id: 'a', n: 1 },
        { _id: 'b', n: 1 },
        { _id: 'c', n: 1 },
        { _id: 'd', n: 2 },
      ]);
      expect(await things.deleteOne({ n: 1 })).toBe(1);
      expect(await things.deleteMany({ n: 1 })).toBe(2);
      expect(await things.deleteMany({ n: 1 })).toBe(0);
      expect(idsOf(await things.find({}))).toEqual(['d']);
    });

    it('an upsert inserts what the filter names as equal and what the update says', async () => {
      const things = await fresh(make);
      const update = { $set: { n: 1 }, $setOnInsert: { made: true }, $inc: { count: 2 }, $push: { list: 'x' } };
      expect(await things.updateOne({ _id: 'a', 'place.city': 'Oslo', rank: { $gt: 3 } }, update, { upsert: true })).toBe('inserted');
      expect(await things.findOne({ _id: 'a' })).toEqual({ _id: 'a', place: { city: 'Oslo' }, n: 1, made: true, count: 2, list: ['x'] });
      expect(await things.updateOne({ _id: 'a' }, update, { upsert: true })).toBe('updated');
      expect(await things.findOne({ _id: 'a' })).toMatchObject({ count: 4, list: ['x', 'x'] });
    });

    it('$setOnInsert does nothing to what is there, and may name the id', async () => {
      const things = await fresh(make, [{ _id: 'a', key: 'k', made: 1 }]);
      expect(await things.updateOne({ key: 'k' }, { $setOnInsert: { _id: 'b', made: 2 }, $set: { n: 1 } }, { upsert: true })).toBe(
        'updated',
      );
      expect(await things.updateOne({ key: 'l' }, { $setOnInsert: { _id: 'b', made: 2 } }, { upsert: true })).toBe('inserted');
      expect(await things.find({}, { sort: { _id: 1 } })).toEqual([
        { _id: 'a', key: 'k', made: 1, n: 1 },
        { _id: 'b', key: 'l', made: 2 },
      ]);
    });

    it('a version guard in an upsert meets a newer document as a duplicate', async () => {
      const things = await fresh(make, [{ _id: 'a', version: 5 }]);
      const put = (version: number) => things.updateOne({ _id: 'a', version: { $lt: version } }, { $set: { version } }, { upsert: true });
      expect(await put(4)).toBe('duplicate');
      expect(await put(5)).toBe('duplicate');
      expect(await put(6)).toBe('updated');
      expect(await things.findOneAndUpdate({ _id: 'a', version: { $lt: 6 } }, { $set: { version: 6 } }, { upsert: true })).toBeNull();
    });

    it('findOneAndUpdate with upsert gives the inserted document, or null for before', async () => {
      const things = await fresh(make);
      expect(await things.findOneAndUpdate({ _id: 'a' }, { $inc: { n: 1 } }, { upsert: true })).toEqual({ _id: 'a', n: 1 });
      expect(await things.findOneAndUpdate({ _id: 'b' }, { $inc: { n: 1 } }, { upsert: true, returnDocument: 'before' })).toBeNull();
      expect(await things.count({})).toBe(2);
    });
  });
