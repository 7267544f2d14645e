import { FATAL_REASONS } from '@bubbles/contracts/api/meeting-join.ts';
import { describe, expect, it } from '@jest/globals';
import { fatalReasonOf } from './fatal-reasons.ts';

describe('the reason of a run that failed', () => {
  it.each([
    ['timeout_exceeded_waiting_room', 'waiting_room_timeout'],
    ['bot_kicked_from_waiting_room', 'entry_denied'],
    ['awaiting_admission_rejected', 'entry_denied'],
    ['zoom_local_recording_request_denied_by_host', 'recording_permission_denied'],
    ['google_meet_captcha_shown', 'captcha_required'],
    ['google_meet_sign_in_failed', 'meeting_requires_sign_in'],
    ['heartbeat_timeout', 'notetaker_error'],
  ])('is ours for the word %s', (word, reason) => {
    expect(fatalReasonOf(word)).toBe(reason);
  });

  it.each(FATAL_REASONS)('is %s where the provider says that already', (reason) => {
    expect(fatalReasonOf(reason)).toBe(reason);
  });

  it.each(['something_new', 'x', 'a'.repeat(64)])('is the word %s of a provider that is not known yet', (word) => {
    expect(fatalReasonOf(word)).toBe(word);
  });

  it.each(['Host said no', 'a'.repeat(65), '<b>', 'https://zoom.us/j/1?pwd=x', 'captcha\n', 'sign_in é'])(
    'is no text such as %j',
    (text) => {
      expect(fatalReasonOf(text)).toBe('notetaker_error');
    },
  );

  it.each([null, ''])('is none for %j', (nothing) => {
    expect(fatalReasonOf(nothing)).toBeNull();
  });
});
