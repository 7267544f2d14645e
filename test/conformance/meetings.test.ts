import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Answer, send, walk } from './support/client.ts';
import { aMeeting, JOIN, type MeetingCalls, meetingsOf, soon } from './support/meetings.ts';
import { openWorld } from './support/open-world.ts';
import { shapeFaults } from './support/shape.ts';
import type { World } from './support/world.ts';

let world: World;
let meetings: MeetingCalls;
beforeAll(async () => {
  world = await openWorld();
  meetings = meetingsOf({ world });
});
afterAll(() => world.close());

const STEPS = ['joining', 'in_waiting_room', 'in_call', 'recording', 'done'] as const;
const replayed = ({ headers }: Answer) => headers.get('idempotency-replayed');

describe('a join', () => {
  it('[MEET-01] [MEET-05] [MEET-13] is answered once with its link, which no other answer shows', async () => {
    const { ada, team } = await meetings.scene();
    const link = `https://zoom.us/j/${String(Date.now()).slice(-10)}?pwd=open5esame`;
    const made = await meetings.join(ada, team, `${link}&uname=Ada#success`);
    expect([made.status, made.headers.get('cache-control')]).toEqual([201, 'no-store']);
    expect(shapeFaults('MeetingJoinCreated', made.json)).toEqual([]);
    expect(made.json).toMatchObject({ type: 'meeting_join', status: 'dispatched', meeting_url: link, team_id: team.id });
    const { id } = made.json;
    const read = await meetings.call(ada, `/${id}`);
    expect(shapeFaults('MeetingJoinStatus', read.json)).toEqual([]);
    for (const tail of [`/${id}`, `/${id}/events`, '', '?status=dispatched'])
      expect((await meetings.call(ada, tail)).text).not.toMatch(/zoom\.us|open5esame/);
  });

  it('[MEET-07] [MEET-08] [MEET-14] goes through every status, in the call in two of them, and keeps its history', async () => {
    const { ada, team } = await meetings.scene();
    const { id } = (await meetings.join(ada, team)).json;
    for (const status of STEPS) {
      await meetings.move(id, { status });
      expect(await meetings.status(ada, id)).toMatchObject({
        status,
        bot_in_call: status === 'in_call' || status === 'recording',
        fatal_reason: null,
      });
    }
    const { data, bubble_id } = (await meetings.call(ada, `/${id}/events`)).json;
    expect(data.map(({ status }: { status: string }) => status)).toEqual(['dispatched', ...STEPS]);
    const times = data.map(({ created_at }: { created_at: string }) => created_at);
    expect(times).toEqual(times.toSorted());
    expect((await send(world.baseUrl, `/v1/bubbles/${bubble_id}`, { as: ada.pat })).status).toBe(200);
  });

  it.each([
    [['recording', 'in_call', 'joining', 'recording'], { status: 'recording' }],
    [['in_waiting_room', 'fatal', 'recording', 'done'], { status: 'fatal', fatal_reason: 'entry_denied' }],
    [['recording', 'done', 'fatal'], { status: 'done', fatal_reason: null }],
    [['fatal'], { status: 'fatal', fatal_reason: 'entry_denied' }],
  ] as const)('[MEET-07] that is told %j goes forward alone', async (told, end) => {
    const { ada, team } = await meetings.scene();
    const { id } = (await meetings.join(ada, team)).json;
    for (const status of told) await meetings.move(id, { status, ...(status === 'fatal' && { fatal_reason: 'entry_denied' }) });
    const join = () => meetings.status(ada, id);
    expect(await soon(join, ({ status }) => status === end.status)).toMatchObject(end);
  });

  it('[MEET-06] that runs is that of everybody in the team who asks for the meeting', async () => {
    const { ada, ben, team } = await meetings.scene();
    const url = aMeeting();
    const [first, second] = [await meetings.join(ada, team, url), await meetings.join(ben, team, `${url}?authuser=1`)];
    expect([second.status, second.json]).toEqual([201, first.json]);
    expect(await meetings.sentTo(url, 1)).toBe(1);
    const { id } = first.json;
    expect(await meetings.status(ben, id)).toMatchObject({ id, status: 'dispatched' });
    await meetings.move(id, { status: 'recording' });
    expect((await meetings.join(ben, team, url)).json).toMatchObject({ id, status: 'recording' });
    expect((await meetings.call(ben, `/${id}`, { method: 'DELETE' })).status).toBe(204);
    expect(await meetings.status(ada, id)).toMatchObject({ status: 'done' });
    expect((await meetings.join(ada, team, url)).json.id).not.toBe(id);
  });

  it('[MEET-06] of another team in the same meeting is another one', async () => {
    const [one, other] = [await meetings.scene(), await meetings.scene()];
    const url = aMeeting();
    const [first, second] = [await meetings.join(one.ada, one.team, url), await meetings.join(other.ada, other.team, url)];
    expect(second.json.id).not.toBe(first.json.id);
    expect(await meetings.sentTo(url, 2)).toBe(2);
  });

  it('[MEET-11] [GEN-13] under an Idempotency-Key is made once, ten at once too', async () => {
    const { ada, ben, team } = await meetings.scene();
    const [url, key] = [aMeeting(), { 'Idempotency-Key': randomUUID() }];
    const answers = await Promise.all(Array.from({ length: 10 }, () => meetings.join(ada, team, url, key)));
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers.filter((answer) => replayed(answer) === null)).toHaveLength(1);
    expect(await meetings.sentTo(url, 1)).toBe(1);
    const { id } = answers[0]?.json ?? {};
    await meetings.call(ada, `/${id}`, { method: 'DELETE' });
    const again = await meetings.join(ada, team, url, key);
    expect([again.status, again.text, replayed(again), again.headers.get('cache-control')]).toEqual([
      201,
      answers[0]?.text,
      'true',
      'no-store',
    ]);
    expect(await meetings.sentTo(url, 1)).toBe(1);
    const other = await meetings.join(ada, team, aMeeting(), key);
    expect([other.status, other.json.error.type]).toEqual([400, 'invalid_request']);
    expect(replayed(await meetings.join(ben, team, aMeeting(), key))).toBeNull();
  });

  it.each(['a b', 'k'.repeat(256), ''])('[MEET-11] with the key %j is refused', async (key) => {
    const { ada, team } = await meetings.scene();
    const answer = await meetings.join(ada, team, aMeeting(), { 'Idempotency-Key': key });
    expect([answer.status, answer.json.error.type]).toEqual([400, 'invalid_request']);
  });

  it('[MEET-09] becomes a bubble of its requesters and of members who are named by address, everybody else being external', async () => {
    const { ada, ben, team } = await meetings.scene();
    const [cid, eve] = [await world.user(), await world.user()];
    await world.setMember(team.id, cid.id, { role: 'guest' });
    const url = aMeeting();
    const { id } = (await meetings.join(ada, team, url)).json;
    await meetings.join(ben, team, url);
    const external_participants = [
      { name: 'Eve', email: eve.email },
      { name: 'Zoe', email: 'zoe@elsewhere.example' },
    ];
    const { bubble_id } = await meetings.move(id, { status: 'done', participant_ids: [cid.id], external_participants });
    for (const person of [ada, ben, cid])
      expect((await walk(world.baseUrl, '/v1/bubbles', person.pat)).map((one) => one.id)).toEqual([bubble_id]);
    expect(await walk(world.baseUrl, '/v1/bubbles', eve.pat)).toEqual([]);
    const { json } = await send(world.baseUrl, `/v1/bubbles/${bubble_id}`, { as: ada.pat });
    expect(json).toMatchObject({
      type: 'meeting_recording',
      author: { id: ada.id },
      creator_id: ada.id,
      meeting: { platform: 'google_meet' },
      external_participant_email_domains: expect.arrayContaining(['elsewhere.example']),
    });
  });
  it('[MEET-09] whose recording is ready is a bubble with notes, which those who took part list', async () => {
    const { ada, ben, team } = await meetings.scene();
    const { id } = (await meetings.join(ada, team)).json;
    await meetings.move(id, { status: 'recording' });
    const told = { title: 'Planning', participant_ids: [ben.id], external_participants: [{ name: 'Zoe', email: 'zoe@elsewhere.example' }] };
    const { bubble_id } = await meetings.move(id, { status: 'done', ...told, summary: 'All is planned.' });
    for (const { pat } of [ada, ben]) {
      const listed = (await send(world.baseUrl, '/v1/bubbles', { as: pat })).json.data;
      expect(listed).toEqual([expect.objectContaining({ id: bubble_id, type: 'meeting_recording', title: 'Planning', team_id: team.id })]);
    }
    const bubble = (await send(world.baseUrl, `/v1/bubbles/${bubble_id}`, { as: ada.pat })).json;
    expect(bubble).toMatchObject({ has_external_participants: true, has_transcript: true, summary: 'All is planned.' });
  });

  it('[MEET-09] [BUB-02] has a video that plays from any place on, for whoever has its link', async () => {
    const { ada, team } = await meetings.scene();
    const { id } = (await meetings.join(ada, team)).json;
    const { bubble_id } = await meetings.move(id, { status: 'done', title: 'Planning' });
    const { video_url: url } = (await send(world.baseUrl, `/v1/bubbles/${bubble_id}`, { as: ada.pat })).json.media;
    expect(url).toMatch(/^http.*\/media\/[0-9a-f]{64}$/);
    const whole = await fetch(url);
    const content = Buffer.from(await whole.arrayBuffer());
    expect([whole.status, whole.headers.get('content-type'), content.subarray(4, 8).toString()]).toEqual([200, 'video/mp4', 'ftyp']);
    expect(whole.headers.get('content-length')).toBe(String(content.length));
    const part = await fetch(url, { headers: { range: 'bytes=100-' } });
    expect([part.status, part.headers.get('content-range')]).toEqual([206, `bytes 100-${content.length - 1}/${content.length}`]);
    expect(Buffer.from(await part.arrayBuffer())).toEqual(content.subarray(100));
    const head = await fetch(url, { method: 'HEAD' });
    expect([head.status, head.headers.get('accept-ranges'), head.headers.get('etag')]).toEqual([200, 'bytes', whole.headers.get('etag')]);
    expect((await fetch(url, { headers: { range: `bytes=${content.length}-` } })).status).toBe(416);
    expect((await fetch(url.slice(0, -1))).status).toBe(404);
  });

  it('[MEET-09] has no video where its recording has no file', async () => {
    const { ada, team } = await meetings.scene();
    const { id } = (await meetings.join(ada, team)).json;
    const { bubble_id } = await meetings.move(id, { status: 'done', has_video: false });
    expect((await send(world.baseUrl, `/v1/bubbles/${bubble_id}`, { as: ada.pat })).json.media.video_url).toBeNull();
  });

  it('[MEET-05] that cannot record says why, and becomes no bubble', async () => {
    const { ada, team } = await meetings.scene();
    const { id } = (await meetings.join(ada, team)).json;
    expect(await meetings.move(id, { status: 'fatal', fatal_reason: 'meeting_requires_sign_in' })).toMatchObject({ bubble_id: null });
    expect(await meetings.status(ada, id)).toMatchObject({ status: 'fatal', fatal_reason: 'meeting_requires_sign_in' });
    expect((await send(world.baseUrl, '/v1/bubbles', { as: ada.pat })).json.data).toEqual([]);
  });
});

