import { addressPolicy } from '@bubbles/address-guard/public-address.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { SILENT_LOG } from '@bubbles/testing/http.ts';
import { describe, expect, it } from '@jest/globals';
import { createClientDocuments } from './client-documents.ts';
import type { FetchedDocument } from './fetch-document.ts';

const URL_OF_APP = 'https://app.example.com/oauth/client.json';
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const documentOf = (id: string) => ({ client_id: id, client_name: 'An app', redirect_uris: ['https://app.example.com/back'] });

interface Setting {
  readonly loopback?: boolean;
  readonly maxAgeSeconds?: number | null;
  readonly answer?: (url: URL) => Promise<FetchedDocument>;
}

const documents = ({ loopback = false, maxAgeSeconds = null, answer }: Setting = {}) => {
  const clock = fakeClock();
  const fetched: string[] = [];
  const get = createClientDocuments({
    policy: { addresses: addressPolicy({ allow: [], deny: [] }), http: false, loopback },
    clock,
    log: SILENT_LOG,
    fetch: (url) => {
      fetched.push(url.href);
      return answer?.(url) ?? Promise.resolve({ fields: documentOf(url.href), maxAgeSeconds });
    },
  });
  let askers = 0;
  /** Somebody else asks each time, unless it is said who asks. */
  const nextAsker = () => {
    askers += 1;
    return `asker ${askers}`;
  };
  const outcome = (id: string, asker = nextAsker()) =>
    get(id, asker).then(
      ({ name }) => name,
      (error) => `${error.kind}: ${error.message}`,
    );
  return { clock, fetched, get, outcome };
};
const failing = (error: () => Error): Setting => ({ answer: () => Promise.reject(error()) });
const invalid = () => new DomainError('invalid', 'client_id: the metadata document could not be fetched.');

describe('a client id that is a URL', () => {
  it('is the client that its document describes', async () => {
    const { get, clock } = documents();
    expect(await get(URL_OF_APP, 'here')).toMatchObject({
      id: URL_OF_APP,
      name: 'An app',
      redirectUris: ['https://app.example.com/back'],
      authMethod: 'none',
      secretHash: null,
      issuedAt: clock.now(),
    });
  });

  it.each([
    'https://app.example.com',
    'https://app.example.com/',
    'https://app.example.com/a?b=c',
    'https://app.example.com/a?',
    'https://app.example.com/a#b',
    'https://app.example.com/a#',
    'https://user@app.example.com/a',
    'https://user:secret@app.example.com/a',
    'https://app.example.com:443/a',
    'https://app.example.com:8443/a',
    'https://app.example.com/a/../b',
    'https://app.example.com/a/./b',
    'https://app.example.com/a/%2e%2E/b',
    'https://app.example.com/a\\b',
    'https://app.example.com/a b',
    'https://app.example.com/a\tb',
    'https://app.example.com/ä',
    'https://APP.example.com/a',
    'https://bücher.example/a',
    'https://8.8.8.8/a',
    'https://134744072/a',
    'https://[2606:4700:4700::1111]/a',
    'https://127.0.0.1/a',
    'https://[::1]/a',
    'https://localhost/a',
    'https://app.localhost/a',
    'https://intranet/a',
    'https://app.internal/a',
    'https://169.254.169.254/a',
    'http://app.example.com/a',
    'http://localhost/a',
    `https://app.example.com/${'a'.repeat(2048)}`,
  ])('[case 94] is refused without a fetch: %s', async (id) => {
    const { outcome, fetched } = documents();
    expect(await outcome(id)).toMatch(/^invalid: client_id: must /);
    expect(fetched).toEqual([]);
  });

  it.each(['http://localhost:3000/client.json', 'http://127.0.0.1:3000/client.json', 'https://[::1]:3000/client.json'])(
    'may be on this machine in the sandbox: %s',
    async (id) => {
      expect(await documents({ loopback: true }).outcome(id)).toBe('An app');
      expect(await documents().outcome(id)).toMatch(/^invalid: /);
    },
  );

  it.each(['http://app.example.com/a', 'https://app.example.com:8443/a', 'http://localhost:3000/', 'http://localhost:3000/a?b'])(
    'keeps to the rules in the sandbox too: %s',
    async (id) => expect(await documents({ loopback: true }).outcome(id)).toMatch(/^invalid: /),
  );
});

