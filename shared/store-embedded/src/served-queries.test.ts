import type { Direction, IndexSpec } from '@bubbles/store/collection.ts';
import type { Thing, Things } from '@bubbles/testing/collection-contract/fresh.ts';
import { memoryLog } from '@bubbles/testing/memory-log.ts';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import * as mingo from 'mingo';
import { openEmbedded } from './open-embedded.ts';
import { compareValues } from './value-order.ts';

const collectionWith = async (docs: readonly Thing[], indexes: readonly IndexSpec[]) => {
  const scans: string[] = [];
  const store = openEmbedded({ path: ':memory:', log: memoryLog(), onScan: (_space, query) => scans.push(JSON.stringify(query.filter)) });
  const things: Things = store.database('test').collection<Thing>('things');
  await things.ensureIndexes(indexes.slice(0, 1));
  for (const doc of docs) await things.insert(doc);
  await things.ensureIndexes(indexes.slice(1));
  return { things, scans };
};

const INDEXES: readonly IndexSpec[] = [
  { name: 'a', keys: { a: 1 } },
  { name: 'ab', keys: { a: 1, b: -1 } },
  { name: 'list_b', keys: { list: 1, b: -1 } },
  { name: 'list', keys: { list: -1 } },
  { name: 'list_id', keys: { list: 1, _id: -1 } },
  { name: 'list_b_id', keys: { list: 1, b: -1, _id: 1 } },
  { name: 'a_b_id', keys: { a: -1, b: 1, _id: -1 } },
  { name: 'sparse', keys: { s: 1 }, sparse: true },
  { name: 'deep', keys: { 'parts.k': 1 } },
];

const scalar = fc.oneof(fc.integer({ min: 0, max: 5 }), fc.constantFrom('x', 'y', null));
const doc = fc.record(
  {
    a: scalar,
    b: fc.integer({ min: 0, max: 9 }),
    list: fc.oneof(fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 4 }), scalar),
    s: scalar,
    parts: fc.array(fc.record({ k: fc.integer({ min: 0, max: 3 }), v: fc.integer({ min: 0, max: 1 }) }), { maxLength: 3 }),
  },
  { requiredKeys: ['b'] },
);
const docs = fc
  .array(doc, { maxLength: 40 })
  .map((all) => all.map((fields, at): Thing => ({ _id: `id${String(at).padStart(3, '0')}`, ...fields })));

const number = fc.integer({ min: 0, max: 5 });
const condition = fc.oneof(
  scalar,
  fc.record({ $in: fc.array(scalar, { maxLength: 3 }) }),
  fc.record({ $gt: number }),
  fc.record({ $gte: number, $lte: number }),
  fc.record({ $lt: number }),
  fc.record({ $ne: scalar }),
  fc.record({ $exists: fc.boolean() }),
);
const path = fc.constantFrom('a', 'b', 'list', 's', 'parts.k');
const fields = fc
  .uniqueArray(fc.tuple(path, condition), { minLength: 1, maxLength: 2, selector: ([name]) => name })
  .map(Object.fromEntries);
const filter: fc.Arbitrary<object> = fc.oneof(
  { weight: 3, arbitrary: fields },
  fc.tuple(fields, fields).map(([one, other]) => ({ $and: [one, other] })),
  fc.tuple(fields, fields).map(([one, other]) => ({ $or: [one, other] })),
  fc.tuple(number, number).map(([k, v]) => ({ parts: { $elemMatch: { k, v } } })),
);
const direction = fc.constantFrom<Direction>(1, -1);
/** Each ends with the id, so that there is one right order. */
const sort: fc.Arbitrary<Readonly<Record<string, Direction>>> = fc
  .tuple(fc.constantFrom(['a'], ['b'], ['list'], ['s'], ['a', 'b'], ['list', 'b'], []), direction, direction, direction)
  .map(([paths, ...directions]) => Object.fromEntries([...paths, '_id'].map((name, at) => [name, directions[at] ?? 1])));

const ids = (things: readonly Thing[]) => things.map((thing) => thing._id);

describe('a query gives the same', () => {
  it('with indexes, without, and by mingo alone: which documents', async () => {
    await fc.assert(
      fc.asyncProperty(docs, filter, async (all, asked) => {
        const indexed = await collectionWith(all, INDEXES);
        const plain = await collectionWith(all, []);
        const expected = new mingo.Query(asked).find<Thing>([...all]).all();
        const found = ids(await indexed.things.find(asked)).sort();
        expect(found).toEqual(ids(await plain.things.find(asked)).sort());
        expect(found).toEqual(ids(expected).sort());
        expect(await indexed.things.count(asked)).toBe(expected.length);
      }),
      { numRuns: 400 },
    );
  });

  it('with indexes and without: in which order, up to which limit', async () => {
    await fc.assert(
      fc.asyncProperty(docs, filter, sort, fc.integer({ min: 1, max: 10 }), async (all, asked, order, limit) => {
        const indexed = await collectionWith(all, INDEXES);
        const plain = await collectionWith(all, []);
        const options = { sort: order, limit };
        expect(ids(await indexed.things.find(asked, options))).toEqual(ids(await plain.things.find(asked, options)));
      }),
      { numRuns: 400 },
    );
  });

  it('after any updates and removals', async () => {
    const change = fc.record({
      at: fc.integer({ min: 0, max: 39 }),
      update: fc.oneof(
        doc.map((values) => ({ $set: values })),
        fc.constant(null),
      ),
    });
    await fc.assert(
      fc.asyncProperty(docs, fc.array(change, { maxLength: 15 }), filter, async (all, changes, asked) => {
        const indexed = await collectionWith(all, INDEXES);
        const plain = await collectionWith(all, []);
        for (const { things } of [indexed, plain]) {
          for (const { at, update } of changes) {
            const target = { _id: `id${String(at).padStart(3, '0')}` };
            if (update) await things.updateOne(target, update);
            else await things.deleteOne(target);
          }
        }
        expect(ids(await indexed.things.find(asked)).sort()).toEqual(ids(await plain.things.find(asked)).sort());
      }),
      { numRuns: 200 },
    );
  });
});

