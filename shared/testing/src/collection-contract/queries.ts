import { describe, expect, it } from '@jest/globals';
import { fresh, idsOf, type MakeDatabase, type Thing } from './fresh.ts';

const PEOPLE: readonly Thing[] = [
  { _id: 'a', n: 1, tags: ['x', 'y'], at: new Date(1_000), place: { city: 'Oslo', zip: 1 }, name: 'Ann' },
  { _id: 'b', n: 2, tags: ['y'], at: new Date(2_000), place: { city: 'Rome' }, name: null },
  { _id: 'c', n: 3, tags: [], at: new Date(3_000), place: null },
  {
    _id: 'd',
    n: '3',
    tags: 'x',
    at: null,
    parts: [
      { k: 1, v: 'p' },
      { k: 2, v: 'q' },
    ],
    name: 'ann',
  },
  { _id: 'e', bytes: Buffer.from([255]), parts: [{ k: 2, v: 'p' }] },
];

const CASES: readonly (readonly [string, object, string])[] = [
  ['equality', { n: 1 }, 'a'],
  ['equality is strict about types', { n: '3' }, 'd'],
  ['equality with null finds null and absent', { name: null }, 'bce'],
  ['equality with an element of an array, or the value', { tags: 'x' }, 'ad'],
  ['equality with a whole array', { tags: ['x', 'y'] }, 'a'],
  ['equality with a date', { at: new Date(2_000) }, 'b'],
  ['equality with bytes', { bytes: Buffer.from([255]) }, 'e'],
  ['bytes that are no text differ', { bytes: Buffer.from([254]) }, ''],
  ['a dotted path', { 'place.city': 'Rome' }, 'b'],
  ['a dotted path into an array of documents', { 'parts.k': 2 }, 'de'],
  ['a sub-document with its fields in order', { place: { city: 'Oslo', zip: 1 } }, 'a'],
  ['a sub-document with its fields in another order', { place: { zip: 1, city: 'Oslo' } }, ''],
  ['$ne', { tags: { $ne: 'y' } }, 'cde'],
  ['$in', { n: { $in: [1, '3', 7] } }, 'ad'],
  ['$in with null', { name: { $in: [null, 'Ann'] } }, 'abce'],
  ['$nin', { n: { $nin: [1, 2] } }, 'cde'],
  ['$in on _id', { _id: { $in: ['e', 'a', 'zz', 'a'] } }, 'ae'],
  ['$nin on _id', { _id: { $nin: ['a', 'b'] } }, 'cde'],
  ['a range on _id', { _id: { $gt: 'b', $lte: 'd' } }, 'cd'],
  ['$gt within the type of the bound', { n: { $gt: 1 } }, 'bc'],
  ['$gte and $lt', { n: { $gte: 2, $lt: 3 } }, 'b'],
  ['a range of dates leaves null out', { at: { $lte: new Date(2_000) } }, 'ab'],
  ['$exists', { parts: { $exists: true } }, 'de'],
  ['$exists: false', { n: { $exists: false } }, 'e'],
  ['$size', { tags: { $size: 0 } }, 'c'],
  ['$all', { tags: { $all: ['y', 'x'] } }, 'a'],
  ['$elemMatch holds for one element', { parts: { $elemMatch: { k: 2, v: 'p' } } }, 'e'],
  ['$elemMatch on the elements themselves', { tags: { $elemMatch: { $gt: 'x' } } }, 'ab'],
  ['$size of an array only', { name: { $size: 3 } }, ''],
  ['two paths may hold for two elements', { 'parts.k': 2, 'parts.v': 'p' }, 'de'],
  ['$not', { n: { $not: { $gt: 1 } } }, 'ade'],
  ['$not of a pattern', { name: { $not: /^a/i } }, 'bce'],
  ['a pattern in $in', { name: { $in: [/^A/, null] } }, 'abce'],
  ['$or', { $or: [{ n: 1 }, { tags: 'y' }] }, 'ab'],
  ['$nor', { $nor: [{ n: 1 }, { tags: 'y' }] }, 'cde'],
  ['$and', { $and: [{ tags: 'x' }, { tags: 'y' }] }, 'a'],
  ['a pattern', { name: /^a/i }, 'ad'],
  ['everything', {}, 'abcde'],
];