describe('documents that are fetched', () => {
  it.each([
    ['what its server says', 600, 600_000],
    ['a minute at least', 0, MINUTE_MS],
    ['a minute when it is past its age', -5, MINUTE_MS],
    ['a day at most', 10 * 24 * 60 * 60, DAY_MS],
    ['five minutes when its server says nothing', null, 5 * MINUTE_MS],
  ])('[case 95] are kept for %s', async (_what, maxAgeSeconds, keptMs) => {
    const { clock, fetched, outcome } = documents({ maxAgeSeconds });
    await outcome(URL_OF_APP);
    await clock.advance(keptMs - 1);
    await outcome(URL_OF_APP);
    expect(fetched).toHaveLength(1);
    await clock.advance(1);
    expect(await outcome(URL_OF_APP)).toBe('An app');
    expect(fetched).toHaveLength(2);
  });

  it('[case 95] are fetched once for all who ask at the same time', async () => {
    const { promise, resolve } = Promise.withResolvers<FetchedDocument>();
    const { fetched, outcome } = documents({ answer: () => promise });
    const asked = Promise.all([outcome(URL_OF_APP), outcome(URL_OF_APP), outcome(URL_OF_APP)]);
    resolve({ fields: documentOf(URL_OF_APP), maxAgeSeconds: null });
    expect(await asked).toEqual(['An app', 'An app', 'An app']);
    expect(fetched).toHaveLength(1);
  });

  it('[case 95] are not asked for again for ten seconds after they led to no client', async () => {
    const { clock, fetched, outcome } = documents(failing(invalid));
    const first = await outcome(URL_OF_APP);
    await clock.advance(9999);
    expect(await outcome(URL_OF_APP)).toBe(first);
    expect(fetched).toHaveLength(1);
    await clock.advance(1);
    await outcome(URL_OF_APP);
    expect(fetched).toHaveLength(2);
  });

  it('are asked for again at once when it was this process that could not', async () => {
    const { fetched, outcome } = documents(failing(() => new DomainError('unavailable', 'No name server can be asked.')));
    expect(await outcome(URL_OF_APP)).toMatch(/^unavailable: /);
    await outcome(URL_OF_APP);
    expect(fetched).toHaveLength(2);
  });

  it('are used for a day after they were fetched while this process cannot fetch them again, and not when they are gone', async () => {
    let answer: () => Promise<FetchedDocument> = () => Promise.resolve({ fields: documentOf(URL_OF_APP), maxAgeSeconds: 60 });
    const { clock, outcome } = documents({ answer: () => answer() });
    await outcome(URL_OF_APP);
    answer = () => Promise.reject(new DomainError('unavailable', 'No name server can be asked.'));
    await clock.advance(DAY_MS - 1);
    expect(await outcome(URL_OF_APP)).toBe('An app');
    await clock.advance(1);
    expect(await outcome(URL_OF_APP)).toMatch(/^unavailable: /);
    answer = () => Promise.resolve({ fields: documentOf(URL_OF_APP), maxAgeSeconds: 60 });
    expect(await outcome(URL_OF_APP)).toBe('An app');
    await clock.advance(MINUTE_MS);
    answer = () => Promise.reject(invalid());
    expect(await outcome(URL_OF_APP)).toMatch(/^invalid: /);
    await clock.advance(10_000);
    answer = () => Promise.reject(new DomainError('unavailable', 'No name server can be asked.'));
    expect(await outcome(URL_OF_APP)).toMatch(/^unavailable: /);
  });

  it('[case 95] keep an app that is known when others ask for too many', async () => {
    const { clock, outcome } = documents({ maxAgeSeconds: 60 });
    await outcome(URL_OF_APP);
    await clock.advance(MINUTE_MS);
    for (let n = 0; n < 600; n += 1) await outcome(`https://h${n}.example.com/client.json`);
    expect(await outcome('https://last.example.com/client.json')).toMatch(/^rate_limited: /);
    expect(await outcome(URL_OF_APP)).toBe('An app');
  });

  it('[case 95] are at most 20 a minute of one host', async () => {
    const { clock, fetched, outcome, get } = documents();
    for (let n = 0; n < 20; n += 1) expect(await outcome(`${URL_OF_APP}/${n}`)).toBe('An app');
    await clock.advance(1000);
    await expect(get(`${URL_OF_APP}/20`, 'here')).rejects.toMatchObject({ kind: 'rate_limited', retryAfterSeconds: 59 });
    expect(fetched).toHaveLength(20);
    expect(await outcome(`${URL_OF_APP}/1`)).toBe('An app');
    expect(await outcome('https://other.example.com/client.json')).toBe('An app');
    await clock.advance(59_000);
    expect(await outcome(`${URL_OF_APP}/20`)).toBe('An app');
  });

  it('[case 95] are at most 4 a minute of one host for one asker, so that others can connect apps of the host', async () => {
    const { clock, fetched, outcome } = documents(failing(invalid));
    for (let n = 0; n < 4; n += 1) expect(await outcome(`${URL_OF_APP}/${n}`, 'stranger')).toMatch(/^invalid: /);
    for (let n = 4; n < 20; n += 1) expect(await outcome(`${URL_OF_APP}/${n}`, 'stranger')).toMatch(/^rate_limited: /);
    expect(fetched).toHaveLength(4);
    expect(await outcome(URL_OF_APP, 'user')).toMatch(/^invalid: /);
    expect(fetched).toHaveLength(5);
    await clock.advance(MINUTE_MS);
    expect(await outcome(`${URL_OF_APP}/20`, 'stranger')).toMatch(/^invalid: /);
  });

  it('[case 95] are at most 60 a minute of all hosts for one asker', async () => {
    const { fetched, outcome } = documents();
    for (let n = 0; n < 100; n += 1) await outcome(`https://h${n}.example.com/client.json`, 'stranger');
    expect(fetched).toHaveLength(60);
    expect(await outcome(URL_OF_APP, 'user')).toBe('An app');
  });

  it('[case 95] are at most 600 a minute of all hosts', async () => {
    const { clock, fetched, outcome } = documents();
    for (let n = 0; n < 600; n += 1) await outcome(`https://h${n}.example.com/client.json`);
    expect(await outcome('https://last.example.com/client.json')).toMatch(/^rate_limited: /);
    expect(fetched).toHaveLength(600);
    await clock.advance(MINUTE_MS);
    expect(await outcome('https://last.example.com/client.json')).toBe('An app');
  });

  it('[case 95] are kept beside any number of URLs that lead nowhere', async () => {
    const isGood = ({ href }: URL) => href === URL_OF_APP;
    const good = () => Promise.resolve({ fields: documentOf(URL_OF_APP), maxAgeSeconds: 24 * 60 * 60 });
    const { clock, fetched, outcome } = documents({ answer: (url) => (isGood(url) ? good() : Promise.reject(invalid())) });
    await outcome(URL_OF_APP);
    for (let minute = 0; minute < 8; minute += 1) {
      await clock.advance(MINUTE_MS);
      for (let n = 0; n < 600; n += 1) await outcome(`https://h${minute}-${n}.example.com/client.json`);
    }
    expect(await outcome(URL_OF_APP)).toBe('An app');
    expect(fetched).toHaveLength(1 + 8 * 600);
  });

  it('do not push out the others when a host has many of them', async () => {
    const { clock, fetched, outcome } = documents({ maxAgeSeconds: 24 * 60 * 60 });
    await outcome(URL_OF_APP);
    for (let minute = 0; minute < 200; minute += 1) {
      for (let n = 0; n < 20; n += 1) await outcome(`https://flood.example.com/${minute}/${n}`);
      await clock.advance(MINUTE_MS);
      await outcome(URL_OF_APP);
    }
    expect(fetched.filter((href) => href === URL_OF_APP)).toHaveLength(1);
  });
});
