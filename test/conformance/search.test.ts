import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Answer, send, walk } from './support/client.ts';
import { openWorld } from './support/open-world.ts';
import type { Person, World } from './support/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const day = (n: number) => `2026-03-${String(n).padStart(2, '0')}T12:00:00.000Z`;
const meetingOf = (person: Person, fields: Readonly<Record<string, unknown>> = {}) =>
  world.bubble({ type: 'meeting_recording', participant_ids: [person.id], summary: null, title: null, ...fields });
const search = (person: Person, q: string, more = ''): Promise<Answer> =>
  send(world.baseUrl, `/v1/bubbles/search?q=${encodeURIComponent(q)}${more}`, { as: person.pat });
const idsOf = async (person: Person, q: string, more = '') =>
  (await search(person, q, more)).json.data.map((row: { id: string }) => row.id);

describe('section 4, search', () => {
  it.each([
    ['none', ''],
    ['blanks', '%20%20'],
    ['257 letters', 'x'.repeat(257)],
    ['257 emoji', encodeURIComponent('🚀'.repeat(257))],
    ['NUL', 'a%00'],
    ['two', 'a&q=b'],
  ])('[SRCH-01] %s: refused', async (_title, q) => {
    const answer = await send(world.baseUrl, `/v1/bubbles/search?q=${q}`, { as: (await world.user()).pat });
    expect([answer.status, answer.json.error.type]).toEqual([400, 'invalid_request']);
    expect(answer.json.error.message).toContain('q');
  });

  it('[SRCH-01] 256 characters are taken, whatever they are', async () => {
    const person = await world.user();
    for (const q of ['x'.repeat(256), '🚀'.repeat(256), '!'.repeat(256)]) expect((await search(person, q)).status).toBe(200);
    expect((await send(world.baseUrl, '/v1/bubbles/search', { as: person.pat })).status).toBe(400);
  });

  it('[SRCH-02] [SRCH-03] titles, then authors, then notes; whole words, then beginnings, then typos', async () => {
    const [person, phoenix] = [await world.user({ name: 'Dana Cole' }), await world.user({ name: 'Phoenix Rivera' })];
    const by = (author: Person, fields: Readonly<Record<string, unknown>>) =>
      meetingOf(person, { author_id: author.id, participant_ids: [person.id, author.id], ...fields });
    const launch = await by(person, { title: 'Phoenix launch plan', created_at: day(1) });
    const sync = await by(phoenix, { title: 'Weekly sync', created_at: day(2) });
    const review = await by(person, { title: 'Design review', summary: 'The phoenix project needs a budget.', created_at: day(3) });
    const named = await by(person, { title: 'Phoenix', created_at: day(4) });
    const trip = await by(person, { title: 'Phoenixville trip', created_at: day(5) });
    const retro = await by(person, { title: 'Phenix retro', created_at: day(6) });
    expect(await idsOf(person, 'phoenix')).toEqual([named.id, launch.id, trip.id, retro.id, sync.id, review.id]);
    expect(await idsOf(person, 'phoenx')).toEqual([named.id, launch.id, trip.id, sync.id, review.id]);
    expect(await idsOf(person, 'nothing like it')).toEqual([]);
    await world.changeUser(phoenix.id, { name: 'River Stone' });
    expect(await idsOf(person, 'phoenix')).toEqual([named.id, launch.id, trip.id, retro.id, review.id]);
  });

  it('[SRCH-04] only what the caller lists, not even by notes alone', async () => {
    const [person, other] = [await world.user(), await world.user()];
    const told = { title: 'Merger', summary: 'secret numbers', created_at: day(1) };
    const mine = await meetingOf(person, told);
    for (const hidden of [{ archived: true }, { draft: true }, { template: true }, { expires_at: '2020-01-01T00:00:00.000Z' }])
      await meetingOf(person, { ...told, ...hidden });
    await meetingOf(other, told);
    await meetingOf(other, { ...told, is_public: true });
    const gone = await meetingOf(person, told);
    expect(await idsOf(person, 'merger')).toHaveLength(2);
    await world.removeBubble(gone.id);
    expect([await idsOf(person, 'merger'), await idsOf(person, 'secret')]).toEqual([[mine.id], [mine.id]]);
    await world.changeBubble(mine.id, { participant_ids: [other.id] });
    expect([await idsOf(person, 'merger'), await idsOf(person, 'secret')]).toEqual([[], []]);
    await world.changeBubble(mine.id, { participant_ids: [person.id] });
    expect(await idsOf(person, 'merger')).toEqual([mine.id]);
  });

  it('[SRCH-05] rows are those of the list', async () => {
    const person = await world.user();
    await meetingOf(person, { title: 'Sprint', summary: 'y'.repeat(1001) });
    await meetingOf(person, { title: 'Sprint', summary: null });
    const rows = (await search(person, 'sprint')).json.data;
    expect(rows).toEqual((await send(world.baseUrl, '/v1/bubbles', { as: person.pat })).json.data);
    expect(rows.map((row: { summary: string | null }) => row.summary?.length ?? null)).toEqual(expect.arrayContaining([1000, null]));
  });

  it('[SRCH-06] filters, limits and cursors', async () => {
    const person = await world.user();
    const team = await world.team({
      name: 'T',
      plan: 'free',
      members: [{ user_id: person.id, role: 'member' }],
      channels: [{ name: 'c' }],
    });
    const inTeam = { team_id: team.id, channel_id: team.channels['c'] };
    const made: string[] = [];
    for (let n = 1; n <= 7; n++)
      made.unshift((await meetingOf(person, { title: 'Sprint demo', created_at: day(n), ...(n > 4 ? inTeam : {}) })).id);
    const legacy = await meetingOf(person, { title: 'Sprint demo', created_at: null });
    expect(await idsOf(person, 'sprint', '&limit=100')).toEqual([...made, legacy.id]);
    expect(await idsOf(person, 'sprint', `&team_id=${team.id}&space_id=${team.channels['c']}`)).toEqual(made.slice(0, 3));
    expect(await idsOf(person, 'sprint', `&created_after=${day(2)}&created_before=${day(5)}`)).toEqual(made.slice(3, 5));
    expect(await idsOf(person, 'sprint', '&type=custom_image')).toEqual([]);
    for (const refused of ['limit=0', 'limit=101', 'type=x', 'created_after=now', 'cursor=x'])
      expect((await search(person, 'sprint', `&${refused}`)).status).toBe(400);
    expect((await walk(world.baseUrl, '/v1/bubbles/search?q=sprint&limit=3', person.pat)).map(({ id }) => id)).toEqual([
      ...made,
      legacy.id,
    ]);
  });

  it('[LIST-08] [SRCH-06] a cursor is bound to its words, filters and user, and walks on through changes', async () => {
    const [person, other] = [await world.user(), await world.user()];
    const made: string[] = [];
    for (let n = 1; n <= 6; n++) made.unshift((await meetingOf(person, { title: 'Sprint demo', created_at: day(n) })).id);
    const first = (await search(person, 'sprint', '&limit=2')).json;
    const cursor = `&cursor=${first.next_cursor}`;
    const refusals = [
      search(person, 'sprnt', cursor),
      search(person, 'sprint', `${cursor}&type=custom_image`),
      search(other, 'sprint', cursor),
    ];
    expect((await Promise.all(refusals)).map(({ status }) => status)).toEqual([400, 400, 400]);
    await meetingOf(person, { title: 'Sprint', created_at: day(9) });
    await world.removeBubble(first.data[1].id);
    await world.removeBubble(made[2] ?? '');
    const next = (await search(person, '  SPRINT ', `${cursor}&limit=2`)).json;
    expect([next.data.map((row: { id: string }) => row.id), next.has_more]).toEqual([made.slice(3, 5), true]);
  });
});
