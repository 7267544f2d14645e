import { afterEach, describe, expect, it } from '@jest/globals';
import { bubbleIdOf } from '../src/domain/join.ts';
import { MEET, TEAM } from './builders.ts';
import { aUser, fakeIdentity, MEETING, memberOf, startGateway, type TestGateway } from './gateway.ts';

const running: TestGateway[] = [];
const gateway = async (options?: Parameters<typeof startGateway>[0]): Promise<TestGateway> => {
  const started = await startGateway(options);
  running.push(started);
  return started;
};
afterEach(async () => {
  for (const one of running.splice(0).toReversed()) await one.stop();
});

const NAMED = [
  { name: 'Ben', email: 'ben@acme.example' },
  { name: 'Zoe', email: 'zoe@elsewhere.example' },
  { name: 'A phone', email: null },
];
const SEGMENTS = [{ speaker: { id: null, name: 'Ben' }, text: 'Shall we begin?', start_time_seconds: 0, end_time_seconds: 2 }];

describe('POST /v1/meetings/join', () => {
  it('[MEET-01] answers with the join and the link without what is not needed, to be stored nowhere', async () => {
    const { join } = await gateway();
    const { status, body, headers } = await join();
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^mj_[0-9a-f]{26}$/),
      type: 'meeting_join',
      status: 'dispatched',
      meeting_url: MEET,
      team_id: TEAM,
      created_at: '2026-03-02T12:00:00.000Z',
    });
    expect(headers.get('cache-control')).toBe('no-store');
  });

  it('sends one notetaker with the rebuilt link', async () => {
    const { join, runs } = await gateway();
    const { body } = await join();
    expect(await runs()).toEqual([expect.objectContaining({ join_id: body.id, meeting_url: MEET, team_id: TEAM, left_at: null })]);
  });

  it.each(['', 'https://example.com/abc-defg-hij', 'meet me', 'https://meet.google.com.evil.example/abc-defg-hij'])(
    '[MEET-02][MEET-12] refuses the link %j whatever the team, and sends nobody',
    async (meeting_url) => {
      const { join, runs } = await gateway();
      const { status, body } = await join({ meeting_url, team_id: 'unknown' });
      expect([status, body.error.type]).toEqual([400, 'invalid_request']);
      expect(await runs()).toEqual([]);
    },
  );

  it('[MEET-03] needs a team', async () => {
    const { call } = await gateway();
    expect((await call('POST', '/v1/meetings/join', { meeting_url: MEET })).status).toBe(400);
  });

  it('[MEET-03] refuses guests, hidden members, strangers and archived teams', async () => {
    const identity = fakeIdentity();
    identity.users.set('hid', aUser('hid', [memberOf(TEAM, 'member', true)]));
    const { join, runs } = await gateway({ identity });
    const as = async (userId: string) => (await join({}, { userId })).body.error.type;
    expect([await as('gus'), await as('hid'), await as('eve')]).toEqual(['forbidden', 'forbidden', 'forbidden']);
    identity.teams.set(TEAM, { id: TEAM, known: true, plan: 'pro', archived: true, channel_ids: [] });
    expect(await as('ada')).toBe('forbidden');
    expect(await runs()).toEqual([]);
  });

  it('sends nobody while identity does not answer', async () => {
    const identity = fakeIdentity();
    const { join, runs } = await gateway({ identity });
    identity.isAway = true;
    expect((await join()).status).toBe(500);
    identity.isAway = false;
    expect(await runs()).toEqual([]);
  });

  it('[MEET-11] answers a repeated key as at first, ten at once too, and sends one notetaker', async () => {
    const { call, settle, runs } = await gateway();
    const send = () => call('POST', '/v1/meetings/join', MEETING, { idempotencyKey: 'key' });
    const answers = await Promise.all(Array.from({ length: 10 }, send));
    await settle();
    const again = await send();
    const made = new Set([...answers, again].filter(({ status }) => status === 201).map(({ body }) => body.id));
    expect(made.size).toBe(1);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(await runs()).toHaveLength(1);
  });

  it('[MEET-06] while it runs, another request of the team answers with that join and makes the caller one of its requesters', async () => {
    const { join, report, runs, status } = await gateway();
    const first = (await join()).body;
    await report(first.id, { status: 'joining' });
    const second = await join({ meeting_url: `${MEET}?pli=1` }, { userId: 'ben' });
    expect(second).toMatchObject({ status: 201, body: { id: first.id, status: 'joining', created_at: first.created_at } });
    expect((await status(first.id, 'ben')).status).toBe(200);
    expect(await runs()).toHaveLength(1);
  });

  it('[MEET-06] of ten at once makes one join', async () => {
    const { call, settle, runs } = await gateway();
    const answers = await Promise.all(Array.from({ length: 10 }, () => call('POST', '/v1/meetings/join', MEETING)));
    await settle();
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    expect(await runs()).toHaveLength(1);
  });

  it('sends another one when the first is over', async () => {
    const { join, report, runs } = await gateway();
    const first = (await join()).body;
    await report(first.id, { status: 'fatal', fatal_reason: 'entry_denied' });
    expect((await join()).body.id).not.toBe(first.id);
    expect(await runs()).toHaveLength(2);
  });

  it('ends a join of a platform that nobody serves', async () => {
    const { join, status } = await gateway({ environment: { NOTETAKERS: 'zoom=simulator' } });
    const { body } = await join();
    expect((await status(body.id)).body).toMatchObject({ status: 'fatal', fatal_reason: 'platform_not_supported' });
  });
});

