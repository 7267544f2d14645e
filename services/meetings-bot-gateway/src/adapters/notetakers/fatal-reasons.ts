import type { FATAL_REASONS } from '@bubbles/contracts/api/meeting-join.ts';

type FatalReason = (typeof FATAL_REASONS)[number];

/** What providers call our reasons, by words or their forms; the first row that fits counts. Words that are ours already need no row. */
const WORDS: readonly (readonly [FatalReason, readonly (string | RegExp)[]])[] = [
  [
    'waiting_room_timeout',
    [
      'timeout_exceeded_waiting_room',
      'call_ended_by_platform_waiting_room_timeout',
      'waiting_room_timeout_exceeded',
      'awaiting_admission_timeout',
    ],
  ],
  ['entry_denied', ['bot_kicked_from_waiting_room', 'request_to_join_denied', 'awaiting_admission_rejected']],
  ['removed_from_meeting', ['bot_kicked_from_call', 'evicted']],
  ['nobody_joined', ['timeout_exceeded_noone_joined', 'auto_leave_only_participant_in_meeting', 'startup_alone', 'left_alone']],
  ['cancelled', ['bot_received_leave_call', 'user_requested', 'stopped', 'stopped_before_admission']],
  [
    'recording_permission_denied',
    [
      'timeout_exceeded_recording_permission_denied',
      'timeout_exceeded_in_call_not_recording',
      /^zoom_local_recording_/,
      'host_denied_permission',
      'request_timed_out',
      'host_client_cannot_grant_permission',
      'webinar_attendee_needs_panelist_promotion',
    ],
  ],
  ['captcha_required', [/captcha/]],
  [
    'meeting_requires_sign_in',
    [
      /sign_in/,
      'microsoft_teams_2fa_required',
      'google_meet_login_not_available',
      'login_required',
      'bot_login_attempt_failed',
      'auth_session_missing',
    ],
  ],
  [
    'blocked_by_host_policy',
    [
      'google_meet_bot_blocked',
      'zoom_email_blocked_by_admin',
      'zoom_sdk_key_blocked_by_host_admin',
      'microsoft_teams_bot_not_invited',
      'teams_blacklisted_tenant',
    ],
  ],
  ['meeting_requires_registration', ['zoom_registration_required']],
  ['meeting_not_started', ['meeting_not_started_waiting_for_host']],
  ['meeting_password_incorrect', ['unable_to_connect_to_meeting']],
  ['meeting_link_invalid', ['validation_error']],
  [
    'zoom_authorization_required',
    [
      'zoom_authorization_failed',
      'zoom_app_cannot_join_anonymously',
      'unpublished_zoom_app',
      'authorized_user_not_in_meeting_timeout_exceeded',
    ],
  ],
  ['notetaker_unavailable', ['out_of_credits']],
  [
    'notetaker_error',
    [
      'zoom_meeting_status_failed',
      'zoom_sdk_internal_error',
      'ui_element_not_found',
      'process_terminated',
      'heartbeat_timeout',
      'bot_not_launched',
      'attendee_internal_error',
      'global_runtime_timeout',
      'rtmp_connection_failed',
      'auto_leave_could_not_enable_closed_captions',
      'join_failure',
      'stopped_with_no_audio',
      'max_bot_time_exceeded',
    ],
  ],
];

const WORD = /^[a-z0-9_]{1,64}$/;

/** Our reason for a word of a provider, or the word itself, since the vocabulary is open; null for none. What is no word is no reason, whatever it says. */
export const fatalReasonOf = (word: string | null): string | null => {
  if (word === null || word === '') return null;
  if (!WORD.test(word)) return 'notetaker_error';
  const [known] = WORDS.find(([, words]) => words.some((one) => (typeof one === 'string' ? one === word : one.test(word)))) ?? [];
  return known ?? word;
};
