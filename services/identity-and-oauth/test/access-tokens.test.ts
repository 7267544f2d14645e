import type { Database, Doc } from '@bubbles/store/collection.ts';
import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { decodeJwt } from 'jose';
import { hashToken } from '../src/domain/token.ts';
import { type Person, startIdentity, type TestIdentity } from './identity.ts';
import { oauthAt, type TestClient } from './oauth.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The reads of each collection. */
const countedReads = () => {
  const database = memoryDatabase();
  const reads: string[] = [];
  const counted: Database = {
    ...database,
    collection: <T extends Doc>(name: string) => {
      const collection = database.collection<T>(name);
      const find: typeof collection.find = (...query) => {
        reads.push(name);
        return collection.find(...query);
      };
      return { ...collection, find };
    },
  };
  return { database: counted, reads };
};

let identity: TestIdentity;
let reads: string[];
let ada: Person;
let app: TestClient;
beforeEach(async () => {
  const counted = countedReads();
  ({ reads } = counted);
  identity = await startIdentity({ database: counted.database });
  ada = await identity.person();
  app = await oauthAt(identity).client();
});
afterEach(() => identity.stop());

const connect = async (person = ada, scopes?: string[]): Promise<{ access_token: string; refresh_token: string }> => {
  const oauth = oauthAt(identity);
  return (await oauth.exchange(app, await oauth.code(app, person.id, { ...(scopes && { scopes }) }))).body;
};
const refusalAt = async (path: string, token: string) => {
  const { status, body } = await identity.as(token)('GET', path);
  return status === 200 ? 200 : body.error.type;
};
const me = (token: string) => refusalAt('/v1/me', token);
const checkOf = (jwt: string) => ({ h: hashToken(jwt), jwt, aud: 'bubbles-query', accepts: ['pat', 'oauth'] });
const checks = async (...jwts: readonly string[]) =>
  (await identity.service('gateway')('POST', '/internal/v1/checks', { checks: jwts.map(checkOf) })).body.answers;
const setState = (state: string) => identity.admin('PUT', `accounts/${ada.id}/state`, { state });

