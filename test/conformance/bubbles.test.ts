import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Answer, send } from './support/client.ts';
import { openWorld } from './support/open-world.ts';
import { shapeFaults } from './support/shape.ts';
import { shortId } from './support/short-id.ts';
import { freshAddress, type Person, type TeamScene, type World } from './support/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const read = (id: string, as: Person) => send(world.baseUrl, `/v1/bubbles/${id}`, { as: as.pat });
const recordingOf = (person: Person, fields: Readonly<Record<string, unknown>> = {}) =>
  world.bubble({ type: 'screen_recording', participant_ids: [person.id], ...fields });
const teamOf = (members: readonly Readonly<Record<string, unknown>>[]): Promise<TeamScene> =>
  world.team({ name: 'Acme', plan: 'pro', members, channels: [{ name: 'general' }] });
const PAST = '2020-01-01T00:00:00.000Z';

describe('section 2, a bubble', () => {
  it('[BUB-01] [BUB-02] [GEN-04] a meeting carries every field as it was recorded', async () => {
    const [ada, ben] = [await world.user({ name: 'Ada', email: freshAddress('ada') }), await world.user({ name: null, email: null })];
    const team = await teamOf([{ user_id: ada.id, role: 'member' }]);
    const facts = {
      title: 'Weekly',
      created_at: '2026-03-04T05:06:07.089Z',
      team_id: team.id,
      channel_id: team.channels['general'],
      is_public: false,
      archived: false,
      response_required: true,
      expires_at: '2090-01-01T00:00:00.000Z',
      embed_code: '<iframe></iframe>',
      summary: 'In short.',
      action_items: 'Do it.',
      meeting: { platform: 'zoom', start_time: '2026-03-04T05:00:00.000Z' },
    };
    const media = {
      video_url: 'https://media.example.com/v.mp4',
      thumbnail_url: 'https://media.example.com/t.jpg',
      screenshot_url: 'https://media.example.com/s.png',
      duration_seconds: 61.25,
    };
    const made = await world.bubble({
      type: 'meeting_recording',
      ...facts,
      ...media,
      participant_ids: [ada.id, ben.id],
      external_participants: [{ name: 'Olga', email: 'Olga@Partner.Example' }],
      creator_id: ben.id,
    });
    const { status, json } = await read(made.id, ada);
    expect(status).toBe(200);
    expect(shapeFaults('Bubble', json)).toEqual([]);
    expect(json).toEqual({
      ...facts,
      id: made.id,
      type: 'meeting_recording',
      url: expect.stringMatching(new RegExp(`/b/${shortId(made.id)}$`)),
      channel_name: 'general',
      author: { id: ada.id, name: 'Ada', email: ada.email },
      participants: [
        { id: ada.id, name: 'Ada', email: ada.email },
        { id: ben.id, name: null, email: null },
        { id: expect.stringMatching(/^ext_/), name: 'Olga', email: 'Olga@Partner.Example' },
      ],
      media: { ...media, is_processed: true },
      has_transcript: true,
      comment_count: 0,
      creator_id: ben.id,
      has_external_participants: true,
      external_participant_email_domains: ['partner.example'],
    });
  });

  it('[BUB-02] [GEN-04] what is unset is null, and only a meeting has a meeting', async () => {
    const person = await world.user();
    const empty = {
      title: null,
      created_at: null,
      embed_code: null,
      summary: null,
      action_items: null,
      creator_id: null,
      video_url: null,
      thumbnail_url: null,
      screenshot_url: null,
      duration_seconds: null,
    };
    const image = await world.bubble({ type: 'custom_image', participant_ids: [person.id], ...empty });
    const bare = await recordingOf(person, { stage: 'created', ...empty });
    const meeting = await world.bubble({ type: 'meeting_recording', participant_ids: [person.id], meeting: null });
    for (const { id } of [image, bare]) {
      const { json } = await read(id, person);
      expect(shapeFaults('Bubble', json)).toEqual([]);
      expect(json).toMatchObject({
        title: null,
        created_at: null,
        team_id: null,
        channel_id: null,
        channel_name: null,
        summary: null,
        action_items: null,
        creator_id: null,
        embed_code: null,
        expires_at: null,
        meeting: null,
        has_transcript: false,
        media: { video_url: null, thumbnail_url: null, screenshot_url: null, duration_seconds: null },
      });
    }
    const unknown = await recordingOf(person, { is_processed: null });
    expect((await read(unknown.id, person)).json.media.is_processed).toBeNull();
    expect((await read(meeting.id, person)).json.meeting).toEqual({ platform: null, start_time: null });
  });

  it('[BUB-01] a bubble is found by its uuid in either case and by its short id', async () => {
    const person = await world.user();
    const { id, short_id: short } = await recordingOf(person, { id: `00000000${crypto.randomUUID().slice(8)}` });
    expect(short).toBe(shortId(id));
    for (const written of [id, id.toUpperCase(), short]) expect((await read(written, person)).json.id).toBe(id);
    for (const other of [
      `{${id}}`,
      `urn:uuid:${id}`,
      id.replaceAll('-', ''),
      short.toLowerCase(),
      `0${short}`,
      short.slice(1),
      'z'.repeat(22),
    ])
      expect((await read(encodeURIComponent(other), person)).status).toBe(404);
  });

  it('[BUB-08] [LIST-02] a bubble that expires later is there until then', async () => {
    const person = await world.user();
    const { id } = await recordingOf(person, { expires_at: '2090-01-01T00:00:00.000Z' });
    expect((await read(id, person)).json.expires_at).toBe('2090-01-01T00:00:00.000Z');
    await world.changeBubble(id, { expires_at: PAST });
    expect((await read(id, person)).status).toBe(404);
    await world.changeBubble(id, { expires_at: null });
    expect((await read(id, person)).json.expires_at).toBeNull();
  });
});