describe('GET /v1/meetings/join/{id}', () => {
  it('[MEET-05][MEET-07][MEET-08] follows the notetaker', async () => {
    const { join, report, status } = await gateway();
    const { id } = (await join()).body;
    const shown = async () => {
      const { body } = await status(id);
      return [body.status, body.bot_in_call];
    };
    const seen = [await shown()];
    for (const next of ['joining', 'in_waiting_room', 'in_call', 'recording', 'done']) {
      await report(id, { status: next });
      seen.push(await shown());
    }
    expect(seen).toEqual([
      ['dispatched', false],
      ['joining', false],
      ['in_waiting_room', false],
      ['in_call', true],
      ['recording', true],
      ['done', false],
    ]);
  });

  it('[MEET-05] says why it is fatal, and never the link', async () => {
    const { join, report, status } = await gateway();
    const { id } = (await join()).body;
    await report(id, { status: 'fatal', fatal_reason: 'meeting_requires_sign_in' });
    const { body, text } = await status(id);
    expect(body).toEqual({
      id,
      type: 'meeting_join',
      status: 'fatal',
      bot_in_call: false,
      fatal_reason: 'meeting_requires_sign_in',
      team_id: TEAM,
      updated_at: '2026-03-02T12:00:00.000Z',
    });
    expect(text).not.toContain('abc-defg-hij');
  });

  it("[MEET-06] answers for somebody else's join as for none", async () => {
    const { join, status } = await gateway();
    const { id } = (await join()).body;
    const [theirs, none] = [await status(id, 'ben'), await status('mj_none', 'ben')];
    expect([theirs.status, theirs.text]).toEqual([404, none.text]);
  });
});