const MIXED: readonly Thing[] = [
  { _id: 'text', v: 'b' },
  { _id: 'number', v: 10 },
  { _id: 'less', v: 9 },
  { _id: 'null', v: null },
  { _id: 'date', v: new Date(0) },
  { _id: 'yes', v: true },
  { _id: 'no', v: false },
  { _id: 'object', v: { a: 1 } },
];

export const describeQueries = (make: MakeDatabase): void =>
  describe('queries', () => {
    it.each(CASES)('%s', async (_title, filter, expected) => {
      const things = await fresh(make, PEOPLE);
      expect(
        idsOf(await things.find(filter))
          .sort()
          .join(''),
      ).toBe(expected);
      expect(await things.count(filter)).toBe(expected.length);
    });

    it('sorts by type, numbers before texts before booleans before dates, null first', async () => {
      const things = await fresh(make, MIXED);
      const order = ['null', 'less', 'number', 'text', 'object', 'no', 'yes', 'date'];
      expect(idsOf(await things.find({}, { sort: { v: 1 } }))).toEqual(order);
      expect(idsOf(await things.find({}, { sort: { v: -1 } }))).toEqual(order.toReversed());
    });

    it('sorts absent as null', async () => {
      const things = await fresh(make, [{ _id: 'a', v: 1 }, { _id: 'b' }, { _id: 'c', v: null }]);
      expect(idsOf(await things.find({}, { sort: { v: 1, _id: -1 } }))).toEqual(['c', 'b', 'a']);
    });

    it('sorts an array by its least element, or its greatest when descending', async () => {
      const things = await fresh(make, [
        { _id: 'a', v: [5, 1] },
        { _id: 'b', v: [3, 2] },
        { _id: 'c', v: 4 },
      ]);
      expect(idsOf(await things.find({}, { sort: { v: 1 } }))).toEqual(['a', 'b', 'c']);
      expect(idsOf(await things.find({}, { sort: { v: -1 } }))).toEqual(['a', 'c', 'b']);
    });

    it('sorts by several paths, each in its direction, and cuts at the limit', async () => {
      const things = await fresh(make, [
        { _id: 'a', g: 1, d: { n: 1 } },
        { _id: 'b', g: 2, d: { n: 2 } },
        { _id: 'c', g: 1, d: { n: 3 } },
        { _id: 'd', g: 2, d: { n: 4 } },
      ]);
      const sort = { g: 1, 'd.n': -1 } as const;
      expect(idsOf(await things.find({}, { sort }))).toEqual(['c', 'a', 'd', 'b']);
      expect(idsOf(await things.find({}, { sort, limit: 3 }))).toEqual(['c', 'a', 'd']);
      expect((await things.findOne({ g: 2 }, { sort }))?._id).toBe('d');
    });

    it('counts up to a limit', async () => {
      const things = await fresh(make, PEOPLE);
      expect(await things.count({}, { limit: 3 })).toBe(3);
      expect(await things.count({ n: 1 }, { limit: 3 })).toBe(1);
    });

    it('findOne answers null when nothing matches', async () => {
      const things = await fresh(make, PEOPLE);
      expect(await things.findOne({ _id: 'zz' })).toBeNull();
    });

    it('a projection shows what it names', async () => {
      const things = await fresh(make, [{ _id: 'a', x: 1, y: { p: 1, q: 2 }, list: [{ k: 1, v: 2 }, { v: 3 }] }]);
      const shown = async (projection: Readonly<Record<string, 0 | 1>>) => await things.findOne({ _id: 'a' }, { projection });
      expect(await shown({ x: 1 })).toEqual({ _id: 'a', x: 1 });
      expect(await shown({ _id: 0, 'y.p': 1 })).toEqual({ y: { p: 1 } });
      expect(await shown({ _id: 1 })).toEqual({ _id: 'a' });
      expect(await shown({ 'list.k': 1 })).toEqual({ _id: 'a', list: [{ k: 1 }, {}] });
      expect(await shown({ x: 0, 'y.p': 0, 'list.k': 0 })).toEqual({ _id: 'a', y: { q: 2 }, list: [{ v: 2 }, { v: 3 }] });
      expect(await shown({ _id: 0, list: 0 })).toEqual({ x: 1, y: { p: 1, q: 2 } });
    });
  });
