import { afterEach, describe, expect, it } from '@jest/globals';
import type { ProviderWebhook } from '../src/ports.ts';
import { startFakeAttendee } from './attendee-server.ts';
import { NOON } from './builders.ts';
import { aUser, memberOf, startGateway, type TestGateway } from './gateway.ts';
import { RECORDED } from './notetaker.contract.ts';
import { startFakeVexa } from './vexa-server.ts';

const KEY = 'k3y';
const SECRET = Buffer.from('a-secret-that-nobody-may-see-now');
/** The fake providers are on loopback. */
const MEDIA = { MEDIA_ALLOW_CIDRS: '127.0.0.0/8', MEDIA_ALLOW_HTTP: '1' };
/** A link of ours, never the provider's. */
const COPIED = expect.stringMatching(/^https:\/\/\S+\/[\da-f]{64}$/);
const SPOKEN = RECORDED.segments.map(({ speaker, text, startSeconds, endSeconds }) => ({
  speaker: speaker && { id: null, name: speaker },
  text,
  start_time_seconds: startSeconds,
  end_time_seconds: endSeconds,
}));

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop();
});

const started = async (provider: string, url: string): Promise<TestGateway> => {
  const prefix = provider.toUpperCase();
  const environment = {
    ...MEDIA,
    NOTETAKERS: `google_meet=${provider},zoom=${provider}`,
    [`${prefix}_URL`]: url,
    [`${prefix}_API_KEY`]: KEY,
    [`${prefix}_WEBHOOK_SECRET`]: provider === 'attendee' ? SECRET.toString('base64') : SECRET.toString(),
  };
  const gateway = await startGateway({ environment });
  stops.push(gateway.stop);
  return gateway;
};

/** What the provider tells at once, and what follows from it. */
const told = async (gateway: TestGateway, provider: string, { headers, body }: ProviderWebhook): Promise<number> => {
  const sent = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value ?? '']));
  const { status } = await gateway.hook({ headers: sent, body: Buffer.from(body).toString() }, provider);
  await gateway.settle();
  return status;
};

/** The status as its requester sees it, after a look at the provider. */
const seen = async (gateway: TestGateway, id: string, seconds: number): Promise<string> => {
  await gateway.pass(seconds);
  return (await gateway.status(id)).body.status;
};

