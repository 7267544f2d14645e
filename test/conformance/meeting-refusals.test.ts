import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Answer } from './support/client.ts';
import { aMeeting, type MeetingCalls, meetingsOf, soon } from './support/meetings.ts';
import { openWorld } from './support/open-world.ts';
import type { World } from './support/world.ts';

let world: World;
let meetings: MeetingCalls;
beforeAll(async () => {
  world = await openWorld();
  meetings = meetingsOf({ world });
});
afterAll(() => world.close());

const refusal = ({ status, json }: Answer) => {
  expect(json).toEqual({ error: { type: expect.any(String), message: expect.stringMatching(/./) } });
  return [status, json.error.type];
};
const BAD_REQUEST = [400, 'invalid_request'];
const FORBIDDEN = [403, 'forbidden'];
const SAME_FOR_ALL = /^(date|x-request-id|ratelimit)$/;
const bytesOf = ({ status, headers, text }: Answer) =>
  JSON.stringify([status, [...headers].filter(([name]) => !SAME_FOR_ALL.test(name)), text]);

describe('a request for a notetaker is refused', () => {
  it.each([
    'https://example.com/abc-defg-hij',
    'https://meet.google.com.evil.example/abc-defg-hij',
    'https://evil.example/?u=https://meet.google.com/abc-defg-hij',
    'https://meet.google.com@evil.example/abc-defg-hij',
    'http://meet.google.com/abc-defg-hij',
    'https://meet.google.com/',
    'https://zoom.us/j/1',
    'javascript:alert(1)',
    'not a link',
    ' ',
  ])('[MEET-02] [MEET-12] for the link %j, whatever the team, and nobody is sent', async (link) => {
    const { ada, team } = await meetings.scene();
    const before = (await world.notetakers()).length;
    for (const { id } of [team, { id: 'no-team' }]) {
      const answer = await meetings.join(ada, { id }, link);
      expect(refusal(answer)).toEqual(BAD_REQUEST);
      expect(answer.json.error.message).toMatch(/^meeting_url: /);
    }
    expect(await world.notetakers()).toHaveLength(before);
  });

  it.each([
    [{ team_id: 'x' }, 'meeting_url'],
    [{ meeting_url: 'https://meet.google.com/abc-defg-hij' }, 'team_id'],
    [{ meeting_url: null, team_id: 'x' }, 'meeting_url'],
    [{ meeting_url: 'https://meet.google.com/abc-defg-hij', team_id: 7 }, 'team_id'],
    [{ meeting_url: ['https://meet.google.com/abc-defg-hij'], team_id: 'x' }, 'meeting_url'],
    [{ meeting_url: `https://meet.google.com/abc-defg-hij?${'x'.repeat(2048)}`, team_id: 'x' }, 'meeting_url'],
    ['{', ''],
    ['[]', ''],
    ['null', ''],
  ])('[MEET-03] [GEN-07] for the body %j', async (body, field) => {
    const { ada } = await meetings.scene();
    const answer = await meetings.call(ada, '', { method: 'POST', body });
    expect(refusal(answer)).toEqual(BAD_REQUEST);
    expect(answer.json.error.message).toContain(field);
  });

  it('[MEET-03] by who may not record for the team', async () => {
    const { ada, ben, team } = await meetings.scene();
    const [guest, hidden, stranger] = await Promise.all([world.user(), world.user(), world.user()]);
    await world.setMember(team.id, guest.id, { role: 'guest' });
    await world.setMember(team.id, hidden.id, { role: 'guest', hidden: true });
    await world.team({ name: 'Theirs', plan: 'pro', members: [{ user_id: stranger.id, role: 'admin' }] });
    const url = aMeeting();
    for (const person of [guest, hidden, stranger]) expect(refusal(await meetings.join(person, team, url))).toEqual(FORBIDDEN);
    expect(refusal(await meetings.join(ada, { id: 'no-team' }, url))).toEqual(FORBIDDEN);
    await world.endMember(team.id, ben.id);
    expect(refusal(await meetings.join(ben, team, url))).toEqual(FORBIDDEN);
    await world.changeTeam(team.id, { archived: true });
    expect(refusal(await meetings.join(ada, team, url))).toEqual(FORBIDDEN);
    expect(await meetings.sentTo(url, 0)).toBe(0);
    await world.changeTeam(team.id, { archived: false });
    expect((await meetings.join(ada, team, url)).status).toBe(201);
  });

  it('[MEET-03] [AUTH-06] by an app without the scope, and not by one that has it alone', async () => {
    const { ada, team } = await meetings.scene();
    const tokenFor = async (...scopes: string[]) => ({ pat: (await world.oauthToken(ada.id, { scopes })).access_token });
    const without = await tokenFor('bubbles:read', 'webhooks:manage');
    expect(refusal(await meetings.join(without, team))).toEqual(FORBIDDEN);
    expect(refusal(await meetings.join(without, team, 'no link'))).toEqual(FORBIDDEN);
    expect((await meetings.join(await tokenFor('meetings:join'), team)).status).toBe(201);
  });
});

