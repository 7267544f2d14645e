import { describe, expect, it } from '@jest/globals';
import { ACCEPTED_KINDS, budgetHeaders, budgetIn, CREDENTIAL_KINDS, hasScope } from './access.ts';

describe('who may call', () => {
  it('[RATE-03] the headers of a budget say what they were made of', () => {
    const budget = { limit: 120, remaining: 7, resetSeconds: 42 };
    const headers = budgetHeaders(budget);
    expect(headers).toEqual({ 'RateLimit-Policy': '"default";q=120;w=60', RateLimit: '"default";r=7;t=42' });
    expect(budgetIn({ 'ratelimit-policy': headers['RateLimit-Policy'], ratelimit: headers.RateLimit })).toEqual(budget);
    for (const spoilt of [{}, { ratelimit: headers.RateLimit }, { 'ratelimit-policy': 'x', ratelimit: headers.RateLimit }])
      expect(budgetIn(spoilt)).toBeNull();
  });

  it('scopes limit what an app was granted, and not a session, which is the user in person', () => {
    const scopes = ['bubbles:read'];
    expect(
      CREDENTIAL_KINDS.map((kind) => [kind, hasScope({ kind, scopes }, 'bubbles:read'), hasScope({ kind, scopes }, 'meetings:join')]),
    ).toEqual([
      ['pat', true, false],
      ['oauth', true, false],
      ['session', true, true],
    ]);
  });

  it('the kinds that one route takes are kinds that there are', () => {
    expect(new Set(Object.values(ACCEPTED_KINDS).flat())).toEqual(new Set(CREDENTIAL_KINDS));
  });
});