describe('section 4, ids cannot be probed', () => {
  const VARYING = ['x-request-id', 'date', 'ratelimit'];
  const bytesOf = ({ status, headers, text }: Answer) =>
    JSON.stringify([status, [...headers].filter(([name]) => !VARYING.includes(name)), text]);

  it('[BUB-03] absent, archived, draft, template, expired, removed and unreadable are one and the same 404', async () => {
    const [person, other] = [await world.user(), await world.user()];
    await teamOf([
      { user_id: person.id, role: 'admin' },
      { user_id: other.id, role: 'member' },
    ]);
    const removed = await recordingOf(person);
    await world.removeBubble(removed.id);
    const hidden = [
      ...(await Promise.all(
        [{ archived: true }, { draft: true }, { template: true }, { expires_at: PAST }, { archived: true, is_public: true }].map((fields) =>
          recordingOf(person, fields),
        ),
      )),
      await recordingOf(other),
      removed,
    ];
    const ids = [
      crypto.randomUUID(),
      'x',
      '__proto__',
      'constructor',
      '%FF',
      '%2e%2e%2e',
      ...hidden.flatMap(({ id, short_id }) => [id, short_id]),
    ];
    for (const below of ['', '/transcript', '/comments']) {
      const answers = await Promise.all(ids.map((id) => send(world.baseUrl, `/v1/bubbles/${id}${below}`, { as: person.pat })));
      expect(new Set(answers.map(bytesOf)).size).toBe(1);
      expect(answers[0]?.status).toBe(404);
      expect(answers[0]?.headers.get('etag')).toBeNull();
    }
  });

  it('[BUB-04] who left the team still reads what they took part in; a member of the team who took no part does not', async () => {
    const [person, colleague] = [await world.user(), await world.user()];
    const team = await teamOf([
      { user_id: person.id, role: 'member' },
      { user_id: colleague.id, role: 'admin' },
    ]);
    const { id } = await recordingOf(person, { team_id: team.id });
    await world.endMember(team.id, person.id);
    expect((await read(id, person)).json.id).toBe(id);
    expect((await read(id, colleague)).status).toBe(404);
    await world.changeBubble(id, { participant_ids: [colleague.id] });
    expect((await read(id, person)).status).toBe(404);
    expect((await read(id, colleague)).status).toBe(200);
  });
});

