import { describe, expect, it } from '@jest/globals';
import type { DispatchRequest } from '../src/ports.ts';
import { MEET, NOON } from './builders.ts';
import { describeNotetaker, type NotetakerWorld, PROVIDER_KEY } from './notetaker.contract.ts';
import { describeWire } from './notetaker-wire.contract.ts';
import { openRecallWorld, type RecallServer, recallEvent, recallWebhook } from './recall-world.ts';

const recall = {
  name: 'Recall.ai',
  statuses: ['joining', 'in_waiting_room', 'in_call', 'recording'],
  fatalReason: 'meeting_requires_sign_in',
  unknownRef: '0b85d2f9-d54a-47f6-b28d-4c63229f4035',
  hasFiles: true,
  open: openRecallWorld,
} as const;

describeNotetaker(recall);
describeWire(recall);

const SEND: DispatchRequest = { joinId: 'mj_1', meetingUrl: MEET, platform: 'google_meet', botName: 'Notetaker', tries: 0 };

describe('a bot of Recall.ai', () => {
  const within = async (test: (world: Awaited<ReturnType<typeof openRecallWorld>>) => Promise<void>, transcription?: 'none') => {
    const world = await openRecallWorld({ deadlineMs: 60_000, ...(transcription && { transcription }) });
    try {
      await test(world);
    } finally {
      await world.stop();
    }
  };
  const recorded = async ({ notetaker, move, keep }: NotetakerWorld): Promise<string> => {
    const { ref } = await notetaker.dispatch(SEND);
    keep('mj_1', { recording: 'there', transcript: 'there' });
    await move('mj_1', 'recording');
    await move('mj_1', 'done');
    return ref;
  };
  const keysOf = (server: RecallServer) =>
    server.requests.filter(({ method }) => method === 'POST').map(({ headers }) => headers['idempotency-key']);

  it('is sent with our link, its join, what to transcribe with and how long to keep it', () =>
    within(async ({ notetaker, server }) => {
      await notetaker.dispatch(SEND);
      const [sent] = server.requests;
      expect([sent?.method, sent?.path, sent?.headers.authorization, sent?.headers['idempotency-key']]).toEqual([
        'POST',
        '/api/v1/bot/',
        `Token ${PROVIDER_KEY}`,
        'mj_1:0',
      ]);
      expect(sent?.body).toEqual({
        meeting_url: MEET,
        bot_name: 'Notetaker',
        metadata: { join_id: 'mj_1' },
        recording_config: {
          transcript: { provider: { recallai_streaming: { mode: 'prioritize_accuracy', language_code: 'auto' } } },
          retention: { type: 'timed', hours: 72 },
        },
      });
    }));

  it('transcribes nothing where that is configured', () =>
    within(async ({ notetaker, server }) => {
      await notetaker.dispatch(SEND);
      expect(server.requests[0]?.body.recording_config).toEqual({ retention: { type: 'timed', hours: 72 } });
    }, 'none'));

  it('is asked for with another key once the pool was empty, and with the same one while an answer is not known', () =>
    within(async ({ notetaker, server, wire }) => {
      server.state.isPoolEmpty = true;
      for (const tries of [0, 1])
        await expect(notetaker.dispatch({ ...SEND, tries })).rejects.toMatchObject({ kind: 'transient', retryAfterSeconds: 30 });
      server.state.isPoolEmpty = false;
      wire?.fail('too many requests');
      await expect(notetaker.dispatch({ ...SEND, tries: 2 })).rejects.toMatchObject({ kind: 'transient' });
      wire?.fail(null);
      await notetaker.dispatch({ ...SEND, tries: 3 });
      expect(keysOf(server)).toEqual(['mj_1:0', 'mj_1:1', 'mj_1:2']);
    }));

  it('is asked for with the same key while a call with it is in flight, and with another one after a fault', () =>
    within(async ({ notetaker, server }) => {
      server.state.isInFlight = true;
      await expect(notetaker.dispatch(SEND)).rejects.toMatchObject({ kind: 'transient' });
      Object.assign(server.state, { isInFlight: false, isBroken: true });
      await expect(notetaker.dispatch({ ...SEND, tries: 1 })).rejects.toMatchObject({ kind: 'transient' });
      server.state.isBroken = false;
      await notetaker.dispatch({ ...SEND, tries: 2 });
      expect(keysOf(server)).toEqual(['mj_1:0', 'mj_1:0', 'mj_1:1']);
    }));

  it('is asked for again when Recall.ai says so, where it does', () =>
    within(async ({ notetaker, server }) => {
      server.fail({ status: 507, headers: { 'retry-after': '5' }, body: {} });
      await expect(notetaker.dispatch(SEND)).rejects.toMatchObject({ kind: 'transient', retryAfterSeconds: 5 });
    }));

  it('is asked for with each key again after a restart, since the answer to one may not be known', () =>
    within(async ({ notetaker, server, restarted }) => {
      server.state.isPoolEmpty = true;
      for (const tries of [0, 1]) await expect(notetaker.dispatch({ ...SEND, tries })).rejects.toMatchObject({ kind: 'transient' });
      server.state.isPoolEmpty = false;
      expect((await restarted().dispatch({ ...SEND, tries: 2 })).adopted).toBe(false);
      expect(keysOf(server)).toEqual(['mj_1:0', 'mj_1:1', 'mj_1:0', 'mj_1:1', 'mj_1:2']);
    }));

  it.each([
    ['a link that it cannot read', { meeting_url: ['Enter a valid URL.'] }, 'meeting_link_invalid'],
    ['something that it does not name', { detail: 'no' }, 'meeting_link_invalid'],
    ['a body that is a text', 'no', 'meeting_link_invalid'],
    ['a link and a setting', { meeting_url: ['Enter a valid URL.'], bot_name: ['Too long.'] }, 'meeting_link_invalid'],
    ['a setting of ours', { recording_config: ['Not in your plan.'] }, 'notetaker_error'],
    ['a tenant that lets no bots in', { code: 'teams_blacklisted_tenant' }, 'blocked_by_host_policy'],
  ])('is refused for good for %s', (_what, body, reason) =>
    within(async ({ notetaker, server }) => {
      server.fail({ status: 400, body });
      await expect(notetaker.dispatch(SEND)).rejects.toMatchObject({ kind: 'permanent', reason });
    }),
  );

  it('is found on any page, the one that is not over first', () =>
    within(async ({ notetaker, server, move }) => {
      await notetaker.dispatch(SEND);
      await move('mj_1', 'fatal');
      const [first] = server.bots;
      if (first === undefined) throw new Error('no bot was sent');
      for (const id of ['over-2', 'live-3'])
        server.bots.push({ ...first, id, status_changes: id === 'live-3' ? [] : first.status_changes });
      expect(await notetaker.find(SEND)).toBe('live-3');
      server.bots.pop();
      expect(await notetaker.find(SEND)).toBe(first.id);
      expect(server.requests.every(({ path }) => path === '/api/v1/bot/')).toBe(true);
    }));

  it('is not taken for that of another join when the filter does nothing', () =>
    within(async ({ notetaker, server }) => {
      for (const joinId of ['mj_2', 'mj_3', 'mj_4']) await notetaker.dispatch({ ...SEND, joinId });
      server.state.ignoresFilters = true;
      expect(await notetaker.find(SEND)).toBeNull();
      for (let n = 0; n < 10; n += 1) await notetaker.dispatch({ ...SEND, joinId: `mj_1${n}` });
      await expect(notetaker.find(SEND)).rejects.toMatchObject({ kind: 'transient' });
    }));

  it('is not taken for another one that is answered in its place', () =>
    within(async ({ notetaker, server, move }) => {
      const { ref } = await notetaker.dispatch(SEND);
      await notetaker.dispatch({ ...SEND, joinId: 'mj_2' });
      await move('mj_2', 'fatal');
      const { id, status_changes } = server.botOf('mj_2');
      server.fail({ status: 200, body: { id, status_changes } });
      await expect(notetaker.snapshot(ref)).rejects.toMatchObject({ kind: 'transient' });
      await expect(notetaker.recording(ref)).rejects.toMatchObject({ kind: 'transient' });
    }));

  it('that has not begun is dropped, and asked again to leave when it has begun meanwhile', () =>
    within(async ({ notetaker, server }) => {
      const { ref } = await notetaker.dispatch(SEND);
      await notetaker.leave(ref);
      expect(server.bots).toEqual([]);
      expect(await notetaker.snapshot(ref)).toBeNull();
      const second = await notetaker.dispatch({ ...SEND, joinId: 'mj_2' });
      server.state.beginsLate = true;
      await expect(notetaker.leave(second.ref)).rejects.toMatchObject({ kind: 'transient' });
      await notetaker.leave(second.ref);
      expect(await notetaker.snapshot(second.ref)).toMatchObject({ status: 'fatal', reason: 'cancelled' });
    }));

  it('tells title, times and people of its recording', () =>
    within(async (world) => {
      const ref = await recorded(world);
      expect(await world.notetaker.recording(ref)).toMatchObject({
        title: 'Weekly',
        startedAt: NOON,
        durationSeconds: 1800.5,
        participants: [
          { name: 'Ada', email: null },
          { name: null, email: 'ben@acme.example' },
        ],
      });
    }));

  it('has a recording without people when their list does not come within an hour', () =>
    within(async (world) => {
      const ref = await recorded(world);
      world.server.files['people'] = { status: 403, body: { detail: 'expired' } };
      await expect(world.notetaker.recording(ref)).rejects.toMatchObject({ kind: 'transient' });
      await world.clock.advance(91 * 60_000);
      expect(await world.notetaker.recording(ref)).toMatchObject({ title: 'Weekly', participants: [], open: expect.any(Function) });
      expect(world.wire?.told()).toContain('participants not read');
    }));

  it('has a recording once its video is ready, and no title where it has none', () =>
    within(async (world) => {
      const ref = await recorded(world);
      world.server.state.title = '';
      expect(await world.notetaker.recording(ref)).toMatchObject({ title: null, open: expect.any(Function) });
      world.server.state.video = 'processing';
      expect(await world.notetaker.recording(ref)).toBe('pending');
      world.server.state.video = 'failed';
      expect(await world.notetaker.recording(ref)).toMatchObject({ open: null });
    }));

  it('has a recording without people when their list cannot be read', () =>
    within(async (world) => {
      const ref = await recorded(world);
      world.server.files['people'] = { status: 200, body: { surprise: true } };
      expect(await world.notetaker.recording(ref)).toMatchObject({ title: 'Weekly', participants: [] });
    }));

  it.each([
    ['a page', { status: 200, headers: { 'content-type': 'text/html' }, body: Buffer.from('<html>') }],
    ['another shape', { status: 200, body: { detail: 'no' } }],
    ['an expired link', { status: 403, body: { detail: 'expired' } }],
    ['nothing', { status: 200, body: Buffer.from('') }],
  ])('has a transcript that may be readable later when its file is %s', (_what, file) =>
    within(async (world) => {
      const ref = await recorded(world);
      world.server.files['transcript'] = file;
      await expect(world.notetaker.transcript(ref)).rejects.toMatchObject({ name: 'NotetakerError', kind: 'transient' });
    }),
  );

  it('opens its video by a fresh link each time, without our key, until it was deleted', () =>
    within(async (world) => {
      const ref = await recorded(world);
      const recording = await world.notetaker.recording(ref);
      if (typeof recording === 'string' || recording.open === null) throw new Error('there is no video');
      world.server.state.token = 'renewed';
      await recording.open();
      const opened = world.server.requests.at(-1);
      expect([opened?.path, opened?.query.get('token'), opened?.headers.authorization]).toEqual(['/download/video', 'renewed', undefined]);
      await world.notetaker.erase?.(ref);
      await expect(recording.open()).rejects.toMatchObject({ kind: 'permanent' });
    }));

  it('says nothing of a webhook that is late', () =>
    within(async ({ notetaker, server, clock }) => {
      await notetaker.dispatch(SEND);
      const webhook = recallWebhook('msg_1', recallEvent(server.botOf('mj_1')));
      expect(notetaker.verify(webhook)).toEqual({ id: 'msg_1', joinId: 'mj_1', ref: server.botOf('mj_1').id });
      await clock.advance(301_000);
      expect(notetaker.verify(webhook)).toBeNull();
    }));
});