describe('extensions', () => {
  it('[MEET-14] list the own joins, newest first, and filter them', async () => {
    const { ada, ben, team } = await meetings.scene();
    const made: string[] = [];
    for (let n = 0; n < 5; n += 1) made.unshift((await meetings.join(ada, team)).json.id);
    await meetings.move(made[1] ?? '', { status: 'recording' });
    expect((await walk(world.baseUrl, `${JOIN}?limit=2`, ada.pat)).map(({ id }) => id)).toEqual(made);
    expect((await walk(world.baseUrl, `${JOIN}?status=recording`, ada.pat)).map(({ id }) => id)).toEqual([made[1]]);
    const page = (await meetings.call(ada, '?limit=2')).json;
    expect([page.has_more, typeof page.next_cursor]).toEqual([true, 'string']);
    for (const row of page.data) expect(shapeFaults('MeetingJoinStatus', row)).toEqual([]);
    expect((await meetings.call(ben, '')).json).toEqual({ data: [], has_more: false, next_cursor: null });
    const cursor = page.next_cursor;
    for (const [person, query] of [
      [ben, `?cursor=${cursor}`],
      [ada, `?status=recording&cursor=${cursor}`],
      [ada, `?cursor=${cursor}x`],
      [ada, '?cursor='],
      [ada, '?limit=0'],
      [ada, '?limit=101'],
      [ada, '?status=gone'],
    ] as const) {
      const { status, json } = await meetings.call(person, query);
      expect([query, status, json.error?.type]).toEqual([query, 400, 'invalid_request']);
    }
  });

  it('[MEET-14] end a join for good, whatever its notetaker says after that', async () => {
    const { ada, team } = await meetings.scene();
    const { id } = (await meetings.join(ada, team)).json;
    await meetings.move(id, { status: 'in_call' });
    for (let n = 0; n < 2; n += 1) expect((await meetings.call(ada, `/${id}`, { method: 'DELETE' })).status).toBe(204);
    await meetings.move(id, { status: 'recording' });
    expect(await meetings.status(ada, id)).toMatchObject({ status: 'fatal', fatal_reason: 'cancelled', bot_in_call: false });
    const { data, bubble_id } = (await meetings.call(ada, `/${id}/events`)).json;
    expect([data.at(-1), bubble_id]).toEqual([{ status: 'fatal', created_at: expect.any(String), reason: 'cancelled' }, null]);
  });

  it('[MEET-14] [API-03] are marked as such in the document, what the interface asks for is not', async () => {
    const { paths } = (await send(world.baseUrl, '/v1/openapi.json')).json;
    const marked = (path: string, method: string) => paths[path][method]['x-extension'] === true;
    const one = `${JOIN}/{id}`;
    expect([marked(JOIN, 'post'), marked(one, 'get')]).toEqual([false, false]);
    expect([marked(JOIN, 'get'), marked(one, 'delete'), marked(`${one}/events`, 'get')]).toEqual([true, true, true]);
  });
});
