import { describe, expect, it } from '@jest/globals';
import { later, NOON } from '../../../test/builders.ts';
import { Bot, isSettled, recordedSpan, segmentsOf, snapshotOf, transcriptState, Utterances } from './attendee-run.ts';

const JOINED = ['join_requested', 'joined_meeting'];
const RECORDING = [...JOINED, 'recording_permission_granted'];

/** `events`: types in their order, a minute apart, with their sub type behind a slash. */
const aBot = (state: string, events: readonly string[] = [], fields: object = {}): Bot =>
  Bot.parse({
    id: 'bot_1',
    state,
    recording_state: 'not_started',
    transcription_state: 'not_started',
    events: events.map((event, index) => {
      const [type, sub_type = null] = event.split('/');
      return { type, sub_type, created_at: later(60 * index).toISOString() };
    }),
    ...fields,
  });
const told = (state: string, events?: readonly string[], fields?: object) => {
  const snapshot = snapshotOf(aBot(state, events, fields));
  return snapshot && [snapshot.status, snapshot.recordedEver, snapshot.isLeaving ?? false];
};

describe('a state of Attendee', () => {
  it.each([
    ['ready', [], 'dispatched'],
    ['scheduled', [], 'dispatched'],
    ['staged', [], 'dispatched'],
    ['joining', ['join_requested'], 'joining'],
    ['waiting_room', ['join_requested', 'put_in_waiting_room'], 'in_waiting_room'],
    ['joined_not_recording', JOINED, 'in_call'],
    ['joined_recording_permission_denied', JOINED, 'in_call'],
    ['joining_breakout_room', JOINED, 'in_call'],
    ['leaving_breakout_room', JOINED, 'in_call'],
    ['a_state_of_tomorrow', JOINED, 'in_call'],
    ['a_state_of_tomorrow', [], 'dispatched'],
  ] as const)('[MEET-07] %s, after %j, is %s', (state, events, status) => {
    expect(told(state, events)).toEqual([status, false, false]);
  });

  it.each(['joined_recording', 'joined_recording_paused', 'joining_breakout_room', 'joined_recording_permission_denied'])(
    '[MEET-07] %s is recording once it has recorded',
    (state) => expect(told(state, RECORDING)).toEqual(['recording', true, false]),
  );

  it('[MEET-07] leaving is where it was before', () => {
    const leaving = (events: readonly string[]) => told('leaving', [...events, 'leave_requested/user_requested']);
    expect(leaving(['join_requested'])).toEqual(['joining', false, true]);
    expect(leaving(['join_requested', 'put_in_waiting_room'])).toEqual(['in_waiting_room', false, true]);
    expect(leaving(JOINED)).toEqual(['in_call', false, true]);
    expect(leaving(RECORDING)).toEqual(['recording', true, true]);
  });

  it.each(['post_processing', 'ended', 'fatal_error'])('[MEET-07] %s is done when it recorded, else fatal', (state) => {
    expect(told(state, RECORDING)).toEqual(['done', true, false]);
    expect(told(state, JOINED, { recording_state: 'complete' })).toEqual(['done', true, false]);
    expect(told(state, JOINED)).toEqual(['fatal', false, false]);
  });

  it('is none of a bot whose id could lead elsewhere', () => {
    for (const id of ['', '..', 'a/b', 'a?b', 'ü', 'x'.repeat(101)]) expect(Bot.safeParse({ ...aBot('ready'), id }).success).toBe(false);
  });

  it('[MEET-05] is told by the events in the order in which they happened, in whatever order they come', () => {
    const bot = aBot('ended', ['join_requested', 'leave_requested/user_requested', 'meeting_ended']);
    const told = bot.events.map((event) => ({ ...event, created_at: event.created_at.toISOString() })).toReversed();
    expect(Bot.parse({ ...bot, events: told })).toEqual(bot);
  });

  it('data_deleted tells nothing', () => expect(told('data_deleted', RECORDING)).toBeNull());
});

