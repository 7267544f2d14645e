import { afterEach, describe, expect, it } from '@jest/globals';
import { MEETING, startGateway, type TestGateway } from './gateway.ts';
import { RECORDED } from './notetaker.contract.ts';
import { startProviderServer } from './provider-server.ts';
import { type RecallServer, recallSettings, startRecallServer } from './recall-world.ts';

const ZOOM = 'https://zoom.us/j/1234567890?pwd=sesamopen';

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop();
});

const served = async (options: Parameters<typeof startGateway>[0] & { readonly server?: RecallServer } = {}) => {
  const server = options.server ?? (await startRecallServer());
  if (options.server === undefined) stops.push(server.stop);
  const gateway = await startGateway({ ...options, environment: recallSettings(server) });
  stops.push(gateway.stop);
  const seen = async (id: string, seconds: number) => {
    await gateway.pass(seconds);
    return (await gateway.status(id)).body;
  };
  return { server, gateway, seen };
};

const passMinutes = async ({ pass }: TestGateway, minutes: number): Promise<void> => {
  for (let minute = 0; minute < minutes; minute += 1) await pass(60);
};

describe('meetings that are served by Recall.ai', () => {
  it('[MEET-01][MEET-07][MEET-08][MEET-09] go from the request to the recording, which the provider then erases', async () => {
    const { server, gateway, seen } = await served();
    const { id } = (await gateway.join()).body;
    const bot = server.botOf(id);
    server.move(bot, 'joining_call');
    expect(await seen(id, 240)).toMatchObject({ status: 'joining', bot_in_call: false });
    server.move(bot, 'in_waiting_room');
    expect(await seen(id, 90)).toMatchObject({ status: 'in_waiting_room', bot_in_call: false });
    server.move(bot, 'in_call_not_recording');
    expect(await seen(id, 90)).toMatchObject({ status: 'in_call', bot_in_call: true });
    server.move(bot, 'in_call_recording');
    expect(await seen(id, 180)).toMatchObject({ status: 'recording', bot_in_call: true });
    server.move(bot, 'call_ended', 'call_ended_by_host');
    expect(await seen(id, 400)).toMatchObject({ status: 'done', bot_in_call: false, fatal_reason: null });
    expect(gateway.captured).toEqual([]);
    server.move(bot, 'done');
    bot.kept = { recording: 'there', transcript: 'there' };
    await gateway.passInSteps(300);
    expect(gateway.captured).toEqual([
      expect.objectContaining({
        join_id: id,
        title: RECORDED.title,
        duration_seconds: 1800.5,
        video_url: expect.stringMatching(/^https:\/\/\S+\/[0-9a-f]{64}$/),
        segments: RECORDED.segments.map(({ speaker, text, startSeconds, endSeconds }) => ({
          speaker: speaker && { id: null, name: speaker },
          text,
          start_time_seconds: startSeconds,
          end_time_seconds: endSeconds,
        })),
        participants: expect.arrayContaining([expect.objectContaining({ user_id: 'ben', is_external: false })]),
      }),
    ]);
    expect(bot.isErased).toBe(true);
    expect(server.bots).toHaveLength(1);
  });

  it('[MEET-05] end with the reason of the provider', async () => {
    const { server, gateway, seen } = await served();
    const { id } = (await gateway.join()).body;
    server.move(server.botOf(id), 'in_waiting_room');
    server.move(server.botOf(id), 'call_ended', 'bot_kicked_from_waiting_room');
    server.move(server.botOf(id), 'done');
    expect(await seen(id, 240)).toMatchObject({ status: 'fatal', fatal_reason: 'entry_denied' });
  });

  it('[MEET-14] end when a requester ends them, also before the notetaker has begun', async () => {
    const { server, gateway } = await served();
    const first = (await gateway.join()).body;
    await gateway.call('DELETE', `/v1/meetings/join/${first.id}`);
    await gateway.settle();
    expect(server.bots).toEqual([]);
    const second = (await gateway.join()).body;
    server.move(server.botOf(second.id), 'in_waiting_room');
    await gateway.call('DELETE', `/v1/meetings/join/${second.id}`);
    await gateway.settle();
    expect(server.botOf(second.id).status_changes.at(-1)).toMatchObject({ code: 'call_ended', sub_code: 'bot_received_leave_call' });
    expect((await gateway.status(second.id)).body).toMatchObject({ status: 'fatal', fatal_reason: 'cancelled' });
  });

  it('[MEET-10] wait for a notetaker while there is none to be had', async () => {
    const { server, gateway } = await served();
    server.state.isPoolEmpty = true;
    const { id } = (await gateway.join()).body;
    await passMinutes(gateway, 4);
    expect((await gateway.status(id)).body.status).toBe('dispatched');
    server.state.isPoolEmpty = false;
    await passMinutes(gateway, 4);
    expect(server.bots.map(({ joinId }) => joinId)).toEqual([id]);
    expect((await gateway.status(id)).body.status).toBe('dispatched');
  });

  it('[MEET-13] keep key, passcode and the links of the provider out of logs, store and events', async () => {
    const { server, gateway, seen } = await served();
    const { id } = (await gateway.join({ meeting_url: ZOOM })).body;
    const bot = server.botOf(id);
    server.fail({ status: 400, body: { meeting_url: [`${ZOOM} is odd`] } });
    await gateway.join();
    server.fail('html');
    await seen(id, 240);
    server.fail(null);
    bot.kept = { recording: 'there', transcript: 'there' };
    for (const code of ['in_call_recording', 'call_ended', 'done']) server.move(bot, code);
    await passMinutes(gateway, 15);
    expect(gateway.captured).toHaveLength(1);
    const kept = await Promise.all(['joins', 'quotas'].map((name) => gateway.database.collection(name).find({})));
    const told = JSON.stringify([kept, gateway.log.lines, gateway.captured, await gateway.figures()]);
    expect(told).toContain(id);
    expect(told).not.toMatch(/sesamopen|1234567890|k3y-that|token=signed|\/download\/|is odd|Request blocked/);
  });
});