describe('quotas', () => {
  it('[MEET-04] [MEET-12] of a user hold for an hour, also at once, and come after the rights', async () => {
    const { ada, ben, team } = await meetings.scene();
    const answers = await Promise.all(Array.from({ length: 23 }, () => meetings.join(ada, team)));
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused.map(refusal)).toEqual(Array.from({ length: 3 }, () => [429, 'rate_limited']));
    for (const { headers } of refused) {
      expect(headers.get('retry-after')).toMatch(/^\d+$/);
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(3500);
      expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(3600);
    }
    expect(refusal(await meetings.join(ada, { id: 'no-team' }))).toEqual(FORBIDDEN);
    expect(refusal(await meetings.join(ada, team, 'no link'))).toEqual(BAD_REQUEST);
    expect((await meetings.join(ben, team)).status).toBe(201);
    // Who joins a running join is charged nothing.
    const running = answers.find(({ status }) => status === 201)?.json;
    expect((await meetings.join(ada, team, running.meeting_url)).json.id).toBe(running.id);
  });

  it('[MEET-04] of a free team hold for the week, also at once; a run that never recorded gives its place back', async () => {
    const { ada, ben, team } = await meetings.scene('free');
    const answers = await Promise.all(Array.from({ length: 7 }, (_, n) => meetings.join(n % 2 === 0 ? ada : ben, team)));
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused.map(refusal)).toEqual(Array.from({ length: 2 }, () => [429, 'rate_limited']));
    const wait = Number(refused[0]?.headers.get('retry-after'));
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(7 * 24 * 3600);
    const made = answers.find(({ status }) => status === 201)?.json.id;
    await meetings.move(made, { status: 'fatal', fatal_reason: 'meeting_not_found' });
    const joined = await soon(
      () => meetings.join(ada, team),
      ({ status }) => status === 201,
    );
    expect(joined.status).toBe(201);
    expect((await meetings.join(ada, team)).status).toBe(429);
  });
});

describe('a join of somebody else', () => {
  it('[MEET-06] is not told from none, byte by byte, whatever is asked of it', async () => {
    const { ada, ben, team } = await meetings.scene();
    const stranger = await world.user();
    const { id } = (await meetings.join(ada, team)).json;
    const none = `mj_${'0'.repeat(26)}`;
    for (const person of [ben, stranger])
      for (const [method, tail] of [
        ['GET', ''],
        ['GET', '/events'],
        ['DELETE', ''],
      ] as const) {
        const ask = (join: string) => meetings.call(person, `/${join}${tail}`, { method });
        const [theirs, absent] = [await ask(id), await ask(none)];
        expect(refusal(theirs)).toEqual([404, 'not_found']);
        expect(bytesOf(theirs)).toBe(bytesOf(absent));
      }
    expect(await meetings.status(ada, id)).toMatchObject({ status: 'dispatched' });
    expect((await meetings.call(ben, '')).json.data).toEqual([]);
  });

  it.each(['mj_%00', 'x'.repeat(300), '%7B%22$gt%22:%22%22%7D', 'mj_1%2f..', '__proto__'])('[MEET-06] nor is the id %s', async (id) => {
    const { ada } = await meetings.scene();
    const { status, json } = await meetings.call(ada, `/${id}`);
    expect([400, 404]).toContain(status);
    expect(['invalid_request', 'not_found']).toContain(json.error.type);
  });
});
