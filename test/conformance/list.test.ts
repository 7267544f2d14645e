import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { send, walk } from './support/client.ts';
import { openWorld } from './support/open-world.ts';
import type { Person, World } from './support/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const SUMMARY_FIELDS = [
  'author_id',
  'channel_id',
  'comment_count',
  'created_at',
  'duration_seconds',
  'expires_at',
  'has_summary',
  'id',
  'summary',
  'team_id',
  'thumbnail_url',
  'title',
  'type',
  'url',
];
const day = (n: number) => `2026-03-${String(n).padStart(2, '0')}T12:00:00.000Z`;
const recordingOf = (person: Person, fields: Readonly<Record<string, unknown>> = {}) =>
  world.bubble({ type: 'screen_recording', participant_ids: [person.id], ...fields });
const idsOf = async (person: Person, query = '') =>
  (await send(world.baseUrl, `/v1/bubbles${query}`, { as: person.pat })).json.data.map((row: { id: string }) => row.id);

describe('section 4, the list', () => {
  it('[LIST-01] newest first, ties by id descending, legacy last', async () => {
    const person = await world.user();
    const [low = '', high = ''] = [randomUUID(), randomUUID()].toSorted();
    const legacy = await recordingOf(person, { created_at: null });
    const old = await recordingOf(person, { created_at: day(1) });
    await recordingOf(person, { id: high, created_at: day(2) });
    await recordingOf(person, { id: low, created_at: day(2) });
    const newest = await recordingOf(person, { created_at: day(3) });
    expect(await idsOf(person)).toEqual([newest.id, high, low, old.id, legacy.id]);
  });

  it('[LIST-01] [LIST-02] only what the caller takes part in and may see', async () => {
    const [person, other] = [await world.user(), await world.user()];
    const team = await world.team({
      name: 'T',
      plan: 'free',
      members: [
        { user_id: person.id, role: 'member' },
        { user_id: other.id, role: 'member' },
      ],
    });
    const mine = await recordingOf(person, { team_id: team.id });
    for (const hidden of [{ archived: true }, { draft: true }, { template: true }, { expires_at: '2020-01-01T00:00:00.000Z' }])
      await recordingOf(person, hidden);
    await recordingOf(other, { team_id: team.id });
    await recordingOf(other, { is_public: true });
    expect(await idsOf(person)).toEqual([mine.id]);
    await world.changeTeam(team.id, { archived: true });
    await world.endMember(team.id, person.id);
    expect(await idsOf(person)).toEqual([mine.id]);
  });

  it('[LIST-03] [LIST-09] [GEN-03] rows carry every field of BubbleSummary', async () => {
    const [author, creator] = [await world.user(), await world.user()];
    const made = await recordingOf(author, {
      creator_id: creator.id,
      title: null,
      summary: null,
      created_at: day(5),
      duration_seconds: 61.5,
    });
    const { json } = await send(world.baseUrl, '/v1/bubbles', { as: author.pat });
    expect(Object.keys(json).toSorted()).toEqual(['data', 'has_more', 'next_cursor']);
    expect(Object.keys(json.data[0]).toSorted()).toEqual(SUMMARY_FIELDS);
    expect(json.data[0]).toMatchObject({
      id: made.id,
      title: null,
      summary: null,
      author_id: creator.id,
      created_at: day(5),
      duration_seconds: 61.5,
      comment_count: 0,
      expires_at: null,
    });
    expect(json.data[0].url).toMatch(new RegExp(`/b/${made.short_id}$`));
  });

  it('[LIST-03] a summary longer than 1000 characters is cut at a grapheme and ends with an ellipsis', async () => {
    const person = await world.user();
    const family = '👩‍👩‍👧‍👧';
    await recordingOf(person, { created_at: day(1), summary: 'x'.repeat(1000) });
    await recordingOf(person, { created_at: day(2), summary: 'y'.repeat(1001) });
    await recordingOf(person, { created_at: day(3), summary: family.repeat(200) });
    const rows: { summary: string }[] = (await send(world.baseUrl, '/v1/bubbles', { as: person.pat })).json.data;
    expect(rows.map(({ summary }) => [[...summary].length, summary.at(-1)])).toEqual([
      [7 * 142 + 1, '…'],
      [1000, '…'],
      [1000, 'x'],
    ]);
    expect(rows[0]?.summary).toBe(`${family.repeat(142)}…`);
  });

  it.each(['0', '101', '-1', '1.5', 'abc', '', '%2025', '%2B25', '0x10', '1e2', '025', '25.0', '٢٥', '1&limit=2'])(
    '[LIST-04] limit=%s is refused',
    async (limit) => {
      const answer = await send(world.baseUrl, `/v1/bubbles?limit=${limit}`, { as: (await world.user()).pat });
      expect([answer.status, answer.json.error.type]).toEqual([400, 'invalid_request']);
      expect(answer.json.error.message).toContain('limit');
    },
  );

  it('[LIST-04] the default is 25, and at most 100', async () => {
    const person = await world.user();
    await Promise.all(Array.from({ length: 27 }, () => recordingOf(person)));
    expect(await idsOf(person)).toHaveLength(25);
    expect(await idsOf(person, '?limit=1')).toHaveLength(1);
    expect(await idsOf(person, '?limit=100')).toHaveLength(27);
  });

  it('[LIST-05] filters are combined, instants are exclusive', async () => {
    const person = await world.user();
    const team = await world.team({
      name: 'T',
      plan: 'free',
      members: [{ user_id: person.id, role: 'member' }],
      channels: [{ name: 'c' }],
    });
    const inTeam = { team_id: team.id, channel_id: team.channels['c'] };
    const a = await recordingOf(person, { created_at: day(1) });
    const b = await recordingOf(person, { ...inTeam, created_at: day(2) });
    const c = await recordingOf(person, { ...inTeam, type: 'custom_image', created_at: day(3) });
    const legacy = await recordingOf(person, { created_at: null });
    expect(await idsOf(person, `?team_id=${team.id}`)).toEqual([c.id, b.id]);
    expect(await idsOf(person, `?space_id=${team.channels['c']}&type=custom_image`)).toEqual([c.id]);
    expect(await idsOf(person, `?created_after=${day(1)}`)).toEqual([c.id, b.id]);
    expect(await idsOf(person, `?created_before=${day(3)}`)).toEqual([b.id, a.id]);
    expect(await idsOf(person, `?created_after=${day(1)}&created_before=${day(3)}`)).toEqual([b.id]);
    expect(await idsOf(person, '?created_after=2026-03-02T13:00:00%2B02:00')).toEqual([c.id, b.id]);
    expect(await idsOf(person, `?created_after=${day(9)}&created_before=${day(1)}`)).toEqual([]);
    expect(await idsOf(person, '?team_id=somebody-elses')).toEqual([]);
    expect(await idsOf(person, '?unknown=1&team_id[]=x')).toEqual([c.id, b.id, a.id, legacy.id]);
  });

  it.each([
    '2026-02-30T00:00:00Z',
    '2026-01-01T23:59:60Z',
    '2026-01-01T00:00:00',
    '2026-01-01',
    '2026-01-01t00:00:00z',
    '2026-01-01T00:00:00%2B25:00',
    '1735689600',
    'now',
    '2026-W01-1',
    '',
  ])('[LIST-05] [GEN-06] created_after=%s is refused', async (instant) => {
    const answer = await send(world.baseUrl, `/v1/bubbles?created_after=${instant}`, { as: (await world.user()).pat });
    expect([answer.status, answer.json.error.type]).toEqual([400, 'invalid_request']);
  });

  it('[LIST-06] [LIST-07] walking pages while bubbles come and go yields each that stays exactly once', async () => {
    const person = await world.user();
    const made: { readonly id: string }[] = [];
    for (let n = 1; n <= 12; n++) made.push(await recordingOf(person, { created_at: day(n + 1) }));
    const seen: string[] = [];
    let cursor: string | null = '';
    for (let page = 0; cursor !== null; page++) {
      const { json } = await send(world.baseUrl, `/v1/bubbles?limit=${(page % 3) + 1}${cursor && `&cursor=${cursor}`}`, { as: person.pat });
      for (const one of json.data.map((row: { id: string }) => row.id)) seen.push(one);
      expect(json.next_cursor === null).toBe(!json.has_more);
      cursor = json.next_cursor;
      if (page === 1) {
        await world.removeBubble(seen.at(-1) ?? '');
        await recordingOf(person, { created_at: day(28) });
        await world.removeBubble(made[0]?.id ?? '');
      }
    }
    expect(seen).toEqual(
      made
        .slice(1)
        .map(({ id }) => id)
        .toReversed(),
    );
  });

  it('[LIST-07] [LIST-08] a cursor is refused elsewhere, and when it was tampered with', async () => {
    const [person, other] = [await world.user(), await world.user()];
    for (let n = 0; n < 3; n++) await world.bubble({ type: 'screen_recording', participant_ids: [person.id, other.id] });
    const { next_cursor: cursor } = (await send(world.baseUrl, '/v1/bubbles?limit=1', { as: person.pat })).json;
    const status = async (query: string, as = person.pat) => (await send(world.baseUrl, `/v1/bubbles?${query}`, { as })).status;
    expect(await status(`cursor=${cursor}&limit=2`)).toBe(200);
    expect(await status(`cursor=${cursor}`, other.pat)).toBe(400);
    expect(await status(`cursor=${cursor}&type=custom_image`)).toBe(400);
    expect(await status(`cursor=${cursor.slice(0, -1)}`)).toBe(400);
    expect(await status(`cursor=${cursor[0] === 'A' ? 'B' : 'A'}${cursor.slice(1)}`)).toBe(400);
    for (const bad of ['', 'x', 'e30', 'A'.repeat(10_000)]) expect(await status(`cursor=${bad}`)).toBe(400);
  });

  it('[LIST-06] walks everything', async () => {
    const person = await world.user();
    await Promise.all(Array.from({ length: 7 }, () => recordingOf(person)));
    expect(new Set((await walk(world.baseUrl, '/v1/bubbles?limit=2', person.pat)).map(({ id }) => id)).size).toBe(7);
  });
});
