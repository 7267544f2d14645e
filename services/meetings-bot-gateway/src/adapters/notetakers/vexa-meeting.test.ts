import { createHmac } from 'node:crypto';
import { testData } from '@bubbles/testing/test-data.ts';
import { describe, expect, it } from '@jest/globals';
import { NOON } from '../../../test/builders.ts';
import { parseMeetingLink } from '../../domain/meeting-link.ts';
import { hasRecorded, Meeting, nativeMeeting, segmentsOf, snapshotOf, Transcript } from './vexa-meeting.ts';
import { verifyVexaWebhook } from './vexa-webhook.ts';

interface HandedLink {
  readonly input: unknown;
  readonly valid: boolean;
  readonly platform: string;
  readonly normalized: string;
}
// The file's shape is fixed beside it; a row that differs fails the count below.
const accepted = (JSON.parse(testData('meeting-links.json')) as readonly HandedLink[]).filter(({ valid }) => valid);
const PLATFORMS = new Map([
  ['google_meet', 'google_meet'],
  ['microsoft_teams', 'teams'],
  ['zoom', 'zoom'],
]);

describe('a meeting as Vexa names it', () => {
  it.each(accepted)('has an id that needs no escapes, or is served by nobody: $normalized', ({ normalized, platform }) => {
    const native = nativeMeeting(normalized);
    expect(native?.platform).toBe(PLATFORMS.get(platform));
    if (native === null) return;
    expect(native.native_meeting_id).toMatch(/^[\w.:@-]{1,255}$/);
    const { searchParams } = new URL(normalized);
    expect(native.passcode).toBe(searchParams.get('pwd') ?? searchParams.get('p') ?? undefined);
  });

  it('has one id for each of our keys', () => {
    const keys = new Map<string, string>();
    for (const { normalized } of accepted) {
      const link = parseMeetingLink(normalized);
      const native = nativeMeeting(normalized);
      if ('refused' in link || native === null) continue;
      const id = `${native.platform}/${native.native_meeting_id}`;
      expect(keys.get(id) ?? link.key).toBe(link.key);
      keys.set(id, link.key);
    }
    expect(keys.size).toBeGreaterThan(10);
  });

  it.each([
    ['https://meet.google.com/kqz-wvtm-bfa', 'google_meet', 'kqz-wvtm-bfa'],
    ['https://us02web.zoom.us/j/84114270867?pwd=x', 'zoom', '84114270867'],
    ['https://acme.zoomgov.com/j/1604114270', 'zoom', '1604114270@zoomgov.com'],
    ['https://acme.zoom.us/my/ada.byron', 'zoom', 'my.ada.byron@zoom.us'],
    ['https://teams.microsoft.com/meet/24871639055123?p=Xk9', 'teams', '24871639055123'],
    ['https://teams.live.com/meet/9312456789012?p=Xk9', 'teams', '9312456789012@teams.live.com'],
    ['https://teams.microsoft.com/l/meetup-join/19%3Ameeting_ZmFr%40thread.v2/0', 'teams', '19:meeting_ZmFr@thread.v2'],
    ['https://teams.microsoft.com/l/meetup-join/19%3Aab%40thread.tacv2/1616990', 'teams', '19:ab@thread.tacv2.1616990'],
  ])('%s is %s %s', (link, platform, native_meeting_id) => {
    expect(nativeMeeting(link)).toMatchObject({ platform, native_meeting_id });
  });

  it('is none of a link that is none', () => {
    for (const link of ['', 'https://example.com', 'https://acme.webex.com/meet/ada']) expect(nativeMeeting(link)).toBeNull();
  });
});

const aMeeting = (status: string, fields: object = {}) =>
  Meeting.parse({ id: 42, platform: 'zoom', native_meeting_id: '123456789', status, start_time: null, data: {}, ...fields });
const passed = (...states: string[]) => ({ data: { status_transition: states.map((to) => ({ to })) } });
const told = (status: string, fields?: object) => {
  const snapshot = snapshotOf(aMeeting(status, fields));
  return [snapshot.status, snapshot.reason, snapshot.recordedEver, snapshot.isLeaving ?? false];
};
const ADMITTED = passed('requested', 'joining', 'active', 'stopping', 'completed');