describe('an access token', () => {
  it('[AUTH-02] [AUTH-09] is taken on data endpoints with any scope, and not where the app manages keys', async () => {
    const { access_token } = await connect(ada, ['meetings:join']);
    for (const path of ['/v1/me', '/v1/teams']) expect([path, await refusalAt(path, access_token)]).toEqual([path, 200]);
    expect(await refusalAt('/v1/api-keys', access_token)).toBe('unauthorized');
  });

  it('[RATE-04] of one grant shares its budget with the others, and the grant is vouched for with the scopes of the token', async () => {
    const first = await connect(ada, ['bubbles:read', 'webhooks:manage']);
    const narrowed = (await oauthAt(identity).refresh(app, first.refresh_token, { scope: 'bubbles:read' })).body;
    const [one, other] = await checks(first.access_token, narrowed.access_token);
    const { gid } = decodeJwt(first.access_token);
    expect([one.remaining, other.remaining]).toEqual([119, 118]);
    expect([one, other].map(({ assertion }) => decodeJwt(assertion))).toMatchObject([
      { sub: ada.id, cid: gid, kind: 'oauth', scopes: ['bubbles:read', 'webhooks:manage'] },
      { sub: ada.id, cid: gid, kind: 'oauth', scopes: ['bubbles:read'] },
    ]);
  });

  it('[OAUTH-10] has ended after an hour', async () => {
    const { access_token } = await connect();
    await identity.clock.advance(HOUR_MS - 1);
    expect(await me(access_token)).toBe(200);
    await identity.clock.advance(1);
    expect(await me(access_token)).toBe('unauthorized');
  });

  it('[case 90] [AUTH-01] is refused with the way to get another one', async () => {
    const { access_token } = await connect();
    const { status, headers } = await identity.as(`${access_token}x`)('GET', '/v1/me');
    expect([status, headers.get('www-authenticate')]).toEqual([
      401,
      'Bearer resource_metadata="https://api.test/.well-known/oauth-protected-resource"',
    ]);
  });

  it.each(['disabled', 'deleted'])(
    '[case 96] [AUTH-05] of an account that is %s: account_deleted, live, expired or revoked',
    async (state) => {
      const [live, revoked, expired] = [await connect(), await connect(), await connect()];
      await oauthAt(identity).revoke(app, revoked.access_token);
      expect(await me(revoked.access_token)).toBe('unauthorized');
      await setState(state);
      for (const { access_token } of [live, revoked]) expect(await me(access_token)).toBe('account_deleted');
      expect(await refusalAt('/v1/api-keys', live.access_token)).toBe('account_deleted');
      await identity.clock.advance(2 * HOUR_MS);
      expect(await me(expired.access_token)).toBe('account_deleted');
      expect(await checks(live.access_token)).toMatchObject([{ outcome: 'refused', type: 'account_deleted' }]);
    },
  );

  it('[case 96] [AUTH-05] works again when a disabled account does, and not when a deleted one is opened again', async () => {
    const { access_token } = await connect();
    await setState('disabled');
    await setState('active');
    expect(await me(access_token)).toBe(200);
    await setState('deleted');
    await setState('active');
    expect(await me(access_token)).toBe('unauthorized');
  });

  it('[OAUTH-08] ends with its grant on every replica at the next request, also where its signature is remembered', async () => {
    const other = await startIdentity({ database: identity.database, clock: identity.clock });
    const { access_token } = await connect();
    const meAtOther = async () => (await other.as(access_token)('GET', '/v1/me')).status;
    expect([await me(access_token), await meAtOther()]).toEqual([200, 200]);
    await oauthAt(identity).revoke(app, access_token);
    expect([await me(access_token), await meAtOther()]).toEqual(['unauthorized', 401]);
    await other.stop();
  });

  it('[OAUTH-09] of a replica that made its key a moment ago is taken by another one', async () => {
    const other = await startIdentity({ database: identity.database, clock: identity.clock });
    await identity.clock.advance(40 * DAY_MS);
    const { access_token } = await connect();
    expect((await other.as(access_token)('GET', '/v1/me')).status).toBe(200);
    await other.stop();
  });

  it('[AUTH-05] a batch is one read of grants and one of accounts, however many tokens and whose', async () => {
    const ben = await identity.person({ email: 'ben@acme.test' });
    const tokens = [await connect(), await connect(ben), await connect()].map(({ access_token }) => access_token);
    await checks(...tokens);
    reads.length = 0;
    const answers = await checks(...tokens, ...tokens);
    expect(answers.map(({ outcome }: { outcome: string }) => outcome)).toEqual(Array(6).fill('allowed'));
    expect(reads.toSorted()).toEqual(['accounts', 'oauth_grants']);
  });

  it('[KEY-09] shows the last use of its grant within a minute', async () => {
    const { access_token } = await connect();
    await identity.clock.advance(5000);
    await me(access_token);
    await identity.settle();
    const { body } = await identity.admin('GET', `accounts/${ada.id}/grants`);
    expect(body.grants).toMatchObject([{ last_used_at: '2026-03-01T10:00:05.000Z' }]);
  });

  it('[case 86] of another installation, or with anything changed, is unauthorized', async () => {
    const elsewhere = await startIdentity({ clock: identity.clock });
    const { access_token } = await connect();
    expect((await elsewhere.as(access_token)('GET', '/v1/me')).status).toBe(401);
    await elsewhere.stop();
    const [head = '', payload = '', signature = ''] = access_token.split('.');
    const claims = { ...decodeJwt(access_token), scope: 'webhooks:manage' };
    const forged = Buffer.from(JSON.stringify(claims)).toString('base64url');
    const none = Buffer.from('{"alg":"none","typ":"at+jwt"}').toString('base64url');
    for (const token of [`${head}.${forged}.${signature}`, `${none}.${payload}.`, `${none}.${payload}.${signature}`])
      expect(await me(token)).toBe('unauthorized');
    expect(await me(access_token)).toBe(200);
  });

  it('[AUTH-08] is not in the store, nor is its refresh token', async () => {
    const tokens = await connect();
    await me(tokens.access_token);
    await identity.settle();
    for (const name of ['oauth_grants', 'oauth_codes', 'oauth_refresh_tokens', 'grant_uses', 'oauth_signing_keys']) {
      const text = JSON.stringify(await identity.database.collection(name).find({}));
      expect(text.includes(tokens.access_token) || text.includes(tokens.refresh_token)).toBe(false);
    }
  });
});
