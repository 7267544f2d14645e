import { describe, expect, it } from '@jest/globals';
import { clientMetadata, redirectMatches, scopesAskedFor } from './oauth-client.ts';

const register = (fields: object = {}) => clientMetadata({ redirect_uris: ['https://app.test/cb'], ...fields });
/** The code of RFC 7591 with which it is refused; null when it is taken. */
const refused = (fields: object): unknown => {
  try {
    register(fields);
    return null;
  } catch (error) {
    return Object(error).type;
  }
};
const redirect = (...uris: readonly unknown[]) => refused({ redirect_uris: uris });

describe('what an app may register', () => {
  it('[OAUTH-03] an app that says its redirect URI alone is confidential, unnamed, and may ask for everything', () => {
    expect(register()).toEqual({
      name: 'Unnamed app',
      redirectUris: ['https://app.test/cb'],
      authMethod: 'client_secret_basic',
      scopes: ['bubbles:read', 'webhooks:manage', 'meetings:join'],
      clientUri: null,
    });
  });

  it.each([
    ['a user', 'https://user@app.test/cb'],
    ['a user and password', 'https://user:password@app.test/cb'],
    ['a second @', 'https://app.test@evil.test@app.test/cb'],
    ['an @ without a user', 'https://@app.test/cb'],
    ['a user in a scheme of an app', 'cursor://user@app/cb'],
  ])('[case 7] a redirect URI with %s is refused', (_what, uri) => {
    expect(redirect(uri)).toBe('invalid_redirect_uri');
  });

  it.each(['https://*.app.test/cb', 'https://app.test/*', '*', 'https://*/cb'])('[case 8] the wildcard %s is refused', (uri) => {
    expect(redirect(uri)).toBe('invalid_redirect_uri');
  });

  it.each([
    'http://localhost.evil.test/cb',
    'http://evil.test/localhost',
    'http://127.0.0.1.evil.test/cb',
    'http://localhost@evil.test/cb',
    'http://127.1/cb',
    'http://2130706433/cb',
    'http://0x7f.0.0.1/cb',
    'http://[::ffff:127.0.0.1]/cb',
    'http://[0:0:0:0:0:0:0:1]/cb',
    'http://localhost:99999/cb',
    'http://localhost:a/cb',
  ])('[case 9] %s is not loopback', (uri) => {
    expect(redirect(uri)).toBe('invalid_redirect_uri');
  });

  it.each([
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'java\nscript:alert(1)',
    '\u0001javascript:alert(1)',
    ' javascript:alert(1)',
    'javascript://app.test/%0aalert(1)',
    'data:text/html,<script>alert(1)</script>',
    'vbscript:a',
    'file:///etc/passwd',
    'blob:https://app.test/a',
    'about:blank',
    'ftp://app.test/',
    'wss://app.test/',
    'mailto:a@app.test',
    'tel:123',
    'intent://app/#Intent;end',
    'filesystem:https://app.test/a',
    'view-source:https://app.test/',
  ])('[case 14] the scheme of %j is refused', (uri) => {
    expect(redirect(uri)).toBe('invalid_redirect_uri');
  });

  it.each(['cursor://anysphere.cursor-retrieval/oauth/callback', 'vscode://app/cb', 'com.example.app:/cb', 'com.example.app:cb'])(
    '[case 15] the scheme of the app %s is taken',
    (uri) => {
      expect(register({ redirect_uris: [uri] }).redirectUris).toEqual([uri]);
    },
  );

  it.each(['http://app.test/cb', 'HTTP://app.test/cb', 'http://10.0.0.1/cb', 'http:app.test', 'http:/app.test'])(
    '[case 16] http to %s is refused',
    (uri) => {
      expect(redirect(uri)).toBe('invalid_redirect_uri');
    },
  );

  it.each(['http://localhost/cb', 'http://localhost', 'http://localhost:8080/cb?a=b', 'http://127.0.0.1:3/', 'http://[::1]:65535/cb'])(
    '[case 16] http to %s is taken',
    (uri) => {
      expect(redirect(uri)).toBeNull();
    },
  );

  it.each(['https://app.test/cb#a', 'https://app.test/cb#', 'cursor://app/cb#a'])('[case 17] the fragment of %s is refused', (uri) => {
    expect(redirect(uri)).toBe('invalid_redirect_uri');
  });

  it.each([
    ['no list', 'https://app.test/cb'],
    ['nothing', []],
    ['a number', [1]],
    ['null', [null]],
    ['a relative one', ['/cb']],
    ['a host without a scheme', ['app.test/cb']],
    ['a scheme alone', ['cursor:']],
    ['https without a host', ['https:/app.test/cb']],
    ['https with an empty host', ['https:///app.test/cb']],
    ['a blank', ['https://app.test/a b']],
    ['a backslash', ['https://app.test\\@evil.test/cb']],
    ['dot segments', ['https://app.test/a/../cb']],
    ['a dot segment at the end', ['https://app.test/a/..']],
    ['encoded dot segments', ['https://app.test/a/%2E%2e/cb']],
    ['dot segments with a parameter', ['https://app.test/a/..;/cb']],
    ['letters beyond ASCII', ['https://äpp.test/cb']],
    ['NUL', ['https://app.test/\0']],
    ['a bad one behind a good one', ['https://app.test/cb', 'http://app.test/cb']],
  ])('%s is no list of redirect URIs', (_what, uris) => {
    expect(refused({ redirect_uris: uris })).toBe('invalid_redirect_uri');
  });

  it('takes 10 redirect URIs of 2048 characters and no more', () => {
    const long = `https://app.test/${'a'.repeat(2048)}`.slice(0, 2048);
    const ten = Array.from({ length: 10 }, (_, n) => long.slice(0, -1) + n);
    expect(register({ redirect_uris: ten }).redirectUris).toEqual(ten);
    expect(redirect(`${long}a`)).toBe('invalid_redirect_uri');
    expect(redirect(...ten, 'https://app.test/cb')).toBe('invalid_redirect_uri');
    expect(register({ redirect_uris: [long, long] }).redirectUris).toEqual([long]);
  });

  it.each([
    'a\nb',
    'a\0b',
    'a\u202eb',
    'a\u2066b',
    'a\u200bb',
    'a\u200db',
    '\ufeffa',
    'a\u2028b',
    'a\u3164b',
    'a\ud800',
    '',
    '   ',
    '\u0301',
  ])('[case 49] the name %j is refused', (client_name) => {
    expect(refused({ client_name })).toBe('invalid_client_metadata');
  });

  it.each([
    ['  My app ', 'My app'],
    ['Cafe\u0301', 'Café'],
    ['☁️ Cloud', '☁️ Cloud'],
    ['<b>App</b>', '<b>App</b>'],
    ['🔑'.repeat(80), '🔑'.repeat(80)],
    [null, 'Unnamed app'],
  ])('the name %j is %j', (client_name, name) => {
    expect(register({ client_name }).name).toBe(name);
  });

  it.each([
    ['a name of 81 characters', { client_name: 'a'.repeat(81) }],
    ['a name of one letter with thousands of marks', { client_name: `a${'\u0301'.repeat(9000)}${'\u0316'.repeat(9000)}` }],
    ['a name that is no text', { client_name: 1 }],
    ['an unknown way to prove itself', { token_endpoint_auth_method: 'private_key_jwt' }],
    ['a grant type that is no list', { grant_types: 'authorization_code' }],
    ['grant types without codes', { grant_types: ['client_credentials'] }],
    ['response types without codes', { response_types: ['token'] }],
    ['a scope that is no text', { scope: ['bubbles:read'] }],
  ])('[case 52] %s is refused', (_what, fields) => {
    expect(refused(fields)).toBe('invalid_client_metadata');
  });

  it('[case 57] drops grant types, response types and scopes that there are not', () => {
    const fields = {
      grant_types: ['implicit', 'authorization_code'],
      response_types: ['code', 'token'],
      scope: 'admin  bubbles:read openid',
    };
    expect(register(fields).scopes).toEqual(['bubbles:read']);
    expect(register({ scope: 'admin' }).scopes).toHaveLength(3);
  });

  it.each([
    ['https://app.test/about', 'https://app.test/about'],
    ['http://app.test/about', null],
    ['javascript:alert(1)', null],
    ['https://user@app.test', null],
    [1, null],
  ])('keeps of the page %j about the app %j', (client_uri, kept) => {
    expect(register({ client_uri }).clientUri).toBe(kept);
  });
});

