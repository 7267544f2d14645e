import { describe, expect, it } from '@jest/globals';
import { fresh, type MakeDatabase, type Thing } from './fresh.ts';

const BEFORE: Thing = { _id: 'a', text: 'x', list: [1], n: 1, date: new Date(0) };

const WRONG_UPDATES: readonly (readonly [string, object])[] = [
  ['$set through a text', { $set: { 'text.b': 1 } }],
  ['$set of a name in an array', { $set: { 'list.b': 1 } }],
  ['$inc of a text', { $inc: { text: 1 } }],
  ['$push on a text', { $push: { text: 1 } }],
  ['$addToSet on a number', { $addToSet: { n: 1 } }],
  ['$pull on a text', { $pull: { text: 'x' } }],
  ['a change of the _id', { $set: { _id: 'b' } }],
  ['one path twice', { $set: { n: 1 }, $inc: { n: 1 } }],
  ['a path and what is above it', { $set: { 'm.x': 1 }, $unset: { m: '' } }],
  ['undefined in $set', { $set: { m: undefined } }],
  ['undefined deep in $push', { $push: { list: { $each: [{ m: undefined }] } } }],
  ['no operator', {}],
];

const WRONG_FILTERS: readonly (readonly [string, object])[] = [
  ['undefined', { n: undefined }],
  ['undefined for the _id', { _id: undefined }],
  ['undefined in $in', { n: { $in: [1, undefined] } }],
  ['an unknown operator', { n: { $about: 1 } }],
];

const REFUSED = { name: 'DomainError', kind: 'internal', message: 'The store refused the operation.' };

export const describeErrors = (make: MakeDatabase): void =>
  describe('what is refused', () => {
    it.each(WRONG_UPDATES)('an update with %s, and nothing changes', async (_title, update) => {
      const things = await fresh(make, [BEFORE]);
      await expect(things.updateOne({ _id: 'a' }, update)).rejects.toMatchObject(REFUSED);
      await expect(things.findOneAndUpdate({ _id: 'a' }, update)).rejects.toMatchObject(REFUSED);
      await expect(things.updateEach([{ filter: { _id: 'a' }, update }])).rejects.toMatchObject(REFUSED);
      expect(await things.findOne({ _id: 'a' })).toEqual(BEFORE);
    });

    it.each(WRONG_FILTERS)('a filter with %s, and nothing goes', async (_title, filter) => {
      const things = await fresh(make, [BEFORE]);
      await expect(things.findOne(filter)).rejects.toMatchObject(REFUSED);
      await expect(things.deleteMany(filter)).rejects.toMatchObject(REFUSED);
      await expect(things.updateMany(filter, { $set: { n: 2 } })).rejects.toMatchObject(REFUSED);
      expect(await things.find({})).toEqual([BEFORE]);
    });

    it.each([
      ['undefined', { m: undefined }],
      ['a name with a dot', { 'm.n': 1 }],
      ['a name with a dollar', { $m: 1 }],
      ['a function', { m: () => 1 }],
      ['a date that is none', { m: new Date(Number.NaN) }],
    ])('a document with %s', async (_title, fields) => {
      const things = await fresh(make);
      await expect(things.insert({ _id: 'a', ...fields })).rejects.toMatchObject(REFUSED);
      await expect(things.replaceOne({ _id: 'a' }, { _id: 'a', ...fields }, { upsert: true })).rejects.toMatchObject(REFUSED);
      expect(await things.count({})).toBe(0);
    });

    it('an upsert that does not name the _id', async () => {
      const things = await fresh(make);
      await expect(things.updateOne({ n: 1 }, { $set: { m: 1 } }, { upsert: true })).rejects.toMatchObject(REFUSED);
      expect(await things.count({})).toBe(0);
    });

    it('a replacement with another _id', async () => {
      const things = await fresh(make, [BEFORE]);
      await expect(things.replaceOne({ n: 1 }, { _id: 'b', n: 2 })).rejects.toMatchObject(REFUSED);
      expect(await things.find({})).toEqual([BEFORE]);
    });
  });
