import { describe, expect, it } from '@jest/globals';
import { fatalReasonOf, type ReasonTable } from './fatal-reasons.ts';

const TABLE: ReasonTable = [
  ['entry_denied', ['bot_kicked', /^denied_/]],
  ['captcha_required', [/captcha/]],
];

describe('the reason of a run that failed', () => {
  it.each([
    ['bot_kicked', 'entry_denied'],
    ['denied_by_host', 'entry_denied'],
    ['google_captcha_shown', 'captcha_required'],
  ])('is ours for the word %s', (word, reason) => {
    expect(fatalReasonOf(TABLE, word)).toBe(reason);
  });

  it.each(['something_new', 'x', 'a'.repeat(64)])('is the word %s of a provider that is not known yet', (word) => {
    expect(fatalReasonOf(TABLE, word)).toBe(word);
  });

  it.each(['Host said no', 'a'.repeat(65), '<b>', 'https://zoom.us/j/1?pwd=x', 'a\nb', 'é'])('is no text such as %j', (text) => {
    expect(fatalReasonOf(TABLE, text)).toBe('notetaker_error');
  });

  it.each([null, ''])('is none for %j', (nothing) => {
    expect(fatalReasonOf(TABLE, nothing)).toBeNull();
  });
});
