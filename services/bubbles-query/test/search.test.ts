import { DomainError } from '@bubbles/kernel/errors.ts';
import type { Collection, Database, Doc } from '@bubbles/store/collection.ts';
import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { CardDoc } from '../src/adapters/store/cards.ts';
import { startBubbles, type TestBubbles, type TestBubblesOptions } from './bubbles-query.ts';
import { account, aPerson, bubbleId, changed, created, day, edited, noted, posted, processed, removed, threaded } from './builders.ts';
import { idsIn, searchAs } from './search-scene.ts';

const DAY_MS = 86_400_000;
const running: TestBubbles[] = [];
const start = async (options: TestBubblesOptions = {}): Promise<TestBubbles> => {
  const bubbles = await startBubbles(options);
  running.push(bubbles);
  return bubbles;
};
afterEach(async () => {
  await Promise.all(running.splice(0).map((bubbles) => bubbles.stop()));
});

const found = async (bubbles: TestBubbles, q: string, userId = 'ada') => idsIn(await searchAs(bubbles, userId, { q }));
const cardsIn = (database: Database) => database.collection<CardDoc>('bubble_cards').find({ analyser: { $gt: 0 } }, { sort: { seq: 1 } });
const [ADA, BOB] = [aPerson(), aPerson({ user_id: 'bob' })];
const [ONE, TWO, THREE] = [bubbleId(1), bubbleId(2), bubbleId(3)];

/** The database as a process sees it that cannot write cards while `broken` says so. */
const withoutCards = (database: Database, broken: () => boolean): Database => ({
  ...database,
  collection: <T extends Doc>(name: string): Collection<T> => {
    const collection = database.collection<T>(name);
    const updateOne: Collection<T>['updateOne'] = (...args) =>
      broken() ? Promise.reject(new DomainError('unavailable', 'The store is away.')) : collection.updateOne(...args);
    return name === 'bubble_cards' ? { ...collection, updateOne } : collection;
  },
});

describe('rows of a search', () => {
  it('[SRCH-05] [LIST-03] are those of the list, whole, the cut summary included', async () => {
    const bubbles = await start();
    await bubbles.tell(
      created({ bubble_id: ONE }),
      processed({ bubble_id: ONE }),
      noted({ bubble_id: ONE, summary: 'long '.repeat(400) }),
      threaded({ bubble_id: ONE }),
      posted({ bubble_id: ONE }),
      created({ bubble_id: TWO, title: 'Weekly without notes' }),
    );
    const { body } = await searchAs(bubbles, 'ada', { q: 'weekly' });
    const list = (await bubbles.read('ada', '/v1/bubbles')).body.data;
    expect(body).toEqual({
      data: [ONE, TWO].map((id) => list.find((row: { id: string }) => row.id === id)),
      has_more: false,
      next_cursor: null,
    });
    expect(body.data[0]).toMatchObject({ comment_count: 1, has_summary: true, thumbnail_url: 'https://media.test/t.jpg' });
    expect([...body.data[0].summary]).toHaveLength(1000);
    expect(body.data[1].summary).toBeNull();
  });

  it('[SRCH-05] are not found by transcripts, comments, action items or participants', async () => {
    const bubbles = await start();
    await bubbles.tell(
      created({ participants: [ADA, aPerson({ user_id: 'zed', name: 'Zedekiah' })] }),
      noted({ action_items: 'zeppelin' }),
      threaded(),
      posted({ body: 'zeppelin' }),
      edited({ body: 'zeppelin again' }),
    );
    expect([await found(bubbles, 'zeppelin'), await found(bubbles, 'zedekiah')]).toEqual([[], []]);
  });

  it('[SRCH-02] are found by what the title and the notes say now', async () => {
    const bubbles = await start();
    await bubbles.tell(created(), noted({ summary: 'about apples' }));
    await found(bubbles, 'weekly');
    await bubbles.tell(changed({ title: 'Monthly' }), noted({ revision: 2, summary: 'about pears' }));
    const hits = (q: string) => found(bubbles, q).then((ids) => ids.length);
    expect([await hits('weekly'), await hits('apples'), await hits('monthly'), await hits('pears')]).toEqual([0, 0, 1, 1]);
  });
});

