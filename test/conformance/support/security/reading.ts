import { expect } from '@jest/globals';
import type { Answer } from '../client.ts';
import type { Person } from '../world.ts';
import { type Checks, expectRefusal, type Lab, NOT_FOUND, REFUSED } from './lab.ts';

const SAME_FOR_ALL = /^(date|x-request-id|ratelimit)$/;
const bytesOf = ({ status, headers, text }: Answer) =>
  JSON.stringify([status, [...headers].filter(([name]) => !SAME_FOR_ALL.test(name)), text]);
const recordingOf = ({ world }: Lab, { id }: Person, fields: object = {}) =>
  world.bubble({ type: 'screen_recording', participant_ids: [id], ...fields });
const read = ({ call }: Lab, { pat }: Person, id: string) => call(`/v1/bubbles/${id}`, { as: pat });
const median = (times: number[]): number => times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;

/** Somebody with five bubbles, and the cursor behind their first page of two. */
const walker = async (lab: Lab) => {
  const person = await lab.world.user();
  const made: string[] = [];
  for (let n = 1; n <= 5; n++)
    made.push((await recordingOf(lab, person, { title: 'Zebra', created_at: `2026-01-0${n}T00:00:00.000Z` })).id);
  const list = async (query: string) => lab.call(`/v1/bubbles?${query}`, { as: person.pat });
  const { data, next_cursor } = (await list('limit=2')).json;
  const cursor: string = next_cursor;
  return { person, list, cursor, made: made.toReversed(), first: data.map(({ id }: { id: string }) => id) };
};

