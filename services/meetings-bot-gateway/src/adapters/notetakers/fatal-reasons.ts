/** The reasons that this product gives a name. A provider may tell others, which are passed on: the vocabulary is open. */
type FatalReason =
  | 'blocked_by_host_policy'
  | 'cancelled'
  | 'captcha_required'
  | 'entry_denied'
  | 'meeting_full'
  | 'meeting_link_invalid'
  | 'meeting_not_found'
  | 'meeting_not_started'
  | 'meeting_password_incorrect'
  | 'meeting_requires_registration'
  | 'meeting_requires_sign_in'
  | 'nobody_joined'
  | 'notetaker_error'
  | 'notetaker_unavailable'
  | 'recording_permission_denied'
  | 'removed_from_meeting'
  | 'waiting_room_timeout'
  | 'zoom_authorization_required';

/** What a provider calls a reason, as the word itself or as a form of it; the first one that fits counts. */
export type ReasonTable = readonly (readonly [FatalReason, readonly (string | RegExp)[]])[];

const WORD = /^[a-z0-9_]{1,64}$/;

/** Our reason for a word of a provider, or the word itself; null for none. What is no word is no reason, whatever it says. */
export const fatalReasonOf = (table: ReasonTable, word: string | null): string | null => {
  if (word === null || word === '') return null;
  const [known] = table.find(([, words]) => words.some((one) => (typeof one === 'string' ? one === word : one.test(word)))) ?? [];
  return known ?? (WORD.test(word) ? word : 'notetaker_error');
};