describe('names in search', () => {
  it('[LIST-09] [LIST-10] a rename is found by at once, and writes one row of people and no card', async () => {
    const bubbles = await start();
    await bubbles.tell(account({ name: 'Ada Lovelace' }), ...[ONE, TWO].map((bubble_id) => created({ bubble_id })));
    expect(await found(bubbles, 'lovelace')).toHaveLength(2);
    const before = await cardsIn(bubbles.database);
    await bubbles.tell(account({ name: 'Augusta King', revision: 2 }));
    expect([await found(bubbles, 'lovelace'), await found(bubbles, 'augusta')]).toEqual([[], [TWO, ONE]]);
    expect(await cardsIn(bubbles.database)).toEqual(before);
  });

  it('[LIST-09] the author’s, not the creator’s', async () => {
    const bubbles = await start();
    await bubbles.tell(account({ user_id: 'bot', name: 'Robotnik' }), created());
    expect(await found(bubbles, 'robotnik')).toEqual([]);
  });

  it('[LIST-10] of a deleted account nothing is found any more', async () => {
    const bubbles = await start();
    await bubbles.tell(account({ name: 'Ada Lovelace' }), created());
    expect(await found(bubbles, 'lovelace')).toHaveLength(1);
    await bubbles.tell(account({ name: null, email: null, state: 'deleted', revision: 2 }));
    expect(await found(bubbles, 'lovelace')).toEqual([]);
  });
});

describe('who finds what', () => {
  it('[SRCH-04] a bubble is found by those who take part, from that moment on and up to it', async () => {
    const bubbles = await start();
    await bubbles.tell(created({ participants: [ADA] }));
    expect([await found(bubbles, 'weekly'), await found(bubbles, 'weekly', 'bob')]).toEqual([[expect.any(String)], []]);
    await bubbles.tell(changed({ revision: 2, participants: [BOB] }));
    expect([await found(bubbles, 'weekly'), await found(bubbles, 'weekly', 'bob')]).toEqual([[], [expect.any(String)]]);
    await bubbles.tell(changed({ revision: 3, participants: [ADA, BOB] }));
    expect([await found(bubbles, 'weekly'), await found(bubbles, 'weekly', 'bob')]).toEqual([[expect.any(String)], [expect.any(String)]]);
  });

  it('[SRCH-04] [BUB-04] nobody finds a public bubble without taking part', async () => {
    const bubbles = await start();
    await bubbles.tell(created({ is_public: true }));
    expect(await found(bubbles, 'weekly', 'eve')).toEqual([]);
  });

  it.each(['archived', 'draft', 'template'])('[SRCH-04] [LIST-02] one that is %s is not found, and comes back', async (flag) => {
    const bubbles = await start();
    await bubbles.tell(created());
    await found(bubbles, 'weekly');
    await bubbles.tell(changed({ revision: 2, [flag]: true }));
    expect(await found(bubbles, 'weekly')).toEqual([]);
    await bubbles.tell(changed({ revision: 3 }));
    expect(await found(bubbles, 'weekly')).toHaveLength(1);
  });

  it('[SRCH-04] [BUB-08] an expired one is not found from that instant, without any write', async () => {
    const bubbles = await start();
    const expires = new Date(bubbles.clock.now().getTime() + 1000);
    await bubbles.tell(created({ expires_at: expires.toISOString() }));
    expect(await found(bubbles, 'weekly')).toHaveLength(1);
    await bubbles.clock.set(expires);
    expect(await found(bubbles, 'weekly')).toEqual([]);
  });

  it('[SRCH-04] the index is not believed: what the bubbles do not give does not leave, cards written or not', async () => {
    let broken = false;
    const database = memoryDatabase();
    const bubbles = await start({ database: withoutCards(database, () => broken) });
    for (const bubble_id of [ONE, TWO, THREE]) await bubbles.tell(created({ bubble_id }));
    expect(await found(bubbles, 'weekly')).toEqual([THREE, TWO, ONE]);
    broken = true;
    await expect(bubbles.tell(changed({ bubble_id: THREE, participants: [BOB] }))).rejects.toThrow('The store is away.');
    await expect(bubbles.tell(removed({ bubble_id: TWO }))).rejects.toThrow('The store is away.');
    const page = await searchAs(bubbles, 'ada', { q: 'weekly', limit: 1 });
    expect([idsIn(page), page.body.has_more]).toEqual([[ONE], false]);

    broken = false;
    await bubbles.tell(changed({ bubble_id: THREE, participants: [BOB] }), removed({ bubble_id: TWO }));
    expect((await cardsIn(database)).map(({ _id, readers, removedAt }) => [_id, readers, removedAt !== undefined])).toEqual([
      [ONE, ['ada'], false],
      [THREE, ['bob'], false],
      [TWO, [], true],
    ]);
    expect(await found(bubbles, 'weekly', 'bob')).toEqual([THREE]);
  });

  it('[SRCH-04] the row verified is held to the filters too', async () => {
    let broken = false;
    const bubbles = await start({ database: withoutCards(memoryDatabase(), () => broken) });
    await bubbles.tell(created());
    await found(bubbles, 'weekly');
    broken = true;
    await expect(bubbles.tell(changed({ team_id: 'other' }))).rejects.toThrow('The store is away.');
    expect(idsIn(await searchAs(bubbles, 'ada', { q: 'weekly', team_id: 'acme' }))).toEqual([]);
  });
});