describe('a reason of Attendee', () => {
  const reason = (state: string, ...events: string[]) => snapshotOf(aBot(state, events))?.reason;

  it.each([
    ['login_required', 'meeting_requires_sign_in'],
    ['bot_login_attempt_failed', 'meeting_requires_sign_in'],
    ['meeting_not_found', 'meeting_not_found'],
    ['meeting_not_started_waiting_for_host', 'meeting_not_started'],
    ['waiting_room_timeout_exceeded', 'waiting_room_timeout'],
    ['request_to_join_denied', 'entry_denied'],
    ['unable_to_connect_to_meeting', 'meeting_password_incorrect'],
    ['blocked_by_captcha', 'captcha_required'],
    ['zoom_authorization_failed', 'zoom_authorization_required'],
    ['zoom_app_cannot_join_anonymously', 'zoom_authorization_required'],
    ['unpublished_zoom_app', 'zoom_authorization_required'],
    ['authorized_user_not_in_meeting_timeout_exceeded', 'zoom_authorization_required'],
    ['zoom_meeting_status_failed', 'notetaker_error'],
    ['zoom_sdk_internal_error', 'notetaker_error'],
    ['ui_element_not_found', 'notetaker_error'],
    ['process_terminated', 'notetaker_error'],
    ['heartbeat_timeout', 'notetaker_error'],
    ['bot_not_launched', 'notetaker_error'],
    ['attendee_internal_error', 'notetaker_error'],
    ['global_runtime_timeout', 'notetaker_error'],
    ['rtmp_connection_failed', 'notetaker_error'],
    ['out_of_credits', 'notetaker_unavailable'],
    ['a_reason_of_tomorrow', 'a_reason_of_tomorrow'],
    ['Not A Word <script>', 'notetaker_error'],
    ['x'.repeat(65), 'notetaker_error'],
  ])('[MEET-05] %s is %s', (word, ours) => {
    expect(reason('fatal_error', 'join_requested', `could_not_join_meeting/${word}`)).toBe(ours);
  });

  it('[MEET-05] is that of the fault, even after a request to leave', () => {
    expect(reason('fatal_error', ...JOINED, 'leave_requested/user_requested', 'fatal_error/out_of_credits')).toBe('notetaker_unavailable');
  });

  it('[MEET-05] is the first one of a run that ended without a fault', () => {
    const leave = 'leave_requested/auto_leave_only_participant_in_meeting';
    expect(reason('ended', ...JOINED, leave, 'left_meeting', 'post_processing_completed')).toBe('nobody_joined');
    expect(reason('post_processing', 'join_requested', 'meeting_ended')).toBe('meeting_ended');
    expect(reason('ended', ...JOINED, 'recording_permission_denied/request_timed_out', 'meeting_ended')).toBe(
      'recording_permission_denied',
    );
    expect(reason('ended', ...JOINED, 'leave_requested/user_requested', 'meeting_ended')).toBe('cancelled');
    expect(reason('ended', ...JOINED)).toBeNull();
  });

  it.each([
    'host_denied_permission',
    'request_timed_out',
    'host_client_cannot_grant_permission',
    'webinar_attendee_needs_panelist_promotion',
  ])('tells that the host does not let it record: %s', (word) => {
    const denied = [...JOINED, `recording_permission_denied/${word}`];
    expect(snapshotOf(aBot('joined_recording_permission_denied', denied))?.isDenied).toBe(true);
    expect(snapshotOf(aBot('joined_recording', [...denied, 'recording_permission_granted']))?.isDenied).toBe(false);
  });
});

