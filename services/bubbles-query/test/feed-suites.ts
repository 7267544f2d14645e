import { beforeEach, describe, expect, it } from '@jest/globals';
import { rowVersionOf } from '../src/adapters/store/cards.ts';
import type { Stores } from '../src/adapters/store/stores.ts';
import { ANALYSER_VERSION } from '../src/domain/analyser.ts';
import type { SearchCard } from '../src/domain/search-card.ts';
import { nameText } from '../src/domain/search-card.ts';
import { AT, BUBBLE, bubbleId } from './builders.ts';

type MakeStores = () => Promise<Pick<Stores, 'cards' | 'people'>>;

const aCard = (fields: Partial<SearchCard> = {}): SearchCard => ({
  id: BUBBLE,
  changeCount: 1,
  readers: ['ada'],
  removed: false,
  createdAt: AT,
  hideAtMs: null,
  teamId: 'acme',
  channelId: null,
  type: 'custom_image',
  authorId: 'dana',
  title: 'sprint:0',
  notes: 'well said',
  ...fields,
});

const versionAt = (changeCount: number): number => rowVersionOf({ rev: changeCount, analyser: ANALYSER_VERSION });

const all = async <T>(batches: AsyncIterable<readonly T[]>): Promise<T[]> => {
  const rows: T[] = [];
  for await (const batch of batches) for (const one of batch) rows.push(one);
  return rows;
};

