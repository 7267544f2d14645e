import { indexedCollections } from '@bubbles/store/indexed-collections.ts';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { openGrants } from '../src/adapters/store/grants.ts';
import { openUses } from '../src/adapters/store/uses.ts';
import type { Grant } from '../src/domain/grant.ts';
import type { GrantStore } from '../src/ports.ts';
import { type Browser, browserOf, markupFaults, onlyForm } from './browser.ts';
import { AT, aGrant } from './builders.ts';
import { type Person, startIdentity, type TestIdentity } from './identity.ts';
import { oauthAt } from './oauth.ts';

const PATH = '/app/connected-apps';
const ASK = `${PATH}/disconnect`;
const DOCUMENT_ID = 'https://app.example.com/client.json';
const DAY_MS = 86_400_000;
const days = (n: number) => new Date(AT.getTime() + n * DAY_MS);

let identity: TestIdentity;
let ada: Person;
let browser: Browser;
let grants: GrantStore;
beforeEach(async () => {
  identity = await startIdentity();
  ada = await identity.person();
  browser = browserOf(identity, ada.session);
  grants = openGrants(indexedCollections(identity.database).open).grants;
});
afterEach(() => identity.stop());

const allow = async (fields: Partial<Grant>) =>
  grants.insert(aGrant({ accountId: ada.id, createdAt: AT, expiresAt: days(365), life: 1, ...fields }));
const askAbout = (clientId: string) => browser.get(`${ASK}?client=${encodeURIComponent(clientId)}`);
/** Names of the apps, in their order. */
const appsOn = (html: string) => [...html.matchAll(/<th scope="row"><bdi>(.*?)<\/bdi>/g)].map(([, name]) => name);

describe('the page of the connected apps', () => {
  it('says so when there are none', async () => {
    const page = await browser.get(PATH);
    expect([page.status, page.heading]).toEqual([200, 'Connected apps']);
    expect(page.text).toContain('There are none.');
    expect(markupFaults(page.html)).toEqual([]);
  });

  it('shows each app once with its newest name, all that it may, and its last use', async () => {
    await allow({ id: 'old', clientId: 'notes', clientName: 'Notes', scopes: ['bubbles:read'], createdAt: days(-9) });
    await allow({ id: 'new', clientId: 'notes', clientName: 'Better notes', scopes: ['webhooks:manage'], createdAt: days(-1) });
    await allow({ id: 'other', clientId: DOCUMENT_ID, clientName: 'Other', scopes: ['bubbles:read'], createdAt: days(-4) });
    await allow({ id: 'over', clientId: 'over', clientName: 'Over', expiresAt: AT });
    await allow({ id: 'earlier', clientId: 'earlier', clientName: 'Earlier life', life: 0 });
    await allow({ id: 'foreign', clientId: 'foreign', clientName: 'Foreign', accountId: 'user-2' });
    const uses = openUses(indexedCollections(identity.database).open, 'grant_uses');
    uses.note('old', days(-2));
    uses.note('new', days(-3));
    await uses.flush();
    const page = await browser.get(PATH);
    expect(appsOn(page.html)).toEqual(['Better notes', 'Other']);
    expect(page.text).toContain('Create and manage webhook subscriptions.Read bubbles, transcripts, comments and summaries.');
    expect(page.text).toContain('28 Feb 2026, 10:00 UTC27 Feb 2026, 10:00 UTC');
    expect(page.text).toContain('Not yet');
    expect(page.text).toContain('nobody has verified it');
    expect(markupFaults(page.html)).toEqual([]);
  });

  it('has pages of whole apps, however many there are', async () => {
    for (let n = 0; n < 90; n += 1) await allow({ id: `a${n}`, clientId: `a${String(n).padStart(2, '0')}`, clientName: `A${n}` });
    for (let n = 0; n < 150; n += 1) await allow({ id: `b${n}`, clientId: 'b', clientName: 'B' });
    for (let n = 0; n < 30; n += 1) await allow({ id: `c${n}`, clientId: `c${n % 10}`, clientName: `C${n % 10}` });
    const seen: (string | undefined)[] = [];
    let path: string | undefined = PATH;
    for (let pages = 0; path !== undefined; pages += 1) {
      expect(pages).toBeLessThan(4);
      const { html } = await browser.get(path);
      for (const name of appsOn(html)) seen.push(name);
      path = /<a href="([^"]*)">More apps<\/a>/.exec(html)?.[1];
    }
    expect(seen.length).toBe(new Set(seen).size);
    expect(seen).toHaveLength(101);
  });
});