describe('Recall.ai in trouble', () => {
  it('[MEET-10] answers nonsense for an hour: what did not record ends, what recorded is captured, and nobody is sent twice', async () => {
    const { server, gateway } = await served();
    const recording = (await gateway.join()).body.id;
    server.move(server.botOf(recording), 'in_call_recording');
    const waiting = (await gateway.join({ meeting_url: ZOOM })).body.id;
    server.move(server.botOf(waiting), 'joining_call');
    await gateway.passInSteps(240);
    server.fail('nonsense');
    const never = (await gateway.join({ meeting_url: 'https://meet.google.com/aaa-bbbb-ccc' })).body.id;
    await passMinutes(gateway, 60);
    const statusOf = async (id: string) => (await gateway.status(id)).body;
    expect(await statusOf(never)).toMatchObject({ status: 'fatal', fatal_reason: 'notetaker_unavailable' });
    expect(await statusOf(waiting)).toMatchObject({ status: 'fatal' });
    expect(await statusOf(recording)).toMatchObject({ status: 'recording' });
    server.fail(null);
    const bot = server.botOf(recording);
    for (const code of ['call_ended', 'done']) server.move(bot, code);
    bot.kept = { recording: 'there', transcript: 'there' };
    await passMinutes(gateway, 15);
    expect(gateway.captured.map(({ join_id }) => join_id)).toEqual([recording]);
    expect(server.bots.map(({ joinId }) => joinId)).toEqual([recording, waiting]);
    // The notetaker of the join that ended meanwhile is told to leave.
    expect(server.botOf(waiting).status_changes.at(-1)).toMatchObject({ sub_code: 'bot_received_leave_call' });
  });

  it('loses its answer: the bot that was sent is adopted', async () => {
    const { server, gateway } = await served();
    server.fail('an answer that is lost');
    const { id } = (await gateway.join()).body;
    expect(server.bots).toHaveLength(1);
    server.fail(null);
    server.move(server.botOf(id), 'joining_call');
    await passMinutes(gateway, 5);
    expect((await gateway.status(id)).body.status).toBe('joining');
    expect(server.bots).toHaveLength(1);
    expect(gateway.log.lines.filter(({ message }) => message === 'notetaker adopted')).toHaveLength(1);
  });

  it('loses its answer, and so do we: another process adopts the bot that was sent', async () => {
    const { server, gateway } = await served();
    server.fail('an answer that is lost');
    const { id } = (await gateway.join()).body;
    await gateway.stop();
    server.fail(null);
    const { gateway: second } = await served({ server, database: gateway.database, clock: gateway.clock });
    server.move(server.botOf(id), 'joining_call');
    await passMinutes(second, 6);
    expect((await second.status(id)).body.status).toBe('joining');
    expect(server.bots).toHaveLength(1);
  });

  it('loses its answer, and the requester ends the join: the bot that was sent is told to leave', async () => {
    const { server, gateway } = await served();
    server.fail('an answer that is lost');
    const { id } = (await gateway.join()).body;
    await gateway.call('DELETE', `/v1/meetings/join/${id}`);
    server.move(server.botOf(id), 'in_waiting_room');
    server.fail(null);
    await passMinutes(gateway, 2);
    expect(server.bots).toHaveLength(1);
    expect(server.botOf(id).status_changes.at(-1)).toMatchObject({ code: 'call_ended', sub_code: 'bot_received_leave_call' });
    expect((await gateway.status(id)).body).toMatchObject({ status: 'fatal', fatal_reason: 'cancelled' });
  });

  it('[MEET-10] loses its answer and is away for sixteen minutes: the bot that was sent is told to leave when it is back', async () => {
    const { server, gateway } = await served();
    server.fail('an answer that is lost');
    const { id } = (await gateway.join()).body;
    server.move(server.botOf(id), 'in_call_recording');
    server.fail('a connection that is cut');
    await passMinutes(gateway, 16);
    expect((await gateway.status(id)).body).toMatchObject({ status: 'fatal', fatal_reason: 'notetaker_unavailable' });
    server.fail(null);
    await passMinutes(gateway, 10);
    expect(server.bots).toHaveLength(1);
    expect(server.botOf(id).status_changes.at(-1)).toMatchObject({ code: 'call_ended', sub_code: 'bot_received_leave_call' });
  });

  it('[MEET-10] loses half of its answers while two processes share the work: each join has one bot', async () => {
    const { server, gateway: first } = await served();
    const { gateway: second } = await served({ server, database: first.database, clock: first.clock });
    const made: string[] = [];
    for (let n = 0; n < 12; n += 1) {
      server.fail(n % 2 === 0 ? 'an answer that is lost' : null);
      const meeting_url = `https://meet.google.com/aaa-aaaa-aa${String.fromCharCode(97 + n)}`;
      const { body } = await (n % 3 === 0 ? first : second).call('POST', '/v1/meetings/join', { ...MEETING, meeting_url });
      made.push(body.id);
      await Promise.all([first.settle(), second.settle()]);
    }
    server.fail(null);
    for (let minute = 0; minute < 5; minute += 1) {
      await first.clock.advance(60_000);
      await Promise.all([first.settle(), second.settle()]);
    }
    expect(server.bots.map(({ joinId }) => joinId).toSorted()).toEqual(made.toSorted());
    const statuses = await Promise.all(made.map(async (id) => (await first.status(id)).body.status));
    expect(new Set(statuses)).toEqual(new Set(['dispatched']));
  });

  it('redirects: nobody else gets key or link', async () => {
    const elsewhere = await startProviderServer(() => ({ status: 201, body: { id: 'stolen' } }));
    stops.push(elsewhere.stop);
    const { server, gateway } = await served();
    server.fail({ status: 307, headers: { location: `${elsewhere.url}/api/v1/bot/` }, body: {} });
    const { id } = (await gateway.join()).body;
    await passMinutes(gateway, 16);
    expect((await gateway.status(id)).body).toMatchObject({ status: 'fatal', fatal_reason: 'notetaker_unavailable' });
    expect(elsewhere.requests).toEqual([]);
  });
});
