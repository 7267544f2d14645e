import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isFinal, mayMove } from '../../domain/join.ts';
import { Bot, linkOf, recordingOf, runOf, segmentsOf, snapshotOf, Turns } from './recall-answers.ts';

type Change = string | readonly [code: string, subCode: string];

const botAt = (...changes: readonly Change[]): Bot =>
  Bot.parse({
    id: 'b1',
    status_changes: changes.map((change) => {
      const [code, sub_code = null] = typeof change === 'string' ? [change] : change;
      return { code, sub_code, message: null, created_at: '2026-03-02T12:00:00Z' };
    }),
  });

const JOINED = ['joining_call', 'in_waiting_room', 'in_call_not_recording'] as const;

describe('where a bot of Recall.ai is', () => {
  it.each([
    [[], 'dispatched'],
    [['ready'], 'dispatched'],
    [['joining_call'], 'joining'],
    [['joining_call', 'in_waiting_room'], 'in_waiting_room'],
    [JOINED, 'in_call'],
    [[...JOINED, 'recording_permission_allowed'], 'in_call'],
    [[...JOINED, 'recording_permission_denied'], 'in_call'],
    [[...JOINED, 'in_call_recording'], 'recording'],
    [[...JOINED, 'in_call_recording', 'in_call_not_recording'], 'recording'],
    [[...JOINED, 'in_call_recording', 'recording_permission_denied'], 'recording'],
    [[...JOINED, 'in_call_recording', 'recording_done'], 'recording'],
    [[...JOINED, 'in_call_recording', 'call_ended'], 'done'],
    [[...JOINED, 'in_call_recording', 'call_ended', 'done', 'media_expired'], 'done'],
    [[...JOINED, 'in_call_recording', 'fatal'], 'done'],
    [[...JOINED, 'call_ended'], 'fatal'],
    [[...JOINED, 'call_ended', 'done'], 'fatal'],
    [['joining_call', 'fatal'], 'fatal'],
    [['joining_call', 'analysis_done', 'media_expired', 'a_code_of_tomorrow'], 'joining'],
    [['in_call_recording', 'joining_call'], 'recording'],
  ])('after %j is %s', (changes, status) => {
    const { status: told, recordedEver } = snapshotOf(botAt(...changes));
    expect([told, recordedEver]).toEqual([status, changes.includes('in_call_recording' as never)]);
  });

  it.each([
    ['meeting_requires_sign_in', 'meeting_requires_sign_in'],
    ['timeout_exceeded_waiting_room', 'waiting_room_timeout'],
    ['call_ended_by_platform_waiting_room_timeout', 'waiting_room_timeout'],
    ['bot_kicked_from_waiting_room', 'entry_denied'],
    ['bot_kicked_from_call', 'removed_from_meeting'],
    ['timeout_exceeded_noone_joined', 'nobody_joined'],
    ['timeout_exceeded_in_call_not_recording', 'recording_permission_denied'],
    ['zoom_local_recording_request_denied_by_host', 'recording_permission_denied'],
    ['google_meet_captcha', 'captcha_required'],
    ['zoom_sdk_key_blocked_by_host_admin', 'blocked_by_host_policy'],
    ['zoom_registration_required', 'meeting_requires_registration'],
    ['bot_received_leave_call', 'cancelled'],
    ['a_sub_code_of_tomorrow', 'a_sub_code_of_tomorrow'],
    ['Text, of any length.', 'notetaker_error'],
  ])('says %s as %s', (subCode, reason) => {
    expect(snapshotOf(botAt('joining_call', ['fatal', subCode])).reason).toBe(reason);
  });

  it('keeps the first cause of its end', () => {
    const bot = botAt('joining_call', ['call_ended', 'timeout_exceeded_waiting_room'], ['fatal', 'bot_errored']);
    expect(snapshotOf(bot).reason).toBe('waiting_room_timeout');
    expect(snapshotOf(botAt('joining_call', 'call_ended', ['done', 'meeting_full'])).reason).toBe('meeting_full');
  });

  it('says that the host lets it record nothing, until it records', () => {
    expect(snapshotOf(botAt(...JOINED, ['recording_permission_denied', 'zoom_local_recording_disabled'])).isDenied).toBe(true);
    expect(snapshotOf(botAt(...JOINED, 'recording_permission_denied', 'in_call_recording')).isDenied).toBe(false);
  });

  it('[MEET-07] only goes forward as it tells more, and is done when it recorded', () => {
    const codes = fc.constantFrom(
      ...[...JOINED, 'ready', 'recording_permission_denied', 'in_call_recording', 'recording_done', 'call_ended', 'done', 'fatal', 'odd'],
    );
    fc.assert(
      fc.property(fc.array(codes, { maxLength: 12 }), (told) => {
        const seen = told.map((_, n) => snapshotOf(botAt(...told.slice(0, n + 1))));
        for (const [n, now] of seen.entries()) {
          const before = seen[n - 1];
          if (before && now.status !== before.status && !isFinal(before.status)) expect(mayMove(before.status, now.status)).toBe(true);
          if (isFinal(now.status)) expect(now.status).toBe(now.recordedEver ? 'done' : 'fatal');
        }
      }),
    );
  });

  it('reads any JSON as a bot, or as none', () => {
    const bots = fc.record({ id: fc.string(), status_changes: fc.array(fc.jsonValue()), recordings: fc.jsonValue() }, { requiredKeys: [] });
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), bots), (odd) => {
        const { data } = Bot.safeParse(odd);
        if (data !== undefined) expect([typeof snapshotOf(data).status, typeof recordingOf(data)]).toContain('string');
        const run = runOf(odd);
        if (run !== null) expect(run.ref).toMatch(/^[\w-]+$/);
        const { data: turns = [] } = Turns.safeParse(odd);
        for (const { startSeconds, endSeconds } of segmentsOf(turns)) expect(endSeconds).toBeGreaterThanOrEqual(startSeconds);
      }),
    );
  });
});

