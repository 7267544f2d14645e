import { failEverywhere, falteringWorld } from '@bubbles/testing/faltering-world.ts';
import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { afterEach, describe, expect, it } from '@jest/globals';
import { decodeProtectedHeader } from 'jose';
import { dieEverywhere, type World } from './crashing.ts';
import { startIdentity, type TestIdentity } from './identity.ts';
import { oauthAt, type TestClient } from './oauth.ts';

const DAY_MS = 86_400_000;
const CLIENT = { client_name: 'Notes', redirect_uris: ['https://notes.test/callback'] };

let identity: TestIdentity;
afterEach(() => identity?.stop());

const kidsAt = async (at: TestIdentity): Promise<string[]> =>
  (await at.as(null)('GET', '/oauth/jwks')).body.keys.map(({ kid }: { kid: string }) => kid);
const connect = async (app: TestClient, accountId: string) => {
  const oauth = oauthAt(identity);
  return (await oauth.exchange(app, await oauth.code(app, accountId))).body;
};
const works = async (at: TestIdentity, token: string) => (await at.as(token)('GET', '/v1/me')).body.error?.type ?? 'works';

describe('a store that is away for one step', () => {
  it('[OAUTH-09] while keys rotate and access tokens are issued, checked and ended: what was answered holds, and all goes on', async () => {
    const { database, failing } = falteringWorld();
    identity = await startIdentity({ database: database(memoryDatabase()) });
    const ada = await identity.person();
    await identity.clock.advance(DAY_MS);
    const failures = await failEverywhere(async (step) => {
      const oauth = oauthAt(identity);
      const app = await oauth.client();
      // The time of the key that signs is over in a day.
      await identity.clock.advance(28 * DAY_MS);
      const [kept, ended] = [await connect(app, ada.id), await connect(app, ada.id)];
      const code = await oauth.code(app, ada.id);
      const { hasFailed, outcome } = await failing(step, async () => {
        const rotation = identity.runJob('rotate-access-token-keys').catch(() => null);
        const answers = await Promise.all([
          identity.as(null)('GET', '/oauth/jwks'),
          identity.as(kept.access_token)('GET', '/v1/me'),
          oauth.exchange(app, code),
          oauth.revoke(app, ended.access_token),
        ]);
        await rotation;
        return answers;
      });
      const [shown, used, exchanged, revoked] = outcome;
      for (const { status } of [shown, used, exchanged, revoked]) expect([200, 500]).toContain(status);
      if (exchanged.status === 200) expect(await works(identity, exchanged.body.access_token)).toBe('works');
      if (revoked.status !== 200) expect((await oauth.revoke(app, ended.access_token)).status).toBe(200);
      expect([await works(identity, kept.access_token), await works(identity, ended.access_token)]).toEqual(['works', 'unauthorized']);
      await identity.runJob('rotate-access-token-keys');
      expect(await kidsAt(identity)).toHaveLength(2);
      await identity.clock.advance(2 * DAY_MS);
      const next = await connect(app, ada.id);
      expect(await kidsAt(identity)).toEqual([decodeProtectedHeader(next.access_token).kid]);
      return hasFailed;
    });
    expect(failures).toBeGreaterThan(15);
  });
});

describe('dying between any two steps of the store', () => {
  const addClient = async ({ survivor }: World) => (await survivor.admin('POST', 'clients', CLIENT)).body.client_id;
  const grantsOf = async ({ survivor, ada }: World) => (await survivor.admin('GET', `accounts/${ada.id}/grants`)).body.grants;

  it('[OAUTH-06] an operator issues a grant: what was answered works, and what was not is worth nothing to anybody', async () => {
    const deaths = await dieEverywhere(
      async (here) => here.doomed.admin('POST', `accounts/${here.ada.id}/grants`, { client_id: await addClient(here) }),
      async (here, answer) => {
        const grants = await grantsOf(here);
        expect(grants.length).toBeLessThanOrEqual(1);
        if (answer === null) return;
        expect(await works(here.survivor, answer.body.access_token)).toBe('works');
        const app = { id: answer.body.grant.client_id, secret: null };
        expect((await oauthAt(here.survivor).refresh(app, answer.body.refresh_token)).status).toBe(200);
      },
    );
    expect(deaths).toBeGreaterThan(2);
  });

  it('[case 59] an operator ends a client: a second try ends it with all that was granted to it', async () => {
    let clientId = '';
    let token = '';
    const deaths = await dieEverywhere(
      async (here) => {
        clientId = await addClient(here);
        token = (await here.survivor.admin('POST', `accounts/${here.ada.id}/grants`, { client_id: clientId })).body.access_token;
        return here.doomed.admin('DELETE', `clients/${clientId}`);
      },
      async (here, answer) => {
        if (answer === null) expect([204, 404]).toContain((await here.survivor.admin('DELETE', `clients/${clientId}`)).status);
        expect(await works(here.survivor, token)).toBe('unauthorized');
        expect(await grantsOf(here)).toEqual([]);
        const again = await here.survivor.admin('POST', `accounts/${here.ada.id}/grants`, { client_id: clientId });
        expect(again.status).toBe(404);
      },
    );
    expect(deaths).toBeGreaterThan(2);
  });
});
