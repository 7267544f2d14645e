import { describe, expect, it } from '@jest/globals';
import { fresh, type MakeDatabase } from './fresh.ts';

const times = <R>(count: number, work: (at: number) => Promise<R>): Promise<R[]> =>
  Promise.all(Array.from({ length: count }, (_, at) => work(at)));

export const describeRaces = (make: MakeDatabase): void =>
  describe('races', () => {
    it('loses none of 200 increases at once', async () => {
      const things = await fresh(make, [{ _id: 'a', n: 0 }]);
      await times(200, () => things.updateOne({ _id: 'a' }, { $inc: { n: 1 } }));
      expect(await things.findOne({ _id: 'a' })).toEqual({ _id: 'a', n: 200 });
    });

    it('one of 50 updates that compare the version wins', async () => {
      const things = await fresh(make, [{ _id: 'a', version: 1, by: -1 }]);
      const outcomes = await times(50, (by) => things.updateOne({ _id: 'a', version: 1 }, { $set: { by }, $inc: { version: 1 } }));
      expect(outcomes.filter((outcome) => outcome === 'updated')).toHaveLength(1);
      expect(await things.findOne({ _id: 'a' })).toEqual({ _id: 'a', version: 2, by: outcomes.indexOf('updated') });
    });

    it('a cap of 10 holds against 50 who push', async () => {
      const things = await fresh(make, [{ _id: 'a', list: [] }]);
      const outcomes = await times(50, (at) => things.updateOne({ _id: 'a', 'list.9': { $exists: false } }, { $push: { list: at } }));
      expect(outcomes.filter((outcome) => outcome === 'updated')).toHaveLength(10);
      expect((await things.findOne({ _id: 'a' }))?.['list']).toHaveLength(10);
    });

    it('one of 50 inserts of one id wins', async () => {
      const things = await fresh(make);
      const won = await times(50, (by) => things.insert({ _id: 'a', by }));
      expect(won.filter(Boolean)).toHaveLength(1);
      expect(await things.findOne({ _id: 'a' })).toEqual({ _id: 'a', by: won.indexOf(true) });
    });

    it('of 50 upserts of one id one inserts, and none is lost', async () => {
      const things = await fresh(make);
      const outcomes = await times(50, () => things.updateOne({ _id: 'a' }, { $inc: { n: 1 } }, { upsert: true }));
      expect(outcomes.filter((outcome) => outcome === 'inserted')).toHaveLength(1);
      const lost = outcomes.filter((outcome) => outcome === 'duplicate').length;
      expect(await things.findOne({ _id: 'a' })).toEqual({ _id: 'a', n: 50 - lost });
    });

    it('8 workers that claim under a lease take each of 40 pieces once', async () => {
      const [now, until] = [new Date(1_000), new Date(2_000)];
      const pieces = Array.from({ length: 40 }, (_, at) => ({ _id: `p${at}`, at: new Date(at), leaseUntil: new Date(0), by: -1 }));
      const things = await fresh(make, pieces);
      await things.ensureIndexes([{ name: 'due', keys: { leaseUntil: 1, at: 1 } }]);
      const claim = (by: number) =>
        things.findOneAndUpdate({ leaseUntil: { $lt: now } }, { $set: { leaseUntil: until, by } }, { sort: { at: 1 } });
      const taken = await times(8, async (by) => {
        const mine: string[] = [];
        for (let piece = await claim(by); piece; piece = await claim(by)) mine.push(piece._id);
        return mine;
      });
      expect(taken.flat().sort()).toEqual(pieces.map((piece) => piece._id).sort());
    });

    it('of two that take the same unique key one wins', async () => {
      const things = await fresh(make);
      await things.ensureIndexes([{ name: 'mail', keys: { mail: 1 }, unique: true }]);
      const won = await times(20, (at) => things.insert({ _id: `a${at}`, mail: 'x@y' }));
      expect(won.filter(Boolean)).toHaveLength(1);
    });
  });
