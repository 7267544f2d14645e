import { describe, expect, it } from '@jest/globals';
import { aCredential, anAccount } from '../../test/builders.ts';
import { refusalOf } from './credential.ts';

describe('[AUTH-05] the order of refusals', () => {
  it('an unknown token is unauthorized', () => {
    expect(refusalOf(null, ['pat'])).toBe('unauthorized');
  });

  it.each(['disabled', 'deleted'] as const)('the account %s is told before all else', (state) => {
    const account = anAccount({ state });
    expect(refusalOf(aCredential({ account }), ['pat'])).toBe('account_deleted');
    expect(refusalOf(aCredential({ account, status: 'revoked' }), ['pat'])).toBe('account_deleted');
    expect(refusalOf(aCredential({ account, status: 'ended', kind: 'session' }), ['session'])).toBe('account_deleted');
    expect(refusalOf(aCredential({ account }), ['session'])).toBe('account_deleted');
  });

  it('a revoked token is told before the kind', () => {
    expect(refusalOf(aCredential({ status: 'revoked' }), ['session'])).toBe('token_revoked');
  });

  it('an ended session or token is unauthorized', () => {
    expect(refusalOf(aCredential({ kind: 'oauth', status: 'ended' }), ['pat', 'oauth'])).toBe('unauthorized');
  });

  it('[AUTH-02] [AUTH-07] a kind that the route does not take is unauthorized, every other passes', () => {
    expect(refusalOf(aCredential({ kind: 'session' }), ['pat', 'oauth'])).toBe('unauthorized');
    expect(refusalOf(aCredential({ kind: 'pat' }), ['session'])).toBe('unauthorized');
    expect(refusalOf(aCredential({ kind: 'oauth' }), ['pat', 'oauth'])).toBeNull();
  });
});