describe('where an answer may go', () => {
  const REGISTERED = ['https://app.test/cb', 'cursor://app/cb'];

  it.each([
    'https://app.test/cb?a=b',
    'https://app.test/cb/',
    'https://app.test/CB',
    'https://APP.test/cb',
    'https://app.test:443/cb',
    'https://app.test/a/..;/cb',
    'https://app.test/cb;x',
    'https://app.test\\cb',
    'https://user@app.test/cb',
    'https://app.test/cb@evil.test',
    ' https://app.test/cb',
    'https://app.test/cb ',
    'https://app.test/c%62',
    'http://app.test/cb',
    'https://app.test:8443/cb',
    'cursor://app:1/cb',
    '',
  ])('[case 6] %j is another URI than the registered one', (asked) => {
    expect(redirectMatches(REGISTERED, asked)).toBe(false);
  });

  it('[case 6] the registered URIs match, character by character', () => {
    for (const uri of REGISTERED) expect(redirectMatches(REGISTERED, uri)).toBe(true);
  });

  it.each([
    ['http://127.0.0.1/cb', 'http://127.0.0.1.evil.test/cb'],
    ['http://127.0.0.1/cb', 'http://127.0.0.1@evil.test/cb'],
    ['http://127.0.0.1', 'http://127.0.0.1.evil.test'],
    ['http://127.0.0.1', 'http://127.0.0.1:80@evil.test'],
    ['http://127.0.0.1:3000', 'http://127.0.0.1:3000.evil.test'],
  ])('[case 10] %s does not open %s', (registered, asked) => {
    expect(redirectMatches([registered], asked)).toBe(false);
  });

  it.each([
    ['http://127.0.0.1/cb', 'http://127.0.0.1:51234/cb'],
    ['http://localhost:3000/cb?a=b', 'http://localhost:1/cb?a=b'],
    ['http://[::1]:3000/cb', 'http://[::1]:65535/cb'],
    ['http://localhost:3000/cb', 'http://localhost/cb'],
    ['http://localhost', 'http://localhost:8080'],
  ])('[case 11] a loopback URI %s takes the port of %s', (registered, asked) => {
    expect(redirectMatches([registered], asked)).toBe(true);
  });

  it.each([
    'http://127.0.0.1:80/cb?a=b',
    'http://127.0.0.1:80/other',
    'http://127.0.0.1:80/cb/',
    'https://127.0.0.1:80/cb',
    'HTTP://127.0.0.1:80/cb',
    'http://127.1:80/cb',
    'http://2130706433/cb',
    'http://0x7f.0.0.1:80/cb',
    'http://127.0.0.1:99999/cb',
    'http://127.0.0.1:0/cb',
    'http://127.0.0.1:080/cb',
    'http://127.0.0.1:/cb',
    'http://127.0.0.1:80:81/cb',
    'http://127.0.0.1:80/cb\n',
  ])('[case 12] a loopback URI http://127.0.0.1:3000/cb does not open %j', (asked) => {
    expect(redirectMatches(['http://127.0.0.1:3000/cb'], asked)).toBe(false);
  });

  it.each([
    ['http://localhost/cb', 'http://127.0.0.1:3000/cb'],
    ['http://127.0.0.1/cb', 'http://localhost:3000/cb'],
    ['http://127.0.0.1/cb', 'http://[::1]:3000/cb'],
  ])('[case 13] %s and %s are different registrations', (registered, asked) => {
    expect(redirectMatches([registered], asked)).toBe(false);
  });
});

describe('what the user is asked for', () => {
  const client = register({ scope: 'bubbles:read meetings:join' });

  it.each([
    ['bubbles:read', ['bubbles:read']],
    ['meetings:join bubbles:read  meetings:join', ['bubbles:read', 'meetings:join']],
    ['openid profile email offline_access bubbles:read', ['bubbles:read']],
    ['openid offline_access', ['bubbles:read', 'meetings:join']],
    ['', ['bubbles:read', 'meetings:join']],
    [' ', ['bubbles:read', 'meetings:join']],
    ['admin', null],
    ['bubbles:read admin', null],
    ['BUBBLES:READ', null],
    ['webhooks:manage', null],
    ['bubbles:read,meetings:join', null],
    ['bubbles:read\tmeetings:join', null],
  ])('[OAUTH-11] of the scope %j: %j', (scope, asked) => {
    expect(scopesAskedFor(scope, client)).toEqual(asked);
  });
});
