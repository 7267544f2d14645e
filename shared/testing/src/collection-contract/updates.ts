import { describe, expect, it } from '@jest/globals';
import { fresh, type MakeDatabase } from './fresh.ts';

type Case = readonly [title: string, before: object, update: object, after: object];

const CASES: readonly Case[] = [
  ['$set of a new and of a known field', { a: 1 }, { $set: { a: 2, b: null } }, { a: 2, b: null }],
  [
    '$set of a dotted path makes what is missing',
    { a: { x: 1 } },
    { $set: { 'a.y': 2, 'b.c.d': 3 } },
    { a: { x: 1, y: 2 }, b: { c: { d: 3 } } },
  ],
  ['$set of an element of an array', { list: [1, { n: 1 }] }, { $set: { 'list.0': 9, 'list.1.n': 2 } }, { list: [9, { n: 2 }] }],
  ['$set beyond the end fills with null', { list: [1] }, { $set: { 'list.3': 4 } }, { list: [1, null, null, 4] }],
  [
    '$set of dates, bytes and arrays',
    {},
    { $set: { d: new Date(5), b: Buffer.from([1]), l: [[1]] } },
    { d: new Date(5), b: Buffer.from([1]), l: [[1]] },
  ],
  ['$unset', { a: 1, b: { c: 1, d: 2 } }, { $unset: { a: '', 'b.c': '' } }, { b: { d: 2 } }],
  ['$unset of what is not there', { a: 1 }, { $unset: { b: '', 'a.c': '' } }, { a: 1 }],
  ['$inc of a new and of a known field', { a: 1 }, { $inc: { a: 2, b: -3, 'c.d': 1.5 } }, { a: 3, b: -3, c: { d: 1.5 } }],
  [
    '$min and $max',
    { a: 5, b: 5, d: new Date(5) },
    { $min: { a: 3, c: 1 }, $max: { b: 3, d: new Date(9) } },
    { a: 3, b: 5, c: 1, d: new Date(9) },
  ],
  ['$push of a value', { list: [1] }, { $push: { list: 2, other: 3 } }, { list: [1, 2], other: [3] }],
  ['$push of an array is one element', { list: [1] }, { $push: { list: [2, 3] } }, { list: [1, [2, 3]] }],
  ['$push with $each', { list: [1] }, { $push: { list: { $each: [2, 3] } } }, { list: [1, 2, 3] }],
  [
    '$push with a negative $slice keeps the last',
    { list: [1, 2] },
    { $push: { list: { $each: [3, 4], $slice: -3 } } },
    { list: [2, 3, 4] },
  ],
  [
    '$push with a positive $slice keeps the first',
    { list: [1, 2] },
    { $push: { list: { $each: [3, 4], $slice: 3 } } },
    { list: [1, 2, 3] },
  ],
  ['$push with $slice on an absent field', {}, { $push: { list: { $each: [3, 4, 5], $slice: -2 } } }, { list: [4, 5] }],
  ['$push with $sort', { list: [3, 1] }, { $push: { list: { $each: [2], $sort: 1 } } }, { list: [1, 2, 3] }],
  [
    '$push with $sort by a field and $slice',
    { list: [{ n: 3 }, { n: 1 }] },
    { $push: { list: { $each: [{ n: 2 }], $sort: { n: -1 }, $slice: 2 } } },
    { list: [{ n: 3 }, { n: 2 }] },
  ],
  ['$push with $position', { list: [1, 4] }, { $push: { list: { $each: [2, 3], $position: 1 } } }, { list: [1, 2, 3, 4] }],
  ['$addToSet adds what is not there', { list: [1, 'x'] }, { $addToSet: { list: 'x', other: 2 } }, { list: [1, 'x'], other: [2] }],
  ['$addToSet with $each', { list: [1] }, { $addToSet: { list: { $each: [2, 1, 2, 3] } } }, { list: [1, 2, 3] }],
  ['$addToSet compares whole documents', { list: [{ a: 1, b: 2 }] }, { $addToSet: { list: { a: 1, b: 2 } } }, { list: [{ a: 1, b: 2 }] }],
  ['$pull of a value', { list: [1, 2, 1, 3] }, { $pull: { list: 1 } }, { list: [2, 3] }],
  ['$pull by a condition', { list: [1, 2, 5, 3] }, { $pull: { list: { $gte: 3 } } }, { list: [1, 2] }],
  ['$pull by fields', { list: [{ id: 1, n: 1 }, { id: 2 }] }, { $pull: { list: { id: { $in: [1, 7] } } } }, { list: [{ id: 2 }] }],
  ['$pull of what is not there', { list: [1] }, { $pull: { list: 9, other: 1 } }, { list: [1] }],
  ['several operators on several paths', { a: 1, l: [1, 2] }, { $inc: { a: 1 }, $set: { b: 1 }, $pull: { l: 1 } }, { a: 2, b: 1, l: [2] }],
];

export const describeUpdates = (make: MakeDatabase): void =>
  describe('updates', () => {
    it.each(CASES)('%s', async (_title, before, update, after) => {
      const things = await fresh(make, [{ _id: 'a', ...before }]);
      expect(await things.updateOne({ _id: 'a' }, update)).toBe('updated');
      expect(await things.findOne({ _id: 'a' })).toEqual({ _id: 'a', ...after });
    });

    it('what was given to an update can be changed afterwards', async () => {
      const things = await fresh(make, [{ _id: 'a', list: [] }]);
      const given = { n: 1 };
      await things.updateOne({ _id: 'a' }, { $push: { list: given }, $set: { one: given } });
      given.n = 2;
      expect(await things.findOne({ _id: 'a' })).toEqual({ _id: 'a', list: [{ n: 1 }], one: { n: 1 } });
    });
  });