describe('what a bot of Recall.ai recorded', () => {
  const recordingBot = (codes: readonly (string | null)[], ...changes: readonly string[]): Bot =>
    Bot.parse({ ...botAt('in_call_recording', ...changes), recordings: codes.map((code) => ({ status: code && { code } })) });

  it.each([
    [[], ['call_ended'], 'pending'],
    [[], ['call_ended', 'done'], 'none'],
    [[], ['fatal'], 'none'],
    [['processing'], ['done'], 'pending'],
    [['paused'], [], 'pending'],
    [['failed'], ['call_ended'], 'pending'],
    [['failed', 'deleted'], ['done'], 'none'],
  ])('of recordings %j after %j is %s', (codes, changes, expected) => {
    expect(recordingOf(recordingBot(codes, ...changes))).toBe(expected);
  });

  it('is the recording that is ready', () => {
    expect(recordingOf(recordingBot(['processing', 'done', 'done'], 'done'))).toMatchObject({ status: { code: 'done' } });
  });

  it.each([
    [null, 'none'],
    [undefined, 'none'],
    [{ status: { code: 'processing' }, data: { download_url: null } }, 'pending'],
    [{ status: { code: 'failed' }, data: null }, 'none'],
    [{ status: { code: 'deleted' }, data: { download_url: 'https://x' } }, 'none'],
    [{ status: { code: 'done' }, data: { download_url: null } }, 'none'],
    [{ status: { code: 'done' }, data: { download_url: 'https://x' } }, { link: 'https://x' }],
    [{ data: { download_url: 'https://x' } }, { link: 'https://x' }],
    [{ status: { code: 'a_code_of_tomorrow' } }, 'pending'],
  ])('has a file %j: %j', (artifact, link) => {
    expect(linkOf(artifact)).toEqual(link);
  });
});

describe('a transcript of Recall.ai', () => {
  const at = (relative: number | null) => (relative === null ? null : { relative });
  const word = (text: string, from: number | null, to: number | null) => ({ text, start_timestamp: at(from), end_timestamp: at(to) });
  const segments = (...turns: readonly object[]) => segmentsOf(Turns.parse(turns));

  it('is one segment a turn, in the order of their times', () => {
    const later = { participant: { id: 1, name: 'Ada' }, words: [word('Yes,', 5, 6), word('indeed.', 6, 7)] };
    const sooner = { participant: { id: 2, name: null }, words: [word('Really?', 1, 2)] };
    expect(segments(later, sooner)).toEqual([
      { speaker: null, text: 'Really?', startSeconds: 1, endSeconds: 2 },
      { speaker: 'Ada', text: 'Yes, indeed.', startSeconds: 5, endSeconds: 7 },
    ]);
  });

  it.each([
    ['no words', { participant: { name: 'Ada' }, words: [] }],
    ['blank words', { participant: { name: 'Ada' }, words: [word(' ', 1, 2)] }],
  ])('leaves turns with %s out', (_what, turn) => {
    expect(segments(turn)).toEqual([]);
  });

  it.each([
    ['no end', [word('a', 3, null)], [3, 3]],
    ['no start', [word('a', null, 4)], [4, 4]],
    ['no time', [word('a', null, null)], [0, 0]],
    ['an end before its start', [word('a', 4, 2)], [4, 4]],
    ['a start before the recording', [word('a', -1, 2)], [0, 2]],
    ['no end of the last word', [word('a', 1, 2), word('b', 3, null)], [1, 3]],
  ])('has a turn with %s', (_what, words, [startSeconds, endSeconds]) => {
    expect(segments({ participant: null, words })[0]).toMatchObject({ startSeconds, endSeconds });
  });

  it('has no name for an empty one', () => {
    expect(segments({ participant: { name: '' }, words: [word('a', 1, 2)] })[0]?.speaker).toBeNull();
  });
});

describe('the run that a webhook of Recall.ai is about', () => {
  const bot = { id: 'b1', metadata: { join_id: 'mj_1' } };

  it.each([
    ['of a bot', { event: 'bot.done', data: { data: { code: 'done', sub_code: null }, bot } }],
    ['of a recording', { event: 'recording.done', data: { data: { code: 'done' }, recording: { id: 'r1', metadata: {} }, bot } }],
    ['of a transcript', { event: 'transcript.failed', data: { transcript: { id: 't1' }, recording: { id: 'r1' }, bot } }],
  ])('is named by one %s', (_what, body) => {
    expect(runOf(body)).toEqual({ joinId: 'mj_1', ref: 'b1' });
  });

  it.each([
    ['of an older workspace', { event: 'bot.status_change', data: { bot_id: 'b1', status: { code: 'done', sub_code: null } } }],
    ['without metadata', { event: 'bot.done', data: { bot: { id: 'b1', metadata: {} } } }],
  ])('is found by its bot in one %s', (_what, body) => {
    expect(runOf(body)).toEqual({ joinId: null, ref: 'b1' });
  });

  it.each([
    ['no bot', { event: 'recording.done', data: { bot: null } }],
    ['a bot that is no id', { event: 'bot.done', data: { bot: { id: '../../x', metadata: { join_id: 'mj_1' } } } }],
    ['a join that is no text', { event: 'bot.done', data: { bot: { id: 'b1', metadata: { join_id: 7 } } } }],
    ['nothing', null],
  ])('is none for %s', (_what, body) => {
    expect(runOf(body)).toBeNull();
  });
});
