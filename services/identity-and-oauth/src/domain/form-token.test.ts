import { describe, expect, it } from '@jest/globals';
import { formToken, isFormToken } from './form-token.ts';

describe('the token of a form', () => {
  const token = formToken('secret', ['consent', 'request-1', 'user-1']);

  it('is taken with the secret and for what it was made', () => {
    expect(isFormToken(token, 'secret', ['consent', 'request-1', 'user-1'])).toBe(true);
  });

  it.each([
    ['another browser', token, 'other', ['consent', 'request-1', 'user-1']],
    ['another form', token, 'secret', ['disconnect', 'request-1', 'user-1']],
    ['another account', token, 'secret', ['consent', 'request-1', 'user-2']],
    ['names that join to the same text', token, 'secret', ['consent', 'request-1user-1']],
    ['nothing', '', 'secret', ['consent', 'request-1', 'user-1']],
    ['a shorter one', token.slice(1), 'secret', ['consent', 'request-1', 'user-1']],
    ['letters of more bytes', 'ä'.repeat(43), 'secret', ['consent', 'request-1', 'user-1']],
  ])('of %s is refused', (_what, sent, secret, about) => {
    expect(isFormToken(sent, secret, about)).toBe(false);
  });
});