describe('an index that does not give the order that was asked for is not taken to give it', () => {
  const lists: readonly Thing[] = [
    { _id: 'p', list: [1, 5], b: 1, a: 1 },
    { _id: 'q', list: [2, 3], b: 2, a: 2 },
    { _id: 'r', list: [4, 5], b: 3, a: 1 },
    { _id: 's', list: [2, 5], b: 0, a: 2 },
  ];
  const cases: readonly (readonly [string, object, Readonly<Record<string, Direction>>, string])[] = [
    ['a range on an array, which is sorted by its least element', { list: { $gte: 3 } }, { list: 1, _id: -1 }, 'psqr'],
    ['an element of an array, which is sorted by its least', { list: 5 }, { list: 1, b: -1, _id: 1 }, 'psr'],
    ['several values before the path of the order', { a: { $in: [1, 2] } }, { b: 1, _id: -1 }, 'spqr'],
  ];
  it.each(cases)('%s', async (_title, asked, order, expected) => {
    const { things } = await collectionWith(lists, INDEXES);
    expect(ids(await things.find(asked, { sort: order })).join('')).toBe(expected);
  });
});

describe('an index serves', () => {
  const all = Array.from(
    { length: 3_000 },
    (_, n): Thing => ({
      _id: `id${n}`,
      readers: [`u${n % 7}`, `v${n % 11}`],
      team: `t${n % 3}`,
      sk: String((n * 7_919) % 3_000).padStart(13, '0'),
      due: n % 2 === 0 ? new Date(n) : null,
      ...(n % 100 === 0 ? { outboxAt: new Date(n) } : {}),
      members: [{ id: `m${n % 5}` }],
    }),
  );
  const served: readonly (readonly [string, object, Readonly<Record<string, Direction>>])[] = [
    ['a page of one reader, newest first', { readers: 'u1' }, { sk: -1 }],
    ['the next page', { readers: 'u1', sk: { $lt: '0000000001500' } }, { sk: -1 }],
    ['a page of a reader and a team', { readers: 'u1', team: 't2' }, { sk: -1 }],
    ['what is due, oldest first', { due: { $lte: new Date(500) } }, { due: 1 }],
    ['the outbox', { outboxAt: { $lte: new Date(5_000) }, relayUntil: null }, { outboxAt: 1 }],
    ['several ids', { _id: { $in: ['id1', 'id2'] } }, {}],
    ['several values', { team: { $in: ['t1', 't2'] }, readers: 'u1' }, {}],
    ['a field of an element', { 'members.id': 'm1' }, {}],
    ['an element as a whole', { members: { $elemMatch: { id: 'm1' } } }, {}],
    ['the order of ids', {}, { _id: -1 }],
    ['a range of ids', { _id: { $gt: 'id5' } }, { _id: 1 }],
  ];
  const indexes: readonly IndexSpec[] = [
    { name: 'reader', keys: { readers: 1, sk: -1 } },
    { name: 'reader_team', keys: { readers: 1, team: 1, sk: -1 } },
    { name: 'due', keys: { due: 1 } },
    { name: 'outbox', keys: { outboxAt: 1 }, sparse: true },
    { name: 'members', keys: { 'members.id': 1 } },
  ];

  it.each(served)('%s', async (_title, asked, order) => {
    const { things, scans } = await collectionWith(all, indexes);
    const options = { sort: order, limit: 25 };
    const found = await things.find(asked, options);
    expect(scans).toEqual([]);
    expect(found.length).toBeGreaterThan(0);
    const plain = await collectionWith(all, []);
    const expected = await plain.things.find(asked, options);
    expect(found.length).toBe(expected.length);
    const [path] = Object.keys(order);
    if (path) expect(found.map((thing) => thing[path])).toEqual(expected.map((thing) => thing[path]));
  });

  it('nothing where there is none, and then it is told', async () => {
    const { things, scans } = await collectionWith(all, indexes);
    await things.find({ sk: '1' });
    await things.find({ outboxAt: null });
    expect(scans).toEqual(['{"sk":"1"}', '{"outboxAt":null}']);
  });
});

describe('the order of values', () => {
  const value = fc.oneof(
    scalar,
    fc.boolean(),
    fc.double({ noNaN: false }),
    fc.string({ unit: 'binary' }),
    fc.date({ noInvalidDate: true }),
    fc.uint8Array({ maxLength: 3 }),
    fc.array(scalar, { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('p', 'q', 'r'), scalar),
  );

  it('is total: it agrees with its reverse, and carries over', () => {
    fc.assert(
      fc.property(value, value, value, (a, b, c) => {
        expect(Math.sign(compareValues(a, b)) + Math.sign(compareValues(b, a))).toBe(0);
        if (compareValues(a, b) <= 0 && compareValues(b, c) <= 0) expect(compareValues(a, c)).toBeLessThanOrEqual(0);
      }),
      { numRuns: 2_000 },
    );
  });
});