describe('cards of removed bubbles', () => {
  it('[SRCH-04] hold no text, stay for 30 days, and go', async () => {
    const bubbles = await start();
    await bubbles.tell(created({ bubble_id: ONE, participants: [ADA, BOB] }), noted({ bubble_id: ONE }), created({ bubble_id: TWO }));
    await found(bubbles, 'weekly');
    await bubbles.tell(removed({ bubble_id: ONE }));
    const card = (await cardsIn(bubbles.database)).find(({ _id }) => _id === ONE);
    expect(card).toMatchObject({ title: '', notes: '', authorId: null, readers: [], ever: ['ada', 'bob'] });
    expect(await found(bubbles, 'weekly')).toEqual([TWO]);
    const drop = async (afterMs: number) => {
      await bubbles.clock.advance(afterMs);
      await bubbles.service.jobs.find(({ name }) => name === 'drop-removed-cards')?.run();
      return (await cardsIn(bubbles.database)).map(({ _id }) => _id);
    };
    expect(await drop(30 * DAY_MS)).toEqual([TWO, ONE]);
    expect(await drop(1)).toEqual([TWO]);
    await bubbles.tell(created({ bubble_id: ONE }), noted({ bubble_id: ONE, revision: 9 }));
    expect(await found(bubbles, 'weekly')).toEqual([TWO]);
  });
});

describe('cards of an older analysis', () => {
  it('[SRCH-02] are written again, however many', async () => {
    const bubbles = await start();
    const ids = Array.from({ length: 120 }, (_, n) => bubbleId(n + 1));
    for (const bubble_id of ids) await bubbles.tell(created({ bubble_id }));
    await bubbles.database
      .collection<CardDoc>('bubble_cards')
      .updateMany({ analyser: { $gt: 0 } }, { $set: { analyser: 0, title: 'klingon:0' } });
    await bubbles.service.jobs.find(({ name }) => name === 'analyse-cards-again')?.run();
    expect(await bubbles.database.collection<CardDoc>('bubble_cards').count({ analyser: 0 })).toBe(0);
    expect([await found(bubbles, 'klingon'), (await searchAs(bubbles, 'ada', { q: 'weekly', limit: 100 })).body.data.length]).toEqual([
      [],
      100,
    ]);
  });
});

describe('several replicas', () => {
  it('[SRCH-06] find what any of them wrote with the next search, and go on with each other’s cursors', async () => {
    const database = memoryDatabase();
    const [first, second] = [await start({ database }), await start({ database })];
    await first.tell(account({ name: 'Dana Cole' }), created({ bubble_id: ONE }));
    expect([await found(first, 'weekly'), await found(second, 'weekly'), await found(second, 'cole')]).toEqual([[ONE], [ONE], [ONE]]);
    await second.tell(account({ name: 'Dana King', revision: 2 }), created({ bubble_id: TWO }), created({ bubble_id: THREE }));
    expect([await found(first, 'weekly'), await found(first, 'king'), await found(first, 'cole')]).toEqual([
      [THREE, TWO, ONE],
      [THREE, TWO, ONE],
      [],
    ]);
    await first.tell(removed({ bubble_id: THREE }));
    const page = await searchAs(second, 'ada', { q: 'weekly', limit: 1 });
    expect(idsIn(page)).toEqual([TWO]);
    expect(idsIn(await searchAs(first, 'ada', { q: 'weekly', limit: 5, cursor: page.body.next_cursor }))).toEqual([ONE]);
  });
});

describe('cursors of a search', () => {
  it('[LIST-08] are bound to the user, the words and the filters, not to the credential or the limit', async () => {
    const bubbles = await start();
    for (const bubble_id of [ONE, TWO, THREE]) await bubbles.tell(created({ bubble_id, created_at: day(1), participants: [ADA, BOB] }));
    const asked = { q: 'Weekly', team_id: 'acme' };
    const { next_cursor: cursor } = (await searchAs(bubbles, 'ada', { ...asked, limit: 1 })).body;
    const status = async (userId: string, query: Parameters<typeof searchAs>[2]) => (await searchAs(bubbles, userId, query)).status;
    expect(idsIn(await searchAs(bubbles, 'ada', { ...asked, q: ' weekly  ', limit: 2, cursor }))).toEqual([TWO, ONE]);
    expect(await status('ada', { ...asked, q: 'weekl', cursor })).toBe(400);
    expect(await status('ada', { q: asked.q, cursor })).toBe(400);
    expect(await status('ada', { ...asked, type: 'meeting_recording', cursor })).toBe(400);
    expect(await status('bob', { ...asked, cursor })).toBe(400);
    expect((await bubbles.read('ada', `/v1/bubbles?team_id=acme&cursor=${cursor}`)).status).toBe(400);
    const list = (await bubbles.read('ada', '/v1/bubbles?team_id=acme&limit=1')).body.next_cursor;
    expect(await status('ada', { ...asked, cursor: list })).toBe(400);
    expect(await status('ada', { ...asked, cursor: `${cursor}A` })).toBe(400);
  });
});