/** What every engine below the feeds of search has to hold. */
export const describeFeeds = (engine: string, make: MakeStores) => {
  describe(`CardStore on ${engine}`, () => {
    let cards: Stores['cards'];
    beforeEach(async () => {
      ({ cards } = await make());
    });
    const put = (fields: Partial<SearchCard>, seq: number, at = AT) => cards.put(aCard(fields), { seq, at });
    const rowsOf = (userId: string, after = 0, upTo: number | null = null) => all(cards.of(userId).read({ after, upTo }));

    it('gives a reader the card as it was put', async () => {
      await put({}, 7);
      const { readers: _, removed: __, createdAt: ___, changeCount, ...fields } = aCard();
      expect(await rowsOf('ada')).toEqual([
        { ...fields, createdMs: AT.getTime(), rowVersion: versionAt(changeCount), seq: 7, readable: true },
      ]);
      expect(await rowsOf('bob')).toEqual([]);
    });

    it('gives what was written after a number, in the order of numbers', async () => {
      await put({ id: bubbleId(1) }, 30);
      await put({ id: bubbleId(2) }, 10);
      await put({ id: bubbleId(3) }, 20);
      expect((await rowsOf('ada', 10)).map(({ id }) => id)).toEqual([bubbleId(3), bubbleId(1)]);
    });

    it('[SRCH-04] tells readers of before that they read it no more', async () => {
      await put({ readers: ['ada', 'bob'] }, 1);
      await put({ changeCount: 2, readers: ['bob', 'cy'] }, 2);
      const readable = async (userId: string) => (await rowsOf(userId)).map(({ readable: may, rowVersion }) => [may, rowVersion]);
      expect([await readable('ada'), await readable('bob'), await readable('cy')]).toEqual([
        [[false, versionAt(2)]],
        [[true, versionAt(2)]],
        [[true, versionAt(2)]],
      ]);
    });

    it('gives and counts what lies in a span of numbers', async () => {
      for (const n of [1, 2, 3, 4]) await put({ id: bubbleId(n), readers: n === 3 ? ['bob'] : ['ada'] }, n * 10);
      expect((await rowsOf('ada', 10, 40)).map(({ seq }) => seq)).toEqual([20, 40]);
      const count = (after: number, upTo: number) => cards.of('ada').count({ after, upTo });
      expect([await count(10, 40), await count(0, 39), await count(40, 99)]).toEqual([2, 2, 0]);
    });

    it('[SRCH-04] gives every change a higher number, also one of a writer whose clock is behind', async () => {
      await put({ changeCount: 1 }, 50);
      const seqs = [50];
      for (const [changeCount, seq] of [
        [1, 50],
        [2, 20],
        [3, 60],
        [3, 59],
      ] as const) {
        await put({ changeCount }, seq);
        const [row] = await rowsOf('ada');
        expect(row).toMatchObject({ rowVersion: versionAt(changeCount) });
        seqs.push(row?.seq ?? 0);
      }
      expect(seqs).toEqual([50, 51, 52, 60, 61]);
    });

    it('a newer revision stays, the same one is written again, and the number never falls', async () => {
      await put({ changeCount: 2, title: 'new:0' }, 20);
      await put({ changeCount: 1, title: 'old:0' }, 30);
      expect(await rowsOf('ada')).toMatchObject([{ rowVersion: versionAt(2), title: 'new:0', seq: 20 }]);
      await put({ changeCount: 2, title: 'new:0' }, 40);
      await put({ changeCount: 2, title: 'new:0' }, 35);
      expect(await rowsOf('ada')).toMatchObject([{ rowVersion: versionAt(2), seq: 41 }]);
    });

    it('the newest of many first writes at the same time stays', async () => {
      for (let n = 1; n <= 10; n++) {
        await Promise.all(Array.from({ length: 8 }, (_, at) => put({ id: bubbleId(n), changeCount: at + 1 }, at + 1)));
      }
      expect((await rowsOf('ada')).map(({ rowVersion }) => rowVersion)).toEqual(Array.from({ length: 10 }, () => versionAt(8)));
    });

    it('gives every card of more than a page, equal numbers among them', async () => {
      const made = Array.from({ length: 1203 }, (_, n) => ({ id: bubbleId(n + 1), seq: Math.floor(n / 3) + 1 }));
      for (const { id, seq } of made) await put({ id }, seq);
      const rows = await rowsOf('ada');
      expect(new Set(rows.map(({ id }) => id)).size).toBe(made.length);
      expect(rows.map(({ seq }) => seq)).toEqual(rows.map(({ seq }) => seq).toSorted((a, b) => a - b));
    });

    it('gives every card, however long their texts are', async () => {
      const notes = 'long '.repeat(50_000);
      const ids = Array.from({ length: 130 }, (_, n) => bubbleId(n + 1));
      for (const [n, id] of ids.entries()) await put({ id, notes }, n + 1);
      const pages: number[] = [];
      const seen = new Set<string>();
      for await (const rows of cards.of('ada').read({ after: 0, upTo: null })) {
        pages.push(rows.length);
        for (const { id } of rows) seen.add(id);
      }
      expect([...seen]).toEqual(ids);
      expect(pages.slice(1).every((rows) => rows <= 17)).toBe(true);
    });

    it('drops what was removed before a time, and nothing that is there', async () => {
      const removed = { removed: true, readers: [], title: '', notes: '' };
      await put({ id: bubbleId(1) }, 1);
      for (const [n, minutes] of [
        [2, 0],
        [3, 1],
      ] as const) {
        await put({ id: bubbleId(n) }, n);
        await put({ id: bubbleId(n), changeCount: 2, ...removed }, n + 10, new Date(AT.getTime() + minutes * 60_000));
      }
      expect(await cards.dropRemovedBefore(new Date(AT.getTime() + 60_000))).toBe(1);
      expect((await rowsOf('ada')).map(({ id, readable }) => [id, readable])).toEqual([
        [bubbleId(1), true],
        [bubbleId(3), false],
      ]);
    });

    it('a removal that comes first stays, and is nobody’s', async () => {
      await put({ changeCount: 2, removed: true, readers: [] }, 1);
      await put({ changeCount: 1 }, 2);
      expect(await rowsOf('ada')).toEqual([]);
      expect(await cards.dropRemovedBefore(new Date(AT.getTime() + 1))).toBe(1);
    });

    it('knows of none that an older analyser wrote', async () => {
      await put({}, 1);
      expect(await cards.idsAnalysedBefore(10)).toEqual([]);
    });
  });

  describe(`PeopleStore on ${engine}`, () => {
    let people: Stores['people'];
    beforeEach(async () => {
      ({ people } = await make());
    });
    const known = (name: string | null, revision: number) => ({ id: 'dana', name, email: null, revision });

    it('[LIST-10] the newest revision of an account stays', async () => {
      await people.put(known('Dana Cole', 2), 2);
      await people.put(known('Dana', 1), 3);
      expect(await people.byIds(['dana', 'dana', 'nobody'])).toEqual(new Map([['dana', known('Dana Cole', 2)]]));
      expect(await people.named(['dana'])).toEqual([{ id: 'dana', rowVersion: 2, seq: 2, name: nameText('Dana Cole') }]);
    });

    it('[LIST-10] a name that a recording told is found until the account is known, and read as nobody’s', async () => {
      await people.mention({ id: 'dana', name: 'D. Cole' }, 1);
      await people.mention({ id: 'dana', name: 'Dana C.' }, 2);
      expect(await people.byIds(['dana'])).toEqual(new Map());
      expect(await people.named(['dana'])).toEqual([{ id: 'dana', rowVersion: 0, seq: 2, name: nameText('Dana C.') }]);
      await people.put(known('Dana Cole', 1), 3);
      await people.mention({ id: 'dana', name: 'Somebody' }, 4);
      expect(await people.named(['dana'])).toEqual([{ id: 'dana', rowVersion: 1, seq: 3, name: nameText('Dana Cole') }]);
    });

    it('[LIST-10] an account without a name has none, whatever a recording told', async () => {
      await people.mention({ id: 'dana', name: 'Dana' }, 1);
      await people.put(known(null, 1), 2);
      expect(await people.named(['dana'])).toEqual([{ id: 'dana', rowVersion: 1, seq: 2, name: '' }]);
    });

    it('an author without an account has the name that the id holds', async () => {
      expect(await people.named(['~Olga Out', 'nobody'])).toEqual([{ id: '~Olga Out', rowVersion: 0, seq: 0, name: nameText('Olga Out') }]);
    });

    it('finds thousands at once', async () => {
      const ids = Array.from({ length: 2100 }, (_, n) => `p${n}`);
      for (const id of [ids[0], ids[1050], ids[2099]]) if (id !== undefined) await people.put({ ...known('P', 1), id }, 1);
      expect((await people.named(ids)).map(({ id }) => id).toSorted()).toEqual(['p0', 'p1050', 'p2099']);
    });

    it('gives who was written after a number, in the order of numbers', async () => {
      await people.put({ ...known('A', 1), id: 'a' }, 3);
      await people.mention({ id: 'b', name: 'B' }, 1);
      await people.put({ ...known('C', 1), id: 'c' }, 2);
      expect((await all(people.all.read({ after: 1, upTo: null }))).map(({ id }) => id)).toEqual(['c', 'a']);
    });
  });
};
