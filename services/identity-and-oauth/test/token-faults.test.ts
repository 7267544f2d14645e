import { failEverywhere, falteringWorld } from '@bubbles/testing/faltering-world.ts';
import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { afterEach, describe, expect, it } from '@jest/globals';
import { dieEverywhere } from './crashing.ts';
import { type Answer, startIdentity, type TestIdentity } from './identity.ts';
import { oauthAt, type TestClient } from './oauth.ts';

const AFTER_THE_RACE_MS = 2000;
/** Longer than the processes of a test are given to take over. */
const codeMs = 600_000;

const me = async (identity: TestIdentity, accessToken: string) => (await identity.as(accessToken)('GET', '/v1/me')).status;

/** An app with a code, or with what it got for its code. */
const withCode = async (identity: TestIdentity, accountId: string) => {
  const app = await oauthAt(identity).client();
  return { app, code: await oauthAt(identity).code(app, accountId, { codeMs }) };
};
const withTokens = async (identity: TestIdentity, accountId: string) => {
  const { app, code } = await withCode(identity, accountId);
  return { app, code, tokens: (await oauthAt(identity).exchange(app, code)).body };
};

const expectGood = async (identity: TestIdentity, app: TestClient, { status, body }: Answer) => {
  expect(status).toBe(200);
  expect(await me(identity, body.access_token)).toBe(200);
  expect((await oauthAt(identity).refresh(app, body.refresh_token)).status).toBe(200);
};
const expectDead = async (identity: TestIdentity, app: TestClient, { body }: Pick<Answer, 'body'>) => {
  expect(await me(identity, body.access_token)).toBe(401);
  expect((await oauthAt(identity).refresh(app, body.refresh_token)).body.error).toBe('invalid_grant');
};

describe('dying between any two steps of the store', () => {
  it('[OAUTH-06] exchanging a code: the app has its tokens, or its code is still good', async () => {
    let asked: Awaited<ReturnType<typeof withCode>>;
    const deaths = await dieEverywhere(
      async ({ doomed, survivor, ada }) => {
        asked = await withCode(survivor, ada.id);
        return oauthAt(doomed).exchange(asked.app, asked.code);
      },
      async ({ survivor }, answer) => {
        const { app, code } = asked;
        await expectGood(survivor, app, answer ?? (await oauthAt(survivor).exchange(app, code)));
      },
    );
    expect(deaths).toBeGreaterThan(4);
  });

  it('[OAUTH-07] refreshing: the app has its new tokens, or the one it sent is still good', async () => {
    let asked: Awaited<ReturnType<typeof withTokens>>;
    const deaths = await dieEverywhere(
      async ({ doomed, survivor, ada }) => {
        asked = await withTokens(survivor, ada.id);
        return oauthAt(doomed).refresh(asked.app, asked.tokens.refresh_token);
      },
      async ({ survivor }, answer) => {
        const { app, tokens } = asked;
        await expectGood(survivor, app, answer ?? (await oauthAt(survivor).refresh(app, tokens.refresh_token)));
      },
    );
    expect(deaths).toBeGreaterThan(3);
  });

  it('[OAUTH-07] refreshing with a token that was used before: once it is refused, nothing of the grant is left', async () => {
    let asked: Awaited<ReturnType<typeof withTokens>>;
    const deaths = await dieEverywhere(
      async ({ doomed, survivor, ada }) => {
        asked = await withTokens(survivor, ada.id);
        const { app, tokens } = asked;
        asked = { ...asked, tokens: { ...tokens, next: (await oauthAt(survivor).refresh(app, tokens.refresh_token)).body } };
        await survivor.clock.advance(AFTER_THE_RACE_MS);
        return oauthAt(doomed).refresh(app, tokens.refresh_token);
      },
      async ({ survivor }, answer) => {
        const { app, tokens } = asked;
        const { status } = answer ?? (await oauthAt(survivor).refresh(app, tokens.refresh_token));
        expect(status).toBe(400);
        for (const body of [tokens, tokens.next]) await expectDead(survivor, app, { body });
      },
    );
    expect(deaths).toBeGreaterThan(5);
  });

  it('[OAUTH-08] revoking: once it is answered nothing is left, and before that all is as it was', async () => {
    let asked: Awaited<ReturnType<typeof withTokens>>;
    const deaths = await dieEverywhere(
      async ({ doomed, survivor, ada }) => {
        asked = await withTokens(survivor, ada.id);
        return oauthAt(doomed).revoke(asked.app, asked.tokens.refresh_token);
      },
      async ({ survivor }, answer) => {
        const { app, tokens } = asked;
        if (answer === null) {
          expect(await me(survivor, tokens.access_token)).toBe(200);
          expect((await oauthAt(survivor).revoke(app, tokens.refresh_token)).status).toBe(200);
        }
        await expectDead(survivor, app, { body: tokens });
      },
    );
    expect(deaths).toBeGreaterThan(2);
  });
});

