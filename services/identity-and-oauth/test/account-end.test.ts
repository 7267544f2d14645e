import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Person, startIdentity, type TestIdentity } from './identity.ts';
import { oauthAt, type TestClient } from './oauth.ts';
import { askForCode, type Browser, codeFor, openBrowser, signIn, titleOf } from './sign-in-browser.ts';

const ADA = 'ada@acme.test';
const TO_SIGN_IN = [303, '/app/sign-in?return_to=%2Fapp%2F'];

let identity: TestIdentity;
let ada: Person;
let browser: Browser;
let client: TestClient;
beforeEach(async () => {
  identity = await startIdentity();
  ada = await identity.person({ email: ADA });
  browser = openBrowser(identity);
  await signIn(identity, browser, ADA);
  client = await oauthAt(identity).client();
  await oauthAt(identity).code(client, ada.id);
});
afterEach(() => identity.stop());

const setState = (state: string) => identity.admin('PUT', `accounts/${ada.id}/state`, { state });
const home = async () => {
  const { status, to } = await browser.get('/app/');
  return [status, to];
};
const grants = () => identity.database.collection('oauth_grants').count({});

describe('an account that is disabled', () => {
  it('[case 96] [AUTH-05] is signed out in every browser at the next request, and signed in again when it is opened again', async () => {
    expect(await home()).toEqual([200, null]);
    await setState('disabled');
    expect(await home()).toEqual(TO_SIGN_IN);
    await setState('active');
    expect([await home(), await grants()]).toEqual([[200, null], 1]);
  });

  it('[AUTH-05] takes no sign-in that was begun before', async () => {
    const page = await askForCode(browser, ADA);
    const code = await codeFor(identity, ADA);
    await setState('disabled');
    expect(titleOf(await browser.submit(page, { code }))).toEqual([403, 'This account is closed']);
  });
});

describe('an account whose credentials are ended', () => {
  it('[AUTH-05] [KEY-05] keeps none of them, though it was disabled and is opened again, and gets new ones', async () => {
    await setState('disabled');
    expect((await identity.admin('DELETE', `accounts/${ada.id}/credentials`)).status).toBe(204);
    await setState('active');
    expect([await home(), await grants()]).toEqual([TO_SIGN_IN, 0]);
    const refused = await identity.as(ada.pat)('GET', '/v1/me');
    expect([refused.status, refused.body.error.type]).toEqual([401, 'token_revoked']);
    expect((await identity.as(ada.session)('GET', '/v1/api-keys')).status).toBe(401);
    const { body: key } = await identity.admin('POST', `accounts/${ada.id}/keys`, { name: 'new' });
    expect((await identity.as(key.token)('GET', '/v1/me')).status).toBe(200);
    await signIn(identity, browser, ADA);
    expect(await home()).toEqual([200, null]);
  });

  it('[ERR-07] is refused when there is no such account', async () => {
    expect((await identity.admin('DELETE', 'accounts/nobody/credentials')).status).toBe(404);
  });
});

describe('an account that is deleted', () => {
  it('[case 96] [AUTH-05] ends its sessions and grants for good, also when it is opened again', async () => {
    await setState('deleted');
    expect([await home(), await grants()]).toEqual([TO_SIGN_IN, 0]);
    await setState('active');
    expect([await home(), await grants()]).toEqual([TO_SIGN_IN, 0]);
  });

  it('[AUTH-05] leaves a sign-in that was begun before to a new account', async () => {
    const page = await askForCode(browser, ADA);
    const code = await codeFor(identity, ADA);
    await setState('deleted');
    const proven = await browser.submit(page, { code });
    expect((await browser.submit(await browser.get(proven.to ?? ''), { name: 'Ada' })).status).toBe(303);
    expect(await home()).toEqual([200, null]);
    const { accounts } = (await identity.admin('GET', `accounts?email=${ADA}`)).body;
    expect(accounts.map(({ user_id }: { user_id: string }) => user_id)).not.toContain(ada.id);
  });
});