describe('disconnecting an app', () => {
  it('is asked for, and ends all that this account allowed it at once', async () => {
    const oauth = oauthAt(identity);
    const client = await oauth.client();
    const tokenFor = async ({ id }: Person): Promise<string> =>
      (await oauth.exchange(client, await oauth.code(client, id))).body.access_token;
    const tokens = [await tokenFor(ada), await tokenFor(ada)];
    const kept = await tokenFor(await identity.person());
    const me = async (token: string) => (await identity.as(token)('GET', '/v1/me')).status;
    for (const token of [...tokens, kept]) expect(await me(token)).toBe(200);

    const page = await askAbout(client.id);
    expect([page.status, page.heading]).toEqual([200, 'Disconnect an app']);
    expect(markupFaults(page.html)).toEqual([]);
    const form = onlyForm(page, ASK);
    const done = await browser.send(form);
    expect([done.status, done.location]).toEqual([303, `${PATH}?done=disconnected`]);
    for (const token of tokens) expect(await me(token)).toBe(401);
    expect(await me(kept)).toBe(200);
    const list = await browser.get(`${PATH}?done=disconnected`);
    expect(list.html).toContain('<p role="status">The app was disconnected.</p>');
    expect(list.text).toContain('There are none.');
    expect((await browser.send(form)).status).toBe(303);
  });

  it('goes for an app whose id is a URL', async () => {
    await allow({ clientId: DOCUMENT_ID });
    await browser.send(onlyForm(await askAbout(DOCUMENT_ID), ASK));
    expect(await grants.ofAccount(ada.id)).toEqual([]);
  });

  it.each(['nothing', '', 'foreign'])('is 404 for an app that was allowed nothing here: %j', async (clientId) => {
    await allow({ clientId: 'foreign', accountId: 'user-2' });
    expect((await askAbout(clientId)).status).toBe(clientId === '' ? 400 : 404);
  });

  it.each([
    ['no token', { token: '' }, {}],
    ['a wrong token', { token: 'x' }, {}],
    ['a form of another site', {}, { 'sec-fetch-site': 'cross-site' }],
  ])('[case 41] ends nothing with %s', async (_what, typed, headers) => {
    await allow({ clientId: 'notes' });
    expect((await browser.send(onlyForm(await askAbout('notes'), ASK), typed, headers)).status).toBe(403);
    expect(await grants.ofAccount(ada.id)).toHaveLength(1);
  });

  it('[case 41] ends nothing with the token of another app', async () => {
    for (const clientId of ['notes', 'other']) await allow({ id: clientId, clientId });
    const form = onlyForm(await askAbout('notes'), ASK);
    expect((await browser.send({ ...form, action: `${ASK}?client=other` })).status).toBe(403);
    expect(await grants.ofAccount(ada.id)).toHaveLength(2);
  });

  it('[case 48] shows names and ids of apps as they are and never as markup', async () => {
    const hostile = `"><script>alert('1')</script>&`;
    await allow({ clientId: hostile, clientName: hostile });
    for (const page of [await browser.get(PATH), await askAbout(hostile)]) {
      expect(page.html).not.toContain('<script');
      expect(page.html).toContain('&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;');
      expect(markupFaults(page.html)).toEqual([]);
    }
    await browser.send(onlyForm(await askAbout(hostile), ASK));
    expect(await grants.ofAccount(ada.id)).toEqual([]);
  });
});