describe('a run of Attendee that is over', () => {
  it('recorded from the permission to the end of the meeting', () => {
    const bot = aBot('ended', [...RECORDING, 'meeting_ended', 'post_processing_completed']);
    expect(recordedSpan(bot)).toEqual({ startedAt: later(120), durationSeconds: 60 });
    expect(recordedSpan(aBot('ended', JOINED))).toEqual({ startedAt: null, durationSeconds: null });
  });

  it.each([
    ['joined_recording', 'in_progress', 'pending'],
    ['post_processing', 'complete', 'pending'],
    ['ended', 'in_progress', 'pending'],
    ['ended', 'complete', 'ready'],
    ['ended', 'failed', 'ready'],
    ['fatal_error', 'failed', 'ready'],
    ['ended', 'not_started', 'none'],
    ['data_deleted', 'complete', 'none'],
  ] as const)('[MEET-09] has, when it is %s and the transcript %s, a transcript that is %s', (state, transcription_state, transcript) => {
    expect(transcriptState(aBot(state, RECORDING, { transcription_state }), later(3719))).toBe(transcript);
  });

  it('has what there is an hour after its last event', () => {
    for (const state of ['leaving', 'post_processing', 'ended']) {
      const bot = aBot(state, RECORDING, { transcription_state: 'in_progress' });
      expect([isSettled(bot, later(3720)), transcriptState(bot, later(3720))]).toEqual([true, 'ready']);
    }
    expect(isSettled(aBot('joined_recording', RECORDING), later(1e6))).toBe(false);
  });
});

describe('a transcript of Attendee', () => {
  const utterance = (fields: object) => ({
    speaker_name: 'Ada',
    timestamp_ms: 1079,
    duration_ms: 1500,
    transcription: { transcript: 'Yes.' },
    ...fields,
  });
  const segments = (utterances: readonly object[], startedAt: Date | null = NOON) => segmentsOf(Utterances.parse(utterances), startedAt);

  it('[MEET-09] counts from the beginning of the recording, whether its times do or not', () => {
    const epoch = NOON.getTime() + 1079;
    for (const timestamp_ms of [1079, epoch])
      expect(segments([utterance({ timestamp_ms })])).toEqual([{ speaker: 'Ada', text: 'Yes.', startSeconds: 1.079, endSeconds: 2.579 }]);
    expect(segments([utterance({ timestamp_ms: NOON.getTime() - 5000 })])).toMatchObject([{ startSeconds: 0, endSeconds: 1.5 }]);
    expect(segments([utterance({ timestamp_ms: -5 })])).toMatchObject([{ startSeconds: 0 }]);
    expect(segments([utterance({ timestamp_ms: epoch + 2000 }), utterance({ timestamp_ms: epoch })], null)).toMatchObject([
      { startSeconds: 0 },
      { startSeconds: 2 },
    ]);
  });

  it('has plain texts in old versions, and leaves out who said nothing', () => {
    const plain = { transcription: 'Old.' };
    const empty = [
      { transcription: null },
      { transcription: { transcript: '' } },
      { transcription: ' ' },
      { transcription: { words: [] } },
    ];
    expect(segments([plain, ...empty].map(utterance))).toMatchObject([{ text: 'Old.' }]);
  });

  it('is sorted by time, then by speaker, who is null when nobody is named', () => {
    const at = (timestamp_ms: number, speaker_name: string | null) => utterance({ timestamp_ms, speaker_name });
    const spoken = segments([at(2000, 'Zoe'), at(1000, 'Zoe'), at(1000, 'Ada'), at(1000, null), at(0, ' '), at(500, 'Ben')]);
    expect(spoken.map(({ speaker, startSeconds }) => [startSeconds, speaker])).toEqual([
      [0, null],
      [0.5, 'Ben'],
      [1, null],
      [1, 'Ada'],
      [1, 'Zoe'],
      [2, 'Zoe'],
    ]);
  });

  it.each([[{ timestamp_ms: '1079' }], [{ timestamp_ms: null }], [{ timestamp_ms: Number.POSITIVE_INFINITY }]])(
    'is none with a time of %j',
    (fields) => {
      expect(Utterances.safeParse([utterance(fields)]).success).toBe(false);
    },
  );

  it('never ends before it begins', () => {
    expect(segments([utterance({ duration_ms: -1 }), utterance({ duration_ms: 'x' })])).toMatchObject([
      { endSeconds: 1.079 },
      { endSeconds: 1.079 },
    ]);
  });
});
