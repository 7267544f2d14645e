import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { shortIdOf } from '../src/domain/short-id.ts';
import { startBubbles, type TestBubbles } from './bubbles-query.ts';
import { account, BUBBLE, bubbleId, created, day, edited, posted, removed, threaded } from './builders.ts';

const PATH = `/v1/bubbles/${BUBBLE}/comments`;

let bubbles: TestBubbles;
beforeEach(async () => {
  bubbles = await startBubbles();
  await bubbles.tell(created(), threaded());
});
afterEach(() => bubbles.stop());

const list = async (query = '') => (await bubbles.read('ada', PATH + query)).body;
const idsOf = async (query = '') => (await list(query)).data.map(({ id }: { id: string }) => id);
const countOf = async (path = `/v1/bubbles/${BUBBLE}`) => (await bubbles.read('ada', path)).body.comment_count;
const both = async () => [await idsOf(), await countOf()];

describe('GET /v1/bubbles/{id}/comments', () => {
  it('[COM-02] [GEN-04] [GEN-12] answers whole comments', async () => {
    await bubbles.tell(posted({ timestamp_seconds: 12.5 }), threaded({ revision: 1, pinned: true }));
    expect(await list()).toEqual({
      data: [
        {
          id: 'comment-1',
          thread_id: 'thread-1',
          bubble_id: BUBBLE,
          kind: 'text',
          body: 'Well said.',
          video_url: null,
          image_url: null,
          created_at: day(2),
          author: { id: 'ada', name: 'Ada' },
          is_pinned: true,
          timestamp_seconds: 12.5,
          url: `https://app.test/b/${shortIdOf(BUBBLE)}?comment=comment-1`,
        },
      ],
      has_more: false,
      next_cursor: null,
    });
  });

  it.each(['video', 'image'] as const)('[COM-02] a %s comment has no body', async (kind) => {
    await bubbles.tell(posted({ kind, [`${kind}_url`]: 'https://media.test/x' }));
    expect((await list()).data).toMatchObject([{ kind, body: null, [`${kind}_url`]: 'https://media.test/x' }]);
  });

  it('[COM-01] [COM-02] page by page and with a link, whatever their ids', async () => {
    const ids = ['a'.repeat(1000), 'b/c?d#e', 'f\u202eg', 'h\ud800', '字'.repeat(300)];
    for (const [n, comment_id] of ids.entries()) await bubbles.tell(posted({ comment_id, created_at: day(n + 1) }));
    const seen: string[] = [];
    for (let query: string | null = ''; query !== null && seen.length <= ids.length; ) {
      const { data, next_cursor } = await list(`?limit=1${query}`);
      for (const { id, url } of data) {
        seen.push(id);
        expect(new URL(url).searchParams.get('comment')).toBe(id);
      }
      query = next_cursor && `&cursor=${next_cursor}`;
    }
    expect(seen).toEqual(ids.map((id) => id.toWellFormed()));
  });

  it('[COM-01] oldest first, then by id, page by page', async () => {
    const at = (comment_id: string, n: number) => posted({ comment_id, created_at: day(n) });
    await bubbles.tell(
      at('e', 3),
      at('b', 2),
      at('d', 2),
      at('a', 4),
      posted({ comment_id: 'z', created_at: '1960-01-01T00:00:00Z' }),
      at('c', 2),
    );
    const all = ['z', 'b', 'c', 'd', 'e', 'a'];
    expect(await idsOf()).toEqual(all);
    for (const limit of [1, 2, 3, 6]) {
      const seen: string[] = [];
      for (let query: string | null = ''; query !== null; ) {
        const { data, has_more, next_cursor } = await list(`?limit=${limit}${query}`);
        expect(has_more).toBe(next_cursor !== null);
        for (const one of data.map(({ id }: { id: string }) => id)) seen.push(one);
        query = next_cursor && `&cursor=${next_cursor}`;
      }
      expect(seen).toEqual(all);
    }
  });

  it('[COM-01] a page goes on where it was, whatever came and went', async () => {
    await bubbles.tell(...['a', 'b', 'c', 'd'].map((comment_id, n) => posted({ comment_id, created_at: day(n + 2) })));
    const { next_cursor: cursor } = await list('?limit=2');
    await bubbles.tell(
      edited({ comment_id: 'b', archived: true, created_at: day(3) }),
      posted({ comment_id: 'early', created_at: day(1) }),
    );
    expect(await idsOf(`?cursor=${cursor}`)).toEqual(['c', 'd']);
  });

  it('[LIST-08] a cursor is bound to its bubble and its user, told before whether there is such a bubble', async () => {
    const other = bubbleId(1);
    await bubbles.tell(created({ bubble_id: other, is_public: true }), posted({ comment_id: 'a' }), posted({ comment_id: 'b' }));
    const { next_cursor: cursor } = await list('?limit=1');
    const status = async (id: string, user = 'ada') => (await bubbles.read(user, `/v1/bubbles/${id}/comments?cursor=${cursor}`)).status;
    expect(await status(shortIdOf(BUBBLE))).toBe(200);
    for (const id of [other, bubbleId(2), 'nonsense']) expect(await status(id)).toBe(400);
    expect(await status(BUBBLE, 'eve')).toBe(400);
  });

  it.each(['limit=0', 'limit=101', 'cursor=x', 'cursor='])('[COM-01] [LIST-04] %s is refused', async (query) => {
    expect((await bubbles.read('ada', `${PATH}?${query}`)).status).toBe(400);
  });

  it('[COM-03] archived and draft comments and threads are neither shown nor counted', async () => {
    await bubbles.tell(
      posted({ comment_id: 'a' }),
      posted({ comment_id: 'draft', draft: true }),
      posted({ comment_id: 'archived', archived: true }),
      threaded({ thread_id: 'hidden', archived: true }),
      posted({ comment_id: 'b', thread_id: 'hidden' }),
      threaded({ thread_id: 'drafted', draft: true }),
      posted({ comment_id: 'c', thread_id: 'drafted' }),
      posted({ comment_id: 'd', thread_id: 'unknown' }),
    );
    expect(await both()).toEqual([['a'], 1]);
    await bubbles.tell(
      edited({ comment_id: 'draft' }),
      edited({ comment_id: 'a', archived: true }),
      threaded({ thread_id: 'hidden', revision: 1 }),
      threaded({ thread_id: 'unknown', revision: 7 }),
    );
    expect(await both()).toEqual([['b', 'd', 'draft'], 3]);
    await bubbles.tell(threaded({ revision: 1, archived: true }));
    expect(await both()).toEqual([['b', 'd'], 2]);
    expect((await bubbles.read('ada', '/v1/bubbles')).body.data).toMatchObject([{ comment_count: 2 }]);
  });

  it('[COM-03] the newest of a comment and of a thread counts, whichever came last', async () => {
    await bubbles.tell(edited(), posted(), threaded({ revision: 5, pinned: true }), threaded({ revision: 4, archived: true }));
    expect((await list()).data).toMatchObject([{ body: 'Better said.', is_pinned: true }]);
  });

  it('[COM-03] a comment that moved to another thread follows that one', async () => {
    await bubbles.tell(posted(), threaded({ thread_id: 'hidden', archived: true }));
    expect(await both()).toEqual([['comment-1'], 1]);
    await bubbles.tell(edited({ thread_id: 'hidden' }));
    expect(await both()).toEqual([[], 0]);
    await bubbles.tell(edited({ revision: 3, thread_id: 'later' }), threaded({ thread_id: 'later' }));
    expect(await both()).toEqual([['comment-1'], 1]);
  });

  it('[COM-03] a thread of another bubble shows nothing here', async () => {
    await bubbles.tell(threaded({ thread_id: 'theirs', bubble_id: bubbleId(1) }), posted({ thread_id: 'theirs' }));
    expect(await both()).toEqual([[], 0]);
  });

  it('[LIST-10] authors have the names of their accounts now', async () => {
    await bubbles.tell(posted(), posted({ comment_id: 'other', author: { id: 'olga', name: 'Olga' } }), account());
    expect((await list()).data).toMatchObject([{ author: { id: 'ada', name: 'Ada L.' } }, { author: { id: 'olga', name: 'Olga' } }]);
  });

  it('[BUB-03] comments go with their bubble, and late ones do not come back', async () => {
    await bubbles.tell(posted(), removed(), posted({ comment_id: 'late' }), threaded({ revision: 9 }));
    expect((await bubbles.read('ada', PATH)).status).toBe(404);
    const kept = async (name: string) =>
      bubbles.database.collection<{ readonly _id: string; readonly bubbleId: string }>(name).find({ bubbleId: BUBBLE });
    expect([await kept('comments'), await kept('threads')]).toEqual([[], []]);
  });
});
