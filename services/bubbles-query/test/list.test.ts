import { testSecret } from '@bubbles/testing/service-under-test.ts';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { shortIdOf } from '../src/domain/short-id.ts';
import { startBubbles, type TestBubbles } from './bubbles-query.ts';
import { aPerson, BUBBLE, bubbleId, changed, created, day, noted, posted, processed, removed, threaded } from './builders.ts';

let bubbles: TestBubbles;
beforeEach(async () => {
  bubbles = await startBubbles();
});
afterEach(() => bubbles.stop());

const list = async (query = '', userId = 'ada') => (await bubbles.read(userId, `/v1/bubbles${query}`)).body;
const idsOf = async (query = '', userId = 'ada') => (await list(query, userId)).data.map(({ id }: { id: string }) => id);
const statusOf = async (query: string, userId = 'ada') => (await bubbles.read(userId, `/v1/bubbles${query}`)).status;
/** Bubbles 1 to `count`, each a day younger than the one before. */
const tellMany = (count: number) =>
  bubbles.tell(...Array.from({ length: count }, (_, n) => created({ bubble_id: bubbleId(n + 1), created_at: day(n + 1) })));

describe('GET /v1/bubbles', () => {
  it('[LIST-01] newest first, ties by id descending, legacy last', async () => {
    const at = (n: number, created_at: string | null) => created({ bubble_id: bubbleId(n), created_at });
    await bubbles.tell(
      at(1, day(1)),
      at(2, null),
      at(3, day(2)),
      at(0xa, day(2)),
      at(9, null),
      at(4, '1969-01-01T00:00:00Z'),
      at(5, day(3)),
    );
    expect(await idsOf()).toEqual([5, 0xa, 3, 1, 4, 9, 2].map(bubbleId));
  });

  it('[LIST-01] the bubbles that the caller takes part in, and no others', async () => {
    await bubbles.tell(
      created({ bubble_id: bubbleId(1), participants: [aPerson({ user_id: 'bob' }), aPerson()] }),
      created({ bubble_id: bubbleId(2), participants: [aPerson({ user_id: 'bob' })], author: aPerson(), creator_id: 'ada' }),
      created({ bubble_id: bubbleId(3), participants: [aPerson({ user_id: 'bob' })], is_public: true }),
    );
    expect(await idsOf()).toEqual([bubbleId(1)]);
    expect(await idsOf('', 'bob')).toEqual([3, 2, 1].map(bubbleId));
    await bubbles.tell(changed({ bubble_id: bubbleId(1), participants: [aPerson({ user_id: 'bob' })] }));
    expect(await idsOf()).toEqual([]);
  });

  it('[LIST-02] archived, draft, template, expired and removed bubbles are left out, and come back', async () => {
    const hiding = [{ archived: true }, { draft: true }, { template: true }, { expires_at: day(1) }];
    await bubbles.tell(...hiding.map((fields, n) => created({ bubble_id: bubbleId(n), ...fields })));
    await bubbles.tell(created(), removed(), processed({ bubble_id: bubbleId(9) }));
    expect(await idsOf()).toEqual([]);
    await bubbles.tell(...hiding.map((_, n) => changed({ bubble_id: bubbleId(n) })));
    expect(await idsOf()).toEqual([3, 2, 1, 0].map(bubbleId));
  });

  it('[LIST-03] [LIST-09] [GEN-04] [GEN-12] rows are whole, and author_id is the creator', async () => {
    await bubbles.tell(created(), processed(), noted(), threaded(), posted());
    expect((await list()).data).toEqual([
      {
        id: BUBBLE,
        type: 'meeting_recording',
        title: 'Weekly',
        url: `https://app.test/b/${shortIdOf(BUBBLE)}`,
        created_at: day(1),
        team_id: 'acme',
        channel_id: 'general',
        author_id: 'bot',
        thumbnail_url: 'https://media.test/t.jpg',
        duration_seconds: 61.5,
        comment_count: 1,
        expires_at: null,
        has_summary: true,
        summary: 'All is well.',
      },
    ]);
  });

  it('[LIST-03] a row without notes, and one whose summary is cut', async () => {
    await bubbles.tell(created({ bubble_id: bubbleId(1) }), created({ bubble_id: bubbleId(2) }));
    await bubbles.tell(noted({ bubble_id: bubbleId(2), summary: 'x'.repeat(1001) }));
    const rows = (await list()).data.map((row: { has_summary: boolean; summary: string | null }) => [row.has_summary, row.summary]);
    expect(rows).toEqual([
      [true, `${'x'.repeat(999)}…`],
      [false, null],
    ]);
    expect((await bubbles.read('ada', `/v1/bubbles/${bubbleId(2)}`)).body.summary).toHaveLength(1001);
  });

  it.each(['0', '101', '1.5', 'abc', '', '%2025', '025', '-1'])('[LIST-04] limit=%s is refused', async (limit) => {
    expect(await statusOf(`?limit=${limit}`)).toBe(400);
  });

  it('[LIST-04] 25 rows if not said otherwise, and at most 100', async () => {
    await tellMany(101);
    expect(await idsOf()).toHaveLength(25);
    expect(await idsOf('?limit=100')).toHaveLength(100);
    expect(await idsOf('?limit=1')).toEqual([bubbleId(101)]);
  });

  it('[LIST-05] filters are combined by AND, and both dates are exclusive', async () => {
    const rows = [
      { team_id: 'acme', channel_id: 'general', type: 'meeting_recording', created_at: day(1) },
      { team_id: 'acme', channel_id: 'random', type: 'custom_image', created_at: day(2) },
      { team_id: 'other', channel_id: null, type: 'custom_image', created_at: day(3) },
      { team_id: null, channel_id: null, type: 'screen_recording', created_at: null },
    ] as const;
    await bubbles.tell(...rows.map((fields, n) => created({ bubble_id: bubbleId(n), ...fields })));
    const found = async (query: string) => (await idsOf(query)).map((id: string) => Number.parseInt(id.slice(-3), 16));
    expect(await found('?team_id=acme')).toEqual([1, 0]);
    expect(await found('?space_id=random')).toEqual([1]);
    expect(await found('?type=custom_image')).toEqual([2, 1]);
    expect(await found('?type=custom_image&team_id=acme')).toEqual([1]);
    expect(await found('?team_id=acme&space_id=general&type=custom_image')).toEqual([]);
    expect(await found('?team_id=nobody-knows')).toEqual([]);
    expect(await found(`?created_after=${day(1)}`)).toEqual([2, 1]);
    expect(await found('?created_after=2026-01-01T11:59:59.999Z')).toEqual([2, 1, 0]);
    expect(await found('?created_after=2026-01-01T12:59:59.999%2B01:00')).toEqual([2, 1, 0]);
    expect(await found(`?created_before=${day(3)}`)).toEqual([1, 0]);
    expect(await found('?created_before=2026-01-03T12:00:00.0001Z')).toEqual([2, 1, 0]);
    expect(await found(`?created_after=${day(1)}&created_before=${day(3)}&type=custom_image`)).toEqual([1]);
    expect(await found(`?created_after=${day(3)}&created_before=${day(1)}`)).toEqual([]);
    expect(await found('?created_before=1960-01-01T00:00:00Z')).toEqual([]);
    expect(await found('?unknown=1')).toEqual([2, 1, 0, 3]);
  });

  it.each([
    'type=video',
    'type=',
    'created_after=yesterday',
    'created_before=2026-01-01',
    'team_id=',
    'type=custom_image&type=custom_image',
  ])('[LIST-05] [GEN-06] %s is refused', async (query) => {
    expect(await statusOf(`?${query}`)).toBe(400);
  });
});