export const READING_CHECKS: Checks = {
  'IDORAND404-01': async (lab) => {
    const [owner, stranger] = [await lab.world.user(), await lab.world.user()];
    const team = await lab.world.team({ name: 'T', plan: 'free', members: [{ user_id: owner.id, role: 'admin' }] });
    const { id } = await recordingOf(lab, owner, { team_id: team.id });
    expectRefusal(await read(lab, stranger, id), NOT_FOUND);
  },
  'IDORAND404-03': async (lab) => {
    const [owner, stranger] = [await lab.world.user(), await lab.world.user()];
    const ids = [crypto.randomUUID(), (await recordingOf(lab, owner)).id, (await recordingOf(lab, stranger, { archived: true })).id];
    const answers = await Promise.all(ids.map((id) => read(lab, stranger, id)));
    expect(new Set(answers.map(bytesOf)).size).toBe(1);
    expect(answers[0]?.headers.get('etag')).toBeNull();
  },
  'IDORAND404-04': async (lab) => {
    const owner = await lab.world.user();
    const unreadable = (await recordingOf(lab, owner)).id;
    const times: Record<'absent' | 'unreadable', number[]> = { absent: [], unreadable: [] };
    for (let person = 0; person < 4; person++) {
      const stranger = await lab.world.user();
      for (let n = 0; n < 100; n++) {
        const kind = n % 2 === 0 ? 'absent' : 'unreadable';
        const startedAt = performance.now();
        await read(lab, stranger, kind === 'absent' ? crypto.randomUUID() : unreadable);
        times[kind].push(performance.now() - startedAt);
      }
    }
    const [ofAbsent, ofUnreadable] = [median(times.absent), median(times.unreadable)];
    expect(Math.abs(ofAbsent - ofUnreadable)).toBeLessThan(Math.min(ofAbsent, ofUnreadable) / 4);
  },
  'IDORAND404-06': async (lab) => {
    const [owner, colleague] = [await lab.world.user(), await lab.world.user()];
    const members = [owner, colleague].map(({ id }) => ({ user_id: id, role: 'member' }));
    const { id: team_id } = await lab.world.team({ name: 'T', plan: 'pro', members });
    const body = { meeting_url: 'https://meet.google.com/abc-defg-hij', team_id };
    const { id } = (await lab.call('/v1/meetings/join', { method: 'POST', as: owner.pat, body })).json;
    const statusOf = (joinId: string) => lab.call(`/v1/meetings/join/${joinId}`, { as: colleague.pat });
    const [theirs, none] = [await statusOf(id), await statusOf(`mj_${'0'.repeat(26)}`)];
    expectRefusal(theirs, NOT_FOUND);
    expect(bytesOf(theirs)).toBe(bytesOf(none));
  },
  'IDORAND404-08': async (lab) => {
    const { pat: as } = await lab.proUser();
    const made = (await lab.call('/v1/webhooks', { method: 'POST', as, body: { url: 'https://a.example.com/', events: ['bubble.ready'] } }))
      .json;
    const body = { team_id: 'x', id: 'wh_x', secret: 'whsec_x', user_id: 'x', created_at: 'x', disabled_at: 'x', failure_count: 9 };
    const { status, json } = await lab.call(`/v1/webhooks/${made.id}`, { method: 'PATCH', as, body });
    const { secret: _secret, ...shown } = made;
    expect([status, json]).toEqual([200, shown]);
  },
  'IDORAND404-09': async (lab) => {
    const [mine, theirs] = [await lab.proUser(), await lab.world.user()];
    const team = await lab.world.team({
      name: 'T',
      plan: 'pro',
      members: [{ user_id: theirs.id, role: 'admin' }],
      channels: [{ name: 'c' }],
    });
    for (const name of ['team_id', 'space_id']) {
      const real = name === 'team_id' ? team.id : team.channels['c'];
      const answers = await Promise.all(
        [real, crypto.randomUUID(), 'x'].map((id) =>
          lab.call('/v1/webhooks', {
            method: 'POST',
            as: mine.pat,
            body: { url: 'https://a.example.com/', events: ['bubble.ready'], [name]: id },
          }),
        ),
      );
      for (const answer of answers) expectRefusal(answer, [403, 'forbidden']);
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    }
  },
  'IDORAND404-11': async (lab) => {
    const [owner, stranger] = [await lab.world.user(), await lab.world.user()];
    await recordingOf(lab, owner, { summary: 'The platypus plan.', is_public: true });
    const { json } = await lab.call('/v1/bubbles/search?q=platypus', { as: stranger.pat });
    expect(json).toEqual({ data: [], has_more: false, next_cursor: null });
  },
  'IDORAND404-13': async (lab) => {
    const person = await lab.world.user();
    const { id } = await recordingOf(lab, person);
    expect((await read(lab, person, id.toUpperCase())).json.id).toBe(id);
    for (const other of [`%7B${id}%7D`, `urn:uuid:${id}`]) expectRefusal(await read(lab, person, other), NOT_FOUND);
  },
  'IDORAND404-14': async (lab) => {
    const [owner, stranger] = [await lab.world.user({ email: 'owner@hidden.example' }), await lab.world.user()];
    const { id } = await recordingOf(lab, owner, { is_public: true, external_participants: [{ name: 'O', email: 'o@partner.example' }] });
    const answer = await read(lab, stranger, id);
    expect(answer.text).not.toMatch(/hidden\.example|partner\.example/);
    expect(answer.json).toMatchObject({ has_external_participants: true, external_participant_email_domains: [], comment_count: 0 });
  },
  'CURSOR-01': async (lab) => {
    const { cursor, list } = await walker(lab);
    const bytes = Buffer.from(cursor, 'base64url');
    const flipped = Array.from({ length: bytes.length }, (_, at) =>
      Buffer.from(bytes.map((byte, n) => (n === at ? byte ^ 1 : byte))).toString('base64url'),
    );
    const bad = [
      cursor.slice(0, -1),
      ...flipped,
      Buffer.from('{"id":1}').toString('base64'),
      '',
      'x'.repeat(10_000),
      `${cursor}A`,
      `${cursor}%3D`,
    ];
    for (const text of bad) expectRefusal(await list(`cursor=${text}`), REFUSED);
  },
  'CURSOR-03': async (lab) => {
    const { cursor, person, made } = await walker(lab);
    for (const path of ['/v1/bubbles/search?q=zebra&', `/v1/bubbles/${made[0]}/comments?`])
      expectRefusal(await lab.call(`${path}cursor=${cursor}`, { as: person.pat }), REFUSED);
  },
  'CURSOR-04': async (lab) => {
    const { person, made } = await walker(lab);
    for (let n = 0; n < 2; n++) await lab.world.comment(made[0] ?? '', { author_id: person.id });
    const page = await lab.call(`/v1/bubbles/${made[0]}/comments?limit=1`, { as: person.pat });
    expectRefusal(await lab.call(`/v1/bubbles/${made[1]}/comments?cursor=${page.json.next_cursor}`, { as: person.pat }), REFUSED);
  },
  'CURSOR-06': async (lab) => {
    const { cursor, list, made, first } = await walker(lab);
    const { json } = await list(`limit=100&cursor=${cursor}`);
    expect([...first, ...json.data.map(({ id }: { id: string }) => id)]).toEqual(made);
  },
  'CURSOR-08': async (lab) => {
    const { person, cursor, list, made } = await walker(lab);
    await lab.world.removeBubble(made[1] ?? '');
    for (const year of [2020, 2027])
      for (let n = 0; n < 5; n++) await recordingOf(lab, person, { created_at: `${year}-01-01T00:00:0${n}.000Z` });
    const rows: string[] = (await list(`limit=3&cursor=${cursor}`)).json.data.map(({ id }: { id: string }) => id);
    expect(rows).toEqual(made.slice(2));
  },
};