describe('meetings that are served by an Attendee', () => {
  const scene = async () => {
    let clock = () => NOON;
    const attendee = await startFakeAttendee({ apiKey: KEY, secret: SECRET, now: () => clock() });
    stops.push(attendee.stop);
    const gateway = await started('attendee', attendee.url);
    clock = () => gateway.clock.now();
    return { attendee, gateway };
  };

  it('[MEET-01][MEET-07][MEET-09] go from the request to the recording', async () => {
    const { attendee, gateway } = await scene();
    const { id } = (await gateway.join()).body;
    const bot = attendee.ofJoin(id);
    attendee.happen(bot, 'join_requested', 'joining');
    expect(await seen(gateway, id, 240)).toBe('joining');
    attendee.happen(bot, 'joined_meeting', 'joined_not_recording');
    expect(await seen(gateway, id, 90)).toBe('in_call');
    attendee.happen(bot, 'recording_permission_granted', 'joined_recording');
    expect(await seen(gateway, id, 180)).toBe('recording');
    attendee.happen(bot, 'meeting_ended', 'post_processing');
    expect(await seen(gateway, id, 360)).toBe('done');
    expect(gateway.captured).toEqual([]);
    attendee.happen(bot, 'post_processing_completed', 'ended');
    Object.assign(bot, { file: RECORDED.bytes, recordingState: 'complete', transcriptionState: 'complete' });
    bot.utterances = RECORDED.segments.map(({ speaker, text, startSeconds, endSeconds }) => ({
      speaker_name: speaker,
      timestamp_ms: startSeconds * 1000,
      duration_ms: (endSeconds - startSeconds) * 1000,
      transcription: { transcript: text },
    }));
    await gateway.passInSteps(300);
    expect(gateway.captured).toEqual([expect.objectContaining({ join_id: id, segments: SPOKEN, video_url: COPIED })]);
  });

  it('[MEET-10] get one notetaker when the answer to its dispatch is lost, also when it has ended meanwhile', async () => {
    const { attendee, gateway } = await scene();
    attendee.losesAnswers = true;
    const { id } = (await gateway.join()).body;
    attendee.losesAnswers = false;
    attendee.happen(attendee.ofJoin(id), 'could_not_join_meeting', 'fatal_error', 'meeting_not_found');
    await gateway.pass(10);
    expect(await seen(gateway, id, 240)).toBe('fatal');
    expect((await gateway.status(id)).body.fatal_reason).toBe('meeting_not_found');
    expect(attendee.bots).toHaveLength(1);
  });

  it('[MEET-14] end when a requester ends them, and their notetaker leaves once it can', async () => {
    const { attendee, gateway } = await scene();
    const { id } = (await gateway.join()).body;
    const bot = attendee.ofJoin(id);
    await gateway.call('DELETE', `/v1/meetings/join/${id}`);
    expect((await gateway.status(id)).body).toMatchObject({ status: 'fatal', fatal_reason: 'cancelled' });
    // A bot that has not begun cannot be told.
    await gateway.settle();
    expect(bot.state).toBe('ready');
    attendee.happen(bot, 'join_requested', 'joining');
    await gateway.pass(30);
    expect(bot.state).toBe('leaving');
  });

  it('[MEET-10] end as done when a notetaker hangs while it leaves, and keep what was said', async () => {
    const { attendee, gateway } = await scene();
    const { id } = (await gateway.join()).body;
    const bot = attendee.ofJoin(id);
    for (const [type, state] of [
      ['joined_meeting', 'joined_not_recording'],
      ['recording_permission_granted', 'joined_recording'],
      ['leave_requested', 'leaving'],
    ] as const)
      attendee.happen(bot, type, state);
    Object.assign(bot, { recordingState: 'in_progress', transcriptionState: 'in_progress' });
    bot.utterances = [{ speaker_name: 'Ada', timestamp_ms: 1000, duration_ms: 1500, transcription: { transcript: 'Shall we begin?' } }];
    expect(await seen(gateway, id, 240)).toBe('recording');
    for (let minute = 0; minute < 16; minute += 1) await gateway.pass(60);
    expect((await gateway.status(id)).body).toMatchObject({ status: 'done', bot_in_call: false });
    for (let minute = 0; minute < 60; minute += 5) await gateway.passInSteps(300);
    expect(gateway.captured).toEqual([expect.objectContaining({ join_id: id, video_url: null, segments: SPOKEN.slice(0, 1) })]);
  });

  it('[MEET-14] let an unknown notetaker leave later when something before the provider answers 404 without a body', async () => {
    const { attendee, gateway } = await scene();
    attendee.losesAnswers = true;
    const { id } = (await gateway.join()).body;
    attendee.losesAnswers = false;
    const bot = attendee.ofJoin(id);
    attendee.happen(bot, 'recording_permission_granted', 'joined_recording');
    attendee.fail('an empty 404');
    await gateway.call('DELETE', `/v1/meetings/join/${id}`);
    await gateway.passInSteps(120);
    attendee.fail(null);
    await gateway.passInSteps(120);
    expect(bot.state).toBe('leaving');
  });

  it('[MEET-09] are captured later when something before the provider answers 404 without a body', async () => {
    const { attendee, gateway } = await scene();
    const { id } = (await gateway.join()).body;
    const bot = attendee.ofJoin(id);
    attendee.happen(bot, 'recording_permission_granted', 'joined_recording');
    await gateway.pass(240);
    attendee.fail('an empty 404');
    await gateway.call('DELETE', `/v1/meetings/join/${id}`);
    await gateway.pass(30);
    attendee.fail(null);
    await gateway.passInSteps(60);
    expect(bot.state).toBe('leaving');
    attendee.happen(bot, 'post_processing_completed', 'ended');
    Object.assign(bot, { file: RECORDED.bytes, recordingState: 'complete', transcriptionState: 'not_started' });
    attendee.fail('an empty 404');
    await gateway.pass(60);
    attendee.fail(null);
    await gateway.passInSteps(300);
    expect(gateway.captured).toEqual([expect.objectContaining({ join_id: id, video_url: COPIED })]);
  });

  it('[MEET-07] move at once when it sends a webhook', async () => {
    const { attendee, gateway } = await scene();
    const { id } = (await gateway.join()).body;
    const bot = attendee.ofJoin(id);
    for (const [type, state, status] of [
      ['join_requested', 'joining', 'joining'],
      ['joined_meeting', 'joined_not_recording', 'in_call'],
      ['recording_permission_granted', 'joined_recording', 'recording'],
    ] as const) {
      attendee.happen(bot, type, state);
      expect(await told(gateway, 'attendee', attendee.webhook(bot))).toBe(204);
      expect((await gateway.status(id)).body.status).toBe(status);
      await gateway.pass(5);
    }
    const { body } = attendee.webhook(bot);
    expect(
      await told(gateway, 'attendee', { headers: { 'x-webhook-signature': 'forged', 'content-type': 'application/json' }, body }),
    ).toBe(401);
  });

  it('[MEET-05][MEET-10] end with the reason of the provider, or with ours when it stays away', async () => {
    const { attendee, gateway } = await scene();
    const { id } = (await gateway.join()).body;
    attendee.happen(attendee.ofJoin(id), 'could_not_join_meeting', 'fatal_error', 'login_required');
    expect(await seen(gateway, id, 240)).toBe('fatal');
    expect((await gateway.status(id)).body.fatal_reason).toBe('meeting_requires_sign_in');
    attendee.fail('a connection that is cut');
    const second = (await gateway.join()).body;
    for (let minute = 0; minute < 16; minute += 1) await gateway.pass(60);
    expect((await gateway.status(second.id)).body).toMatchObject({ status: 'fatal', fatal_reason: 'notetaker_unavailable' });
    attendee.fail(null);
    for (let minute = 0; minute < 16; minute += 1) await gateway.pass(60);
    expect(attendee.bots).toHaveLength(1);
    const counted = (outcome: string) => expect.stringMatching(`^notetaker_calls_total{provider="attendee",outcome="${outcome}"} [1-9]`);
    expect(await gateway.figures()).toEqual(expect.arrayContaining([counted('ok'), counted('unreachable')]));
  });
});