describe('pages', () => {
  const walk = async (query: string, between: (page: number, last: string) => Promise<void> = async () => undefined) => {
    const seen: string[] = [];
    let cursor: string | null = null;
    for (let page = 0; page === 0 || cursor !== null; page += 1) {
      const { data, has_more, next_cursor } = await list(`?${query}${cursor === null ? '' : `&cursor=${cursor}`}`);
      expect(has_more).toBe(next_cursor !== null);
      for (const one of data.map(({ id }: { id: string }) => id)) seen.push(one);
      cursor = next_cursor;
      await between(page, seen.at(-1) ?? '');
    }
    return seen;
  };
  const descending = (from: number, to: number) => Array.from({ length: from - to + 1 }, (_, n) => bubbleId(from - n));

  it('[LIST-06] every bubble once, also when the last page is full', async () => {
    await tellMany(9);
    for (const limit of [1, 2, 3, 4, 9, 10]) expect(await walk(`limit=${limit}`)).toEqual(descending(9, 1));
    expect(await list('?team_id=other')).toEqual({ data: [], has_more: false, next_cursor: null });
  });

  it('[LIST-06] through equal times and legacy bubbles', async () => {
    const times = [null, day(1), day(1), null, day(1), day(2), null];
    await bubbles.tell(...times.map((created_at, n) => created({ bubble_id: bubbleId(n), created_at })));
    expect(await walk('limit=1')).toEqual([5, 4, 2, 1, 6, 3, 0].map(bubbleId));
  });

  it('[LIST-06] within a range of dates', async () => {
    await tellMany(9);
    expect(await walk(`limit=2&created_after=${day(2)}&created_before=${day(8)}`)).toEqual(descending(7, 3));
  });

  it('[LIST-07] bubbles that come and go meanwhile move no other', async () => {
    await tellMany(20);
    let gone = 0;
    const seen = await walk('limit=3', async (page, last) => {
      // The row that the cursor names, one that is still to come, and one that comes before all.
      await bubbles.tell(removed({ bubble_id: last }), created({ bubble_id: bubbleId(100 + page), created_at: day(100 + page) }));
      if (page === 1) {
        gone = 5;
        await bubbles.tell(removed({ bubble_id: bubbleId(gone) }));
      }
    });
    expect(seen).toEqual(descending(20, 1).filter((id) => id !== bubbleId(gone)));
  });

  it('[LIST-08] a cursor is bound to its user and filters, not to the credential or the limit', async () => {
    await bubbles.tell(
      ...[1, 2, 3].map((n) => created({ bubble_id: bubbleId(n), participants: [aPerson(), aPerson({ user_id: 'bob' })] })),
    );
    const { next_cursor: cursor } = await list('?limit=1&type=meeting_recording');
    const same = `?type=meeting_recording&cursor=${cursor}`;
    expect(await statusOf(`${same}&limit=3`)).toBe(200);
    expect((await bubbles.read('ada', `/v1/bubbles${same}`, { kind: 'oauth', credentialId: 'another' })).status).toBe(200);
    expect(await statusOf(same, 'bob')).toBe(400);
    expect(await statusOf(`?cursor=${cursor}`)).toBe(400);
    expect(await statusOf(`${same}&team_id=acme`)).toBe(400);
    expect(await statusOf(`?type=custom_image&cursor=${cursor}`)).toBe(400);
    expect(await statusOf(`?created_after=${day(1)}&${same.slice(1)}`)).toBe(400);
    expect((await bubbles.read('ada', `/v1/bubbles/${bubbleId(1)}/comments?cursor=${cursor}`)).status).toBe(400);
  });

  it('[LIST-08] the same filter written otherwise is the same filter', async () => {
    await tellMany(3);
    const { next_cursor: cursor } = await list('?limit=1&created_after=2026-01-01T12:00:00Z');
    expect(await statusOf(`?created_after=2026-01-01T13:00:00.000%2B01:00&cursor=${cursor}`)).toBe(200);
  });

  it('[LIST-07] a malformed or tampered cursor is refused', async () => {
    await tellMany(3);
    const { next_cursor: cursor } = await list('?limit=1');
    const flipped = `${cursor.slice(0, 20)}${cursor[20] === 'A' ? 'B' : 'A'}${cursor.slice(21)}`;
    for (const bad of ['', 'x', 'null', cursor.slice(0, -1), `${cursor}A`, flipped, 'A'.repeat(58), 'A'.repeat(9000)])
      expect([bad, await statusOf(`?cursor=${bad}`)]).toEqual([bad, 400]);
    expect(await statusOf(`?cursor=${cursor}&cursor=${cursor}`)).toBe(400);
  });

  it('[LIST-08] the key before is accepted, a foreign one is not', async () => {
    await tellMany(3);
    const { next_cursor: cursor } = await list('?limit=1');
    const statusWith = async (current: Buffer, previous: Buffer | null) => {
      const environment = { CURSOR_KEY: current.toString('base64'), CURSOR_KEY_PREVIOUS: previous?.toString('base64') };
      const replica = await startBubbles({ database: bubbles.database, environment });
      const { status } = await replica.read('ada', `/v1/bubbles?cursor=${cursor}`);
      await replica.stop();
      return status;
    };
    const rotated = Buffer.alloc(32, 8);
    expect(await statusWith(rotated, testSecret('cursor', 32))).toBe(200);
    expect(await statusWith(rotated, null)).toBe(400);
  });
});