describe('a store that is away for one step', () => {
  let identity: TestIdentity;
  afterEach(() => identity.stop());

  const isFault = ({ status, headers, body }: Answer) => {
    if (status < 500) return false;
    expect([body.error, headers.get('retry-after'), headers.get('cache-control')]).toEqual(['server_error', '1', 'no-store']);
    return true;
  };

  it('[OAUTH-06] [OAUTH-07] [OAUTH-08] while tokens are exchanged, refreshed and revoked: never two good ones of a grant, and what is asked again is done', async () => {
    const { database, failing } = falteringWorld();
    identity = await startIdentity({ database: database(memoryDatabase()) });
    const oauth = oauthAt(identity);
    const { id } = await identity.person();
    const failures = await failEverywhere(async (step) => {
      const { app, code } = await withCode(identity, id);
      const given: Answer[] = [];
      const note = (answer: Answer) => {
        if (answer.status === 200) given.push(answer);
        return answer;
      };
      const { hasFailed } = await failing(step, async () => {
        const exchanged = note(await oauth.exchange(app, code));
        if (isFault(exchanged)) note(await oauth.exchange(app, code));
        const [last] = given;
        if (last === undefined) return;
        const { refresh_token: token } = last.body;
        if (isFault(note(await oauth.refresh(app, token)))) note(await oauth.refresh(app, token));
        if (isFault(await oauth.revoke(app, token))) await oauth.revoke(app, token);
      });
      for (const answer of given) await expectDead(identity, app, answer);
      expect((await oauth.stores.grants.ofAccount(id)).filter(({ expiresAt }) => expiresAt > identity.clock.now())).toEqual([]);
      await identity.clock.advance(60_000);
      return hasFailed;
    });
    expect(failures).toBeGreaterThan(25);
  });

  it('[OAUTH-06] [OAUTH-07] while tokens are exchanged and refreshed: what failed is asked again when a race would be over, and the app keeps its grant', async () => {
    const { database, failing } = falteringWorld();
    identity = await startIdentity({ database: database(memoryDatabase()) });
    const oauth = oauthAt(identity);
    const { id } = await identity.person();
    const asked = async (work: () => Promise<Answer>) => {
      const answer = await work();
      if (!isFault(answer)) return answer;
      await identity.clock.advance(AFTER_THE_RACE_MS);
      return work();
    };
    const failures = await failEverywhere(async (step) => {
      const { app, code } = await withCode(identity, id);
      const { hasFailed, outcome } = await failing(step, async () => {
        const { status, body } = await asked(() => oauth.exchange(app, code));
        expect(status).toBe(200);
        return asked(() => oauth.refresh(app, body.refresh_token));
      });
      await expectGood(identity, app, outcome);
      await identity.clock.advance(60_000);
      return hasFailed;
    });
    expect(failures).toBeGreaterThan(15);
  });
});
