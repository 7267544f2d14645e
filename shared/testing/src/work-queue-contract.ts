import { randomUUID } from 'node:crypto';
import type { Collection, Database, Doc } from '@bubbles/store/collection.ts';
import { createWorkQueue } from '@bubbles/store/work/work-queue.ts';
import { describe, expect, it } from '@jest/globals';

/** A piece of work with one field for its due time and its lease's end, as most have. */
interface Task extends Doc {
  readonly state: 'pending' | 'done';
  readonly key: string;
  readonly claimableAt: Date;
  readonly leaseToken: string | null;
  readonly claims: number;
}

/** One whose due time outlasts its leases, as in an outbox. */
interface Box extends Doc {
  readonly items: readonly string[];
  readonly waitingSince?: Date;
  readonly claimedUntil: Date;
  readonly claimedBy: string | null;
}

const at = (second: number) => new Date(Date.UTC(2026, 0, 1) + second * 1000);
const lease = (token: string, until: number) => ({ token, until: at(until) });
const idOf = (doc: Doc | null) => doc?._id ?? null;

const task = (id: string, second: number, more: Partial<Task> = {}): Task => ({
  _id: id,
  state: 'pending',
  key: 'k',
  claimableAt: at(second),
  leaseToken: null,
  claims: 0,
  ...more,
});
const box = (id: string, since: number | null): Box => ({
  _id: id,
  items: ['x'],
  ...(since !== null && { waitingSince: at(since) }),
  claimedUntil: new Date(0),
  claimedBy: null,
});

const fill = async <T extends Doc>(make: () => Database, docs: readonly T[]): Promise<Collection<T>> => {
  const collection = make().collection<T>(`work_${randomUUID()}`);
  await collection.insertEach(docs);
  return collection;
};

const tasksOf = async (make: () => Database, docs: readonly Task[]) => {
  const collection = await fill(make, docs);
  await collection.ensureIndexes([{ name: 'state_claimable_at', keys: { state: 1, claimableAt: 1 } }]);
  const queue = createWorkQueue({
    collection,
    fields: { claimableAt: 'claimableAt', leaseToken: 'leaseToken' },
    pending: { state: 'pending' },
    onClaim: { $inc: { claims: 1 } },
  });
  return { collection, queue };
};
const boxesOf = async (make: () => Database, docs: readonly Box[]) => {
  const collection = await fill(make, docs);
  await collection.ensureIndexes([{ name: 'waiting_since', keys: { waitingSince: 1 }, sparse: true }]);
  const queue = createWorkQueue({ collection, fields: { claimableAt: 'claimedUntil', leaseToken: 'claimedBy', dueAt: 'waitingSince' } });
  return { collection, queue };
};

/** What the work queue must do on every engine. `make` gives a database that is open. */
export const describeWorkQueue = (engine: string, make: () => Database): void =>
  describe(`WorkQueue on ${engine}`, () => {
    describeClaims(make);
    describeBatchClaims(make);
    describeEnds(make);
    describeDueTimes(make);
  });