describe('a status of Vexa', () => {
  it.each([
    ['idle', 'dispatched'],
    ['scheduled', 'dispatched'],
    ['requested', 'dispatched'],
    ['a_status_of_tomorrow', 'dispatched'],
    ['joining', 'joining'],
    ['awaiting_admission', 'in_waiting_room'],
    ['needs_help', 'in_waiting_room'],
    ['needs_human_help', 'in_waiting_room'],
  ])('[MEET-07] %s is %s', (status, ours) => expect(told(status)).toEqual([ours, null, false, false]));

  it('[MEET-07] active is recording, or in the call where nobody records', () => {
    expect(told('active')).toEqual(['recording', null, true, false]);
    expect(told('active', { data: { recording_enabled: false } })).toEqual(['in_call', null, false, false]);
    expect(told('active', { data: null })).toEqual(['recording', null, true, false]);
  });

  it('[MEET-07] stopping is where it was before', () => {
    expect(told('stopping', passed('joining', 'awaiting_admission', 'stopping'))).toEqual(['in_waiting_room', null, false, true]);
    expect(told('stopping', passed('joining', 'active', 'stopping'))).toEqual(['recording', null, true, true]);
    expect(told('stopping', { start_time: NOON.toISOString() })).toEqual(['recording', null, true, true]);
  });

  it('[MEET-07] completed is done when it was let in, else fatal', () => {
    expect(told('completed', { completion_reason: 'left_alone', ...ADMITTED })).toEqual(['done', null, true, false]);
    expect(told('completed', { completion_reason: 'max_bot_time_exceeded', start_time: NOON.toISOString() })).toEqual([
      'done',
      null,
      true,
      false,
    ]);
    expect(told('completed', { completion_reason: 'stopped' })).toEqual(['fatal', 'cancelled', false, false]);
    expect(told('completed', { completion_reason: 'awaiting_admission_timeout', start_time: NOON.toISOString() })[0]).toBe('fatal');
    expect(
      told('completed', { completion_reason: 'left_alone', ...passed('active'), data: { recording_enabled: false, ...ADMITTED.data } }),
    ).toEqual(['fatal', 'nobody_joined', false, false]);
  });

  it('[MEET-07] failed is done when it recorded before', () => {
    expect(told('failed', { completion_reason: 'evicted', ...ADMITTED })).toEqual(['done', null, true, false]);
    expect(hasRecorded(aMeeting('failed', ADMITTED))).toBe(true);
  });

  it.each([
    ['awaiting_admission_timeout', null, 'waiting_room_timeout'],
    ['awaiting_admission_rejected', null, 'entry_denied'],
    ['auth_session_missing', null, 'meeting_requires_sign_in'],
    ['validation_error', null, 'meeting_link_invalid'],
    ['join_failure', 'joining', 'notetaker_error'],
    ['join_failure', 'awaiting_admission', 'waiting_room_timeout'],
    [null, 'awaiting_admission', 'waiting_room_timeout'],
    [null, 'requested', 'notetaker_error'],
    [null, null, 'notetaker_error'],
    ['stopped', null, 'cancelled'],
    ['stopped_before_admission', null, 'cancelled'],
    ['startup_alone', null, 'nobody_joined'],
    ['left_alone', null, 'nobody_joined'],
    ['stopped_with_no_audio', null, 'notetaker_error'],
    ['evicted', null, 'removed_from_meeting'],
    ['max_bot_time_exceeded', null, 'notetaker_error'],
    ['a_reason_of_tomorrow', null, 'a_reason_of_tomorrow'],
    ['No Word', null, 'notetaker_error'],
  ])('[MEET-05] fails with %s in stage %s as %s', (completion_reason, failure_stage, reason) => {
    expect(told('failed', { completion_reason, failure_stage })).toEqual(['fatal', reason, false, false]);
    expect(told('failed', { data: { completion_reason, failure_stage } })).toEqual(['fatal', reason, false, false]);
  });

  it('[MEET-09] began at a time in UTC when there is no offset', () => {
    for (const start_time of [
      '2026-03-02T12:00:00',
      '2026-03-02T12:00:00Z',
      '2026-03-02T13:00:00.000000+01:00',
      '2026-03-02T11:00:00-0100',
    ])
      expect([start_time, aMeeting('active', { start_time }).start_time]).toEqual([start_time, NOON]);
    for (const start_time of ['yesterday', '', 7, null]) expect(aMeeting('active', { start_time }).start_time).toBeNull();
  });

  it('is none without an id or a status', () => {
    for (const fields of [{ id: null }, { id: 1.5 }, { id: '' }, { id: '..' }, { id: '4/2' }, { status: 7 }])
      expect(() => aMeeting('active', fields)).toThrow('in');
  });
});