describe('section 2, people of a bubble', () => {
  it('[BUB-04] [BUB-05] a public bubble shows a stranger and a hidden guest no address, its team and its participants all', async () => {
    const [author, member, guest, hidden, stranger] = await Promise.all(
      Array.from({ length: 5 }, (_, n) => world.user({ email: freshAddress(`person-${n}`) })),
    ).then((people) => people as [Person, Person, Person, Person, Person]); // Five were asked for.
    const team = await teamOf([
      { user_id: author.id, role: 'member' },
      { user_id: member.id, role: 'member' },
      { user_id: guest.id, role: 'guest' },
      { user_id: hidden.id, role: 'guest', hidden: true },
    ]);
    const { id } = await recordingOf(author, {
      team_id: team.id,
      is_public: true,
      external_participants: [{ name: 'Olga', email: 'olga@partner.example' }],
    });
    for (const person of [author, member, guest]) {
      const { json } = await read(id, person);
      expect(json.participants.map(({ email }: { email: string }) => email)).toEqual([author.email, 'olga@partner.example']);
      expect(json.external_participant_email_domains).toEqual(['partner.example']);
    }
    for (const person of [hidden, stranger]) {
      const { json, text } = await read(id, person);
      expect(text).not.toContain('acme.example');
      expect(text).not.toContain('partner.example');
      expect(json).toMatchObject({
        author: { id: author.id, email: null },
        has_external_participants: true,
        external_participant_email_domains: [],
      });
      expect(json.participants.map(({ name, email }: { name: string; email: string }) => [name, email])).toEqual([
        [author.name, null],
        ['Olga', null],
      ]);
      expect((await send(world.baseUrl, '/v1/bubbles', { as: person.pat })).json.data).toEqual([]);
    }
  });

  it('[BUB-06] outside is who was not in the team at the time, and everybody without an account', async () => {
    const [inside, outside, hidden] = await Promise.all(
      ['acme.example', 'Sub.Other.example', 'third.example'].map((domain) => world.user({ email: freshAddress('x', domain) })),
    ).then((people) => people as [Person, Person, Person]); // Three were asked for.
    const team = await teamOf([
      { user_id: inside.id, role: 'guest' },
      { user_id: hidden.id, role: 'guest', hidden: true },
    ]);
    const external_participants = ['a@Zeta.example', 'b@zeta.EXAMPLE', 'c@alpha.example', 'nowhere@', null].map((email) => ({
      name: null,
      email,
    }));
    const mixed = await recordingOf(inside, {
      team_id: team.id,
      participant_ids: [inside.id, outside.id, hidden.id],
      external_participants,
    });
    const own = await recordingOf(inside, { team_id: team.id });
    const teamless = await recordingOf(inside, { participant_ids: [inside.id, outside.id] });
    const shown = async (id: string) => {
      const { has_external_participants: has, external_participant_email_domains: domains } = (await read(id, inside)).json;
      return [has, domains];
    };
    const domains = ['alpha.example', 'sub.other.example', 'zeta.example'];
    const expected = [
      [true, domains],
      [false, []],
      [false, []],
    ];
    const all = () => Promise.all([mixed, own, teamless].map(({ id }) => shown(id)));
    expect(await all()).toEqual(expected);
    await world.setMember(team.id, outside.id, { role: 'member' });
    await world.endMember(team.id, inside.id);
    expect(await all()).toEqual(expected);
  });

  it('[BUB-07] people without an account have ids of their own, the same at every read, another in every bubble', async () => {
    const person = await world.user();
    const guests = [
      { name: 'Olga', email: 'olga@partner.example' },
      { name: null, email: null },
    ];
    const [first, second] = [
      await recordingOf(person, { external_participants: guests }),
      await recordingOf(person, { external_participants: guests }),
    ];
    const guestsOf = async (id: string) => (await read(id, person)).json.participants.slice(1);
    const before = await guestsOf(first.id);
    expect(before.map(({ name, email }: { name: string; email: string }) => ({ name, email }))).toEqual(guests);
    for (const { id } of before) {
      expect(id).toMatch(/^ext_[A-Za-z0-9_-]+$/);
      expect(Buffer.from(id.slice(4), 'base64url').toString('latin1')).not.toContain('olga');
    }
    await world.changeBubble(first.id, { title: 'Changed', external_participants: [{ name: 'Olga P.', email: 'OLGA@partner.example' }] });
    expect(await guestsOf(first.id)).toEqual([{ id: before[0].id, name: 'Olga P.', email: 'OLGA@partner.example' }]);
    expect((await guestsOf(second.id))[0].id).not.toBe(before[0].id);
  });
});