const describeClaims = (make: () => Database): void => {
  it('gives what has waited longest first, each piece to one worker, and nothing that is not due', async () => {
    const { queue } = await tasksOf(make, [task('late', 2), task('early', 1), task('future', 20), task('done', 0, { state: 'done' })]);
    expect(await queue.claimNext(at(10), lease('a', 70))).toMatchObject({ _id: 'early', leaseToken: 'a', claimableAt: at(70), claims: 1 });
    expect(idOf(await queue.claimNext(at(10), lease('b', 70)))).toBe('late');
    expect(await queue.claimNext(at(10), lease('c', 70))).toBeNull();
  });

  it('gives work whose lease has ended to the next worker, and the one before can no longer end it', async () => {
    const { collection, queue } = await tasksOf(make, [task('t', 1)]);
    await queue.claimNext(at(10), lease('dead', 20));
    expect(await queue.claimNext(at(19), lease('heir', 80))).toBeNull();
    expect(idOf(await queue.claimNext(at(20), lease('heir', 80)))).toBe('t');
    expect(await queue.end({ id: 't', token: 'dead', claimableAt: at(21) })).toBe(false);
    expect(await queue.remove('t', 'dead')).toBe(false);
    expect(await queue.renew('t', lease('dead', 99))).toBe(false);
    expect(await collection.findOne({ _id: 't' })).toMatchObject({ leaseToken: 'heir', claimableAt: at(80), claims: 2 });
  });

  it('leaves out what the caller leaves out', async () => {
    const { queue } = await tasksOf(make, [task('a', 1, { key: 'full' }), task('b', 2)]);
    expect(idOf(await queue.claimNext(at(10), lease('x', 20), { key: { $nin: ['full'] } }))).toBe('b');
  });

  it('gives each of 40 pieces to one of 8 workers', async () => {
    const pieces = Array.from({ length: 40 }, (_, n) => task(`t${n}`, n / 100));
    const { queue } = await tasksOf(make, pieces);
    const taken = await Promise.all(
      Array.from({ length: 8 }, async (_, worker) => {
        const mine: string[] = [];
        const claim = () => queue.claimNext(at(10), lease(`w${worker}`, 70));
        for (let piece = await claim(); piece; piece = await claim()) mine.push(piece._id);
        return mine;
      }),
    );
    expect(taken.flat().sort()).toEqual(pieces.map(({ _id }) => _id).sort());
  });

  it('a renewed lease lasts longer', async () => {
    const { queue } = await tasksOf(make, [task('t', 1)]);
    await queue.claimNext(at(10), lease('a', 20));
    expect(await queue.renew('t', lease('a', 40))).toBe(true);
    expect(await queue.claimNext(at(39), lease('b', 80))).toBeNull();
    expect(idOf(await queue.claimNext(at(40), lease('b', 80)))).toBe('t');
  });
};

const describeBatchClaims = (make: () => Database): void => {
  it('claims of some ids those that are due, and is the same claim when it is asked again', async () => {
    const { collection, queue } = await tasksOf(make, [task('a', 1), task('b', 2), task('future', 20), task('other', 3)]);
    await queue.claimNext(at(5), lease('else', 60), { _id: 'b' });
    const ids = ['a', 'b', 'future', 'gone'];
    expect((await queue.claimEach(at(10), lease('x', 70), ids)).map(idOf)).toEqual(['a']);
    expect((await queue.claimEach(at(10), lease('x', 70), ids)).map(idOf)).toEqual(['a']);
    expect(await collection.findOne({ _id: 'a' })).toMatchObject({ claims: 1, leaseToken: 'x' });
    expect(await queue.claimEach(at(10), lease('y', 70), ids)).toEqual([]);
  });

  it('says with `claimable` what is due, for queries of the owner', async () => {
    const { collection, queue } = await tasksOf(make, [task('a', 1), task('b', 2, { key: 'other' }), task('c', 20)]);
    const found = await collection.find({ ...queue.claimable(at(10)), key: 'k' }, { sort: { claimableAt: 1 } });
    expect(found.map(idOf)).toEqual(['a']);
  });
};