describe('a transcript of Vexa', () => {
  const row = (fields: object) => ({ segment_id: 'a', speaker: 'Ada', text: 'Yes.', start: 1, end: 2, completed: true, ...fields });
  const segments = (...rows: readonly object[]) => segmentsOf(Transcript.parse({ id: 42, segments: rows.map(row) }));

  it('[MEET-09] leaves out drafts, chat and silence', () => {
    expect(segments({ completed: false }, { segment_id: 'b', source: 'chat' }, { segment_id: 'c', text: ' ' })).toEqual([]);
    expect(segments({ completed: null }, { segment_id: 'b', completed: undefined, start: 3 })).toHaveLength(2);
  });

  it('[MEET-09] takes the last one of an id, sorted by its beginning', () => {
    const spoken = segments(
      { segment_id: 'b', start: 5, text: 'Old.' },
      {},
      { segment_id: 'b', start: 0, end: 1, text: 'New.' },
      { segment_id: null },
      { segment_id: null },
    );
    expect(spoken.map(({ text }) => text)).toEqual(['New.', 'Yes.', 'Yes.', 'Yes.']);
  });

  it('has null where no speaker is named, and never ends before it begins', () => {
    expect(segments({ speaker: '', start: -1, end: -2 }, { segment_id: 'b', speaker: null, start: 4, end: 3 })).toEqual([
      { speaker: null, text: 'Yes.', startSeconds: 0, endSeconds: 0 },
      { speaker: null, text: 'Yes.', startSeconds: 4, endSeconds: 4 },
    ]);
  });
});

describe('a webhook of Vexa', () => {
  const SECRET = Buffer.from('whsec_demo_secret');
  const BODY =
    '{"event_id": "evt_0123456789abcdef0123456789abcdef", "event_type": "meeting.completed", "api_version": "2026-03-01", "created_at": "2026-11-27T10:00:00Z", "data": {"meeting": {"id": 42, "status": "completed", "completion_reason": "stopped"}}}';
  const SIGNED = 'sha256=cbb8a90c098820d20b90cd08409f9e28ba69f6b66f263d85acd6370c998fa06b';
  const TIMESTAMP = '1795774800';
  const verify = (body: string, signature = SIGNED, { timestamp = TIMESTAMP, late = 0 } = {}) =>
    verifyVexaWebhook(
      { headers: { 'x-webhook-timestamp': timestamp, 'x-webhook-signature': signature }, body: Buffer.from(body) },
      { secrets: [Buffer.alloc(16), SECRET], now: new Date((Number(TIMESTAMP) + late) * 1000) },
    );
  const sign = (body: string) => `sha256=${createHmac('sha256', SECRET).update(`${TIMESTAMP}.${body}`).digest('hex')}`;

  it('is genuine with a signature over its time and its bytes', () => {
    expect(verify(BODY)).toEqual({ id: 'evt_0123456789abcdef0123456789abcdef', joinId: null, ref: '42' });
  });

  it('is forged with another signature, time, or body', () => {
    expect(verify(BODY, SIGNED.toUpperCase())).toBeNull();
    expect(verify(BODY, SIGNED.slice(7))).toBeNull();
    expect(verify(BODY.replace('42', '43'))).toBeNull();
    for (const timestamp of ['1795774801', `0${TIMESTAMP}`, `${TIMESTAMP} `, '', '-1', '1e9', 'x'])
      expect([timestamp, verify(BODY, SIGNED, { timestamp })]).toEqual([timestamp, null]);
  });

  it('is refused when it is older than five minutes, or comes from the future', () => {
    const at = (late: number) => verify(BODY, SIGNED, { late }) !== null;
    expect([-301, -300, 300, 301].map(at)).toEqual([false, true, true, false]);
  });

  it.each([
    '"meeting":{"id":42},"status_change":{"old_status":"joining","new_status":"active","reason":null,"transition_source":"bot"}',
    '"meeting":{"id":42},"status_change":{"from":"joining","to":"active","reason":null,"timestamp":"2026-11-27T10:00:00Z"}',
    '"meeting":{"id":"42"}',
  ])('names its run whatever the shape of the change: %s', (data) => {
    const body = `{"event_id":"evt_1","event_type":"meeting.status_change","data":{${data}}}`;
    expect(verify(body, sign(body))).toEqual({ id: 'evt_1', joinId: null, ref: '42' });
  });

  it('is about no run without a meeting, and none without an id', () => {
    for (const data of ['{}', 'null', '{"meeting":null}', '{"meeting":{"id":[]}}']) {
      const body = `{"event_id":"evt_1","data":${data}}`;
      expect(verify(body, sign(body))).toEqual({ id: 'evt_1', joinId: null, ref: null });
    }
    for (const body of ['{"data":{"meeting":{"id":42}}}', '{"event_id":""}', 'null', '{', '']) expect(verify(body, sign(body))).toBeNull();
  });
});
