import { testConfig } from '@bubbles/testing/service-under-test.ts';
import { describe, expect, it } from '@jest/globals';
import { signup } from './service.ts';

const valuesWith = (environment: Readonly<Record<string, string>>) => testConfig(signup, environment).values;
const DOMAINS = ['SIGNUP_ALLOWED_DOMAINS', 'SIGNUP_DENIED_DOMAINS', 'SIGNUP_COMPANY_DOMAINS', 'SIGNUP_CONSUMER_DOMAINS'] as const;

describe('what signup is told', () => {
  it.each(DOMAINS)('[SIGN-02] %s are names of domains, apart by blanks, commas or line ends, with remarks', (name) => {
    const text = '# ours\nExample.com, EXÄMPLE.com\tsub.example.org\n\nxyz # a whole suffix\n';
    expect(valuesWith({ [name]: text })[name]).toEqual(new Set(['example.com', 'xn--exmple-cua.com', 'sub.example.org', 'xyz']));
    expect(valuesWith({})[name]).toEqual(new Set());
    expect(valuesWith({ [name]: '# none' })[name]).toEqual(new Set());
  });

  it.each(['https://example.com', 'ada@example.com', '*.example.com', '.example.com', 'exa_mple.com', 'example.com.'])(
    '[SIGN-02] %s is no domain: the start says which variable is wrong',
    (text) => {
      expect(() => valuesWith({ SIGNUP_DENIED_DOMAINS: text })).toThrow('SIGNUP_DENIED_DOMAINS: must be a list of domain names');
    },
  );

  it('[SIGN-08] where the providers of calendars are, unless it is told otherwise', () => {
    const { GOOGLE_CALENDAR_TOKEN_URL: google, MICROSOFT_CALENDAR_TOKEN_URL: microsoft } = valuesWith({});
    expect([google, microsoft]).toEqual([
      'https://oauth2.googleapis.com/token',
      'https://login.microsoftonline.com/common/oauth2/v2.0/token',
    ]);
    expect(() => valuesWith({ GOOGLE_CALENDAR_TOKEN_URL: 'oauth2.googleapis.com' })).toThrow('GOOGLE_CALENDAR_TOKEN_URL');
  });
});