const describeEnds = (make: () => Database): void => {
  it('postpones, completes and removes', async () => {
    const { collection, queue } = await tasksOf(make, [task('a', 1), task('b', 2), task('c', 3)]);
    await queue.claimEach(at(10), lease('x', 70), ['a', 'b', 'c']);
    expect(await queue.end({ id: 'a', token: 'x', claimableAt: at(30) })).toBe(true);
    expect(await queue.end({ id: 'b', token: 'x', update: { $set: { state: 'done' } } })).toBe(true);
    expect(await queue.remove('c', 'x')).toBe(true);
    expect(await queue.claimNext(at(29), lease('y', 99))).toBeNull();
    expect(idOf(await queue.claimNext(at(30), lease('y', 99)))).toBe('a');
    expect(await queue.claimNext(at(999), lease('z', 9999), { _id: { $ne: 'a' } })).toBeNull();
    expect(await collection.findOne({ _id: 'b' })).toMatchObject({ state: 'done', leaseToken: null });
    expect(await collection.count({})).toBe(2);
  });

  it('ends many leases in one call and counts those that there still were', async () => {
    const { collection, queue } = await tasksOf(make, [task('a', 1), task('b', 2)]);
    await queue.claimEach(at(10), lease('x', 70), ['a', 'b']);
    await queue.end({ id: 'b', token: 'x', claimableAt: at(11) });
    const ends = ['a', 'b'].map((id) => ({ id, token: 'x', update: { $set: { state: 'done' } } as const }));
    expect(await queue.endEach(ends)).toBe(1);
    expect(await queue.endEach([])).toBe(0);
    expect((await collection.find({ state: 'done' })).map(idOf)).toEqual(['a']);
  });

  it('an end with a condition that does not hold changes nothing', async () => {
    const { collection, queue } = await boxesOf(make, [box('a', 1)]);
    await queue.claimNext(at(10), lease('x', 70));
    await collection.updateOne({ _id: 'a' }, { $push: { items: 'y' } });
    const emptied = { update: { $set: { items: [] }, $unset: { waitingSince: '' } }, where: { items: { $size: 1 } } } as const;
    expect(await queue.end({ id: 'a', token: 'x', ...emptied })).toBe(false);
    expect(await collection.findOne({ _id: 'a' })).toMatchObject({ items: ['x', 'y'], claimedBy: 'x' });
  });

  it('frees all leases at once for a process that is alone', async () => {
    const { collection, queue } = await tasksOf(make, [task('leased', 1), task('future', 50), task('due', 2)]);
    await queue.claimEach(at(10), lease('gone', 70), ['leased']);
    await queue.releaseAll(at(11));
    expect(await collection.find({}, { sort: { _id: 1 } })).toMatchObject([
      { _id: 'due', claimableAt: at(2) },
      { _id: 'future', claimableAt: at(50) },
      { _id: 'leased', claimableAt: at(11), leaseToken: null },
    ]);
  });
};

const describeDueTimes = (make: () => Database): void => {
  it('says when the next piece falls due, a lease that ends included', async () => {
    const { queue } = await tasksOf(make, [task('a', 1), task('b', 30, { key: 'other' }), task('done', 12, { state: 'done' })]);
    await queue.claimNext(at(10), lease('x', 20));
    expect(await queue.nextAfter(at(10))).toEqual(at(20));
    expect(await queue.nextAfter(at(20))).toEqual(at(30));
    expect(await queue.nextAfter(at(10), { key: 'other' })).toEqual(at(30));
    expect(await queue.nextAfter(at(30))).toBeNull();
  });

  it('a due time of its own keeps the order over leases; a document without it is not work', async () => {
    const { collection, queue } = await boxesOf(make, [box('second', 2), box('first', 1), box('empty', null)]);
    expect(idOf(await queue.claimNext(at(10), lease('x', 20)))).toBe('first');
    await queue.end({ id: 'first', token: 'x', claimableAt: new Date(0) });
    expect(idOf(await queue.claimNext(at(10), lease('y', 20)))).toBe('first');
    await queue.releaseAll(at(11));
    expect(idOf(await queue.claimNext(at(11), lease('z', 20)))).toBe('first');
    expect(idOf(await queue.claimNext(at(11), lease('z', 20)))).toBe('second');
    expect(await queue.claimNext(at(11), lease('z', 20))).toBeNull();
    expect(await collection.findOne({ _id: 'empty' })).toMatchObject({ claimedBy: null });
  });

  it('claims only behind a piece that keeps its place, and nothing there that is not due', async () => {
    const { queue } = await boxesOf(make, [box('first', 1), box('second', 2), box('beside', 2), box('third', 3), box('future', 20)]);
    const second = await queue.claimNext(at(10), lease('x', 20), { _id: 'second' });
    const behind = second && queue.behind(second, at(10));
    const claim = async () => idOf(await queue.claimNext(at(10), lease('y', 20), behind ?? {}));
    expect([await claim(), await claim(), await claim()]).toEqual(['beside', 'third', null]);
  });

  it('has nothing behind a piece that goes to the end itself', async () => {
    const { queue } = await tasksOf(make, [task('a', 1)]);
    const claimed = await queue.claimNext(at(10), lease('x', 20));
    expect(claimed && queue.behind(claimed, at(10))).toBeNull();
  });
};