describe('meetings that are served by a Vexa', () => {
  const scene = async () => {
    let clock = () => NOON;
    const vexa = await startFakeVexa({ apiKey: KEY, secret: SECRET, now: () => clock() });
    stops.push(vexa.stop);
    const gateway = await started('vexa', vexa.url);
    clock = () => gateway.clock.now();
    return { vexa, gateway };
  };

  it('[MEET-07][MEET-13] move at once when it sends a webhook, and its secret is in no log', async () => {
    const { vexa, gateway } = await scene();
    const { id } = (await gateway.join()).body;
    const meeting = vexa.of('abc-defg-hij');
    vexa.go(meeting, 'active');
    expect(await told(gateway, 'vexa', vexa.webhook(meeting))).toBe(204);
    expect((await gateway.status(id)).body.status).toBe('recording');
    expect(JSON.stringify(gateway.log.lines)).not.toContain(SECRET.toString());
  });

  it('[MEET-09] are recorded once for two teams in one of them, until the last one has what it asked for', async () => {
    const { vexa, gateway } = await scene();
    const other = 'a0b1c2d3-6f0e-4b1c-9a53-0c1f6a1f2b3c';
    gateway.identity.teams.set(other, { id: other, known: true, plan: 'pro', archived: false, channel_ids: [] });
    gateway.identity.users.set('eve', aUser('eve', [memberOf(other)]));
    const [first, second] = [(await gateway.join()).body.id, (await gateway.join({ team_id: other }, { userId: 'eve' })).body.id];
    const meeting = vexa.of('abc-defg-hij');
    vexa.go(meeting, 'active');
    await gateway.passInSteps(240);
    await gateway.call('DELETE', `/v1/meetings/join/${first}`);
    await gateway.pass(60);
    expect(meeting.status).toBe('active');
    expect((await gateway.status(second, 'eve')).body.status).toBe('recording');
    vexa.go(meeting, 'completed', { completion_reason: 'left_alone' });
    meeting.file = RECORDED.bytes;
    for (let minute = 0; minute < 16; minute += 1) await gateway.pass(60);
    expect(vexa.meetings).toHaveLength(1);
    expect(gateway.captured.map(({ join_id }) => join_id).toSorted()).toEqual([first, second].toSorted());
    expect(gateway.captured.map(({ video_url }) => video_url)).toEqual([COPIED, COPIED]);
    expect(meeting.isErased).toBe(true);
  });

  it('[MEET-10] get one notetaker when the answer to its dispatch is lost', async () => {
    const { vexa, gateway } = await scene();
    vexa.losesAnswers = true;
    const { id } = (await gateway.join()).body;
    vexa.losesAnswers = false;
    await gateway.pass(10);
    vexa.go(vexa.of('abc-defg-hij'), 'active');
    expect(await seen(gateway, id, 240)).toBe('recording');
    expect(vexa.meetings).toHaveLength(1);
  });

  it('[MEET-01][MEET-07][MEET-09] go from the request to the recording', async () => {
    const { vexa, gateway } = await scene();
    const { id } = (await gateway.join()).body;
    const meeting = vexa.of('abc-defg-hij');
    vexa.go(meeting, 'awaiting_admission');
    expect(await seen(gateway, id, 240)).toBe('in_waiting_room');
    vexa.go(meeting, 'active');
    expect(await seen(gateway, id, 90)).toBe('recording');
    vexa.go(meeting, 'completed', { completion_reason: 'left_alone' });
    meeting.segments = RECORDED.segments.map(({ speaker, text, startSeconds, endSeconds }) => ({
      speaker: speaker ?? '',
      text,
      start: startSeconds,
      end: endSeconds,
      completed: true,
    }));
    expect(await seen(gateway, id, 360)).toBe('done');
    expect(gateway.captured).toEqual([]);
    meeting.file = RECORDED.bytes;
    await gateway.passInSteps(300);
    expect(gateway.captured).toEqual([
      expect.objectContaining({ join_id: id, duration_seconds: 61.5, segments: SPOKEN, video_url: COPIED }),
    ]);
  });
});
