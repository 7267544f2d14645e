import type { Thing, Things } from '@bubbles/testing/collection-contract/fresh.ts';
import { memoryLog } from '@bubbles/testing/memory-log.ts';
import { afterAll, describe, expect, it } from '@jest/globals';
import { openEmbedded } from './open-embedded.ts';

const store = openEmbedded({ path: ':memory:', log: memoryLog() });
afterAll(() => store.close());

let made = 0;
const holding = async (docs: readonly Thing[]): Promise<Things> => {
  made += 1;
  const things: Things = store.database('test').collection<Thing>(`things${made}`);
  for (const doc of docs) await things.insert(doc);
  return things;
};

/** What MongoDB does and the server of the continuous integration does not, so that it is no part of the contract suite. */
describe('the embedded engine means what MongoDB means', () => {
  it.each([
    ['$set through null', { $set: { 'none.b': 1 } }],
    ['$inc of null', { $inc: { none: 1 } }],
    ['$push on null', { $push: { none: 1 } }],
    ['a positional path', { $set: { 'list.$.n': 1 } }],
    ['an operator that stores may not use', { $rename: { n: 'm' } }],
    ['a path with an empty name', { $set: { 'a..b': 1 } }],
    ['a modifier without $each', { $push: { list: { $slice: 1 } } }],
    ['a far extension of an array', { $set: { 'list.9999': 1 } }],
    ['a name that is no own field', JSON.parse('{"$set":{"__proto__.polluted":1}}')],
  ])('refuses %s', async (_title, update) => {
    const before = { _id: 'a', none: null, list: [1], n: 1 };
    const things = await holding([before]);
    await expect(things.updateOne({ _id: 'a' }, update)).rejects.toMatchObject({ kind: 'internal' });
    expect(await things.findOne({ _id: 'a' })).toEqual(before);
  });

  it.each([
    ['an operator that stores may not use', { n: { $type: 'int' } }],
    ['a logical operator that stores may not use', { $where: 'true' }],
    ['no filter in $or', { $or: [] }],
    ['a value in $and', { $and: [1] }],
    ['a value that is not a list in $in', { n: { $in: 1 } }],
    ['a value in $not', { n: { $not: 1 } }],
    ['an operator beside a field', { n: { $gt: 1, m: 1 } }],
  ])('refuses a filter with %s', async (_title, filter) => {
    const things = await holding([{ _id: 'a', n: 1 }]);
    await expect(things.find(filter)).rejects.toMatchObject({ kind: 'internal' });
  });

  it('holds arrays of more elements than a call may have arguments', async () => {
    const many = Array.from({ length: 200_000 }, (_, n) => `n${n}`);
    const things = await holding([{ _id: 'a', list: many }]);
    await things.ensureIndexes([{ name: 'list', keys: { list: 1 } }]);
    await things.updateOne({ _id: 'a' }, { $push: { list: { $each: many } } });
    await things.updateOne({ _id: 'a' }, { $addToSet: { list: { $each: [...many, 'new'] } } });
    expect(await things.count({ list: 'new' })).toBe(1);
    expect((await things.findOne({ _id: 'a' }))?.['list']).toHaveLength(400_001);
  });

  it('sorts and compares texts by code point', async () => {
    const things = await holding([
      { _id: 'astral', v: '😀' },
      { _id: 'high', v: '\uff5e' },
      { _id: 'low', v: 'a' },
    ]);
    expect((await things.find({}, { sort: { v: 1 } })).map((thing) => thing._id)).toEqual(['low', 'high', 'astral']);
    expect((await things.find({ v: { $gt: '\uff5e' } })).map((thing) => thing._id)).toEqual(['astral']);
  });

  it('a field is found only where it is the document’s own', async () => {
    const things = await holding([{ _id: 'a' }]);
    expect(await things.count({ constructor: { $exists: true } })).toBe(0);
    expect(await things.count({ toString: null })).toBe(1);
  });

  it('an element that is pulled by fields must be a document', async () => {
    const things = await holding([{ _id: 'a', list: [{ id: 1 }, 1, null] }]);
    await things.updateOne({ _id: 'a' }, { $pull: { list: { id: null } } });
    expect(await things.findOne({ _id: 'a' })).toEqual({ _id: 'a', list: [{ id: 1 }, 1, null] });
  });

  it('an index over two arrays of one document is refused, and the document too', async () => {
    const things = await holding([]);
    await things.ensureIndexes([{ name: 'both', keys: { a: 1, b: 1 } }]);
    await expect(things.insert({ _id: 'x', a: [1, 2], b: [1, 2] })).rejects.toMatchObject({ kind: 'internal' });
    expect(await things.count({})).toBe(0);
  });
});