describe('a recording', () => {
  it('[MEET-09] is told once, with requesters, members by their address, and everybody else without an account', async () => {
    const { join, report, captured } = await gateway();
    const { id } = (await join()).body;
    await report(id, { status: 'recording' });
    const done = await report(id, { status: 'done', title: 'Planning', participants: NAMED, segments: SEGMENTS, duration_seconds: 61 });
    expect(done.body).toMatchObject({ status: 'done', bubble_id: bubbleIdOf(id) });
    await report(id, { status: 'done', title: 'Another title' });
    const person = (user_id: string | null, name: string | null, email: string | null) => ({
      user_id,
      name,
      email,
      is_external: user_id === null,
    });
    expect(captured).toEqual([
      expect.objectContaining({
        bubble_id: bubbleIdOf(id),
        join_id: id,
        team_id: TEAM,
        title: 'Planning',
        platform: 'google_meet',
        author: person('ada', null, null),
        participants: [
          person('ada', null, null),
          person('ben', 'Ben', 'ben@acme.example'),
          person(null, 'Zoe', 'zoe@elsewhere.example'),
          person(null, 'A phone', null),
        ],
        duration_seconds: 61,
        segments: SEGMENTS,
      }),
    ]);
  });

  it('is captured later when identity does not answer', async () => {
    const identity = fakeIdentity();
    const { join, report, captured, pass } = await gateway({ identity });
    const { id } = (await join()).body;
    identity.isAway = true;
    await report(id, { status: 'done' });
    expect(captured).toEqual([]);
    identity.isAway = false;
    await pass(60);
    expect(captured).toHaveLength(1);
  });

  it('[MEET-09] waits for an identity that finds people by their addresses, when the provider names some', async () => {
    const identity = fakeIdentity();
    const { join, report, captured, pass } = await gateway({ identity });
    const { id } = (await join()).body;
    const { id: nameless } = (await join({ meeting_url: 'https://meet.google.com/xyz-abcd-efg' })).body;
    identity.isOlder = true;
    await report(id, { status: 'done', participants: NAMED });
    await report(nameless, { status: 'done' });
    expect(captured.map(({ join_id }) => join_id)).toEqual([nameless]);
    identity.isOlder = false;
    await pass(60);
    expect(captured[1]?.participants.map(({ user_id }) => user_id)).toEqual(['ada', 'ben', null, null]);
  });

  it('is none of a join that never recorded', async () => {
    const { join, report, captured } = await gateway();
    const { id } = (await join()).body;
    await report(id, { status: 'fatal' });
    expect(captured).toEqual([]);
  });
});

describe('watchdogs', () => {
  it('[MEET-10] end a join of which nothing is heard, and let its notetaker leave', async () => {
    const { join, status, runs, pass } = await gateway();
    const { id } = (await join()).body;
    for (let minute = 0; minute < 16; minute += 1) await pass(60);
    expect((await status(id)).body).toMatchObject({ status: 'fatal', fatal_reason: 'notetaker_unavailable' });
    expect(await runs()).toEqual([expect.objectContaining({ left_at: expect.any(String) })]);
  });
});

describe('secrets', () => {
  it('[MEET-13] keep the passcode out of logs, store and status', async () => {
    const { join, log, database, status } = await gateway();
    const { body } = await join({ meeting_url: 'https://zoom.us/j/1234567890?pwd=sesamopen' });
    expect(body.meeting_url).toContain('sesamopen');
    const kept = await Promise.all(['joins', 'simulated_runs'].map((name) => database.collection(name).find({})));
    const told = JSON.stringify([kept, log.lines, (await status(body.id)).text]);
    expect(told).toContain(body.id);
    expect(told).not.toMatch(/sesamopen|1234567890/);
  });
});

describe('links', () => {
  it('[MEET-13] of a join that is over and a day old are erased, also where the simulated provider keeps them', async () => {
    const { join, report, runs, runJob, pass } = await gateway();
    const { id } = (await join()).body;
    await report(id, { status: 'fatal' });
    const links = async () => (await runs()).map(({ meeting_url }) => meeting_url);
    await pass(86_399);
    await runJob('erase-meeting-links');
    expect(await links()).toEqual([MEET]);
    await pass(1);
    await runJob('erase-meeting-links');
    expect(await links()).toEqual([null]);
  });
});

describe('two processes on one store', () => {
  it('share the work, and each answers for what the other was told', async () => {
    const first = await gateway();
    const { database, clock } = first;
    const second = await gateway({ database, clock });
    const { id } = (await first.join()).body;
    await second.report(id, { status: 'recording' });
    expect((await first.status(id)).body.status).toBe('recording');
    await second.report(id, { status: 'done' });
    await first.settle();
    expect(first.captured.length + second.captured.length).toBe(1);
    expect(await second.runs()).toHaveLength(1);
  });
});
