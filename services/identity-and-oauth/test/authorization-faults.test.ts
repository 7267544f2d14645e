import { failEverywhere, falteringWorld } from '@bubbles/testing/faltering-world.ts';
import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { afterEach, describe, expect, it } from '@jest/globals';
import { aBrowser, authorizeUrl, granted, REDIRECT_URI, register, told } from './consenting.ts';
import { dieEverywhere } from './crashing.ts';
import { type Answer, startIdentity, type TestIdentity } from './identity.ts';
import { oauthAt } from './oauth.ts';

const answerOf = ({ status, headers }: Response): Answer => ({ status, headers, body: null });
const registration = (identity: TestIdentity, method: string, { client_id, registration_access_token }: Answer['body']) =>
  identity.as(registration_access_token)(method, `/oauth/register/${client_id}`);
const me = async (identity: TestIdentity, accessToken: string) => (await identity.as(accessToken)('GET', '/v1/me')).status;

/** A client that holds tokens of a user. */
const connected = async (identity: TestIdentity, session: string) => {
  const { body } = await identity.as(null)('POST', '/oauth/register', {
    redirect_uris: [REDIRECT_URI],
    token_endpoint_auth_method: 'none',
  });
  const browser = aBrowser(identity, { session });
  const { code = '' } = told(await browser.answer(await browser.ask(body.client_id)));
  const { access_token: accessToken } = (await oauthAt(identity).exchange({ id: body.client_id, secret: null }, code)).body;
  return { client: body, accessToken };
};

/** Whole or not there: what the browser was told is good, and it can begin again. */
const expectConsentWorks = async (identity: TestIdentity, session: string, clientId: string) => {
  const browser = aBrowser(identity, { session });
  const { code = '' } = told(await browser.answer(await browser.ask(clientId)));
  expect((await oauthAt(identity).exchange({ id: clientId, secret: null }, code)).status).toBe(200);
};

describe('dying between any two steps of the store', () => {
  it('[OAUTH-03] registering: a client that is told of is there', async () => {
    const deaths = await dieEverywhere(
      ({ doomed }) => doomed.as(null)('POST', '/oauth/register', { redirect_uris: [REDIRECT_URI] }),
      async ({ survivor }, answer) => {
        if (answer !== null) expect((await registration(survivor, 'GET', answer.body)).status).toBe(200);
        expect((await survivor.as(null)('POST', '/oauth/register', { redirect_uris: [REDIRECT_URI] })).status).toBe(201);
      },
    );
    expect(deaths).toBeGreaterThan(1);
  });

  it('[case 59] deleting a client: once it is answered nothing is left, and until then it can be asked for again', async () => {
    let asked: Awaited<ReturnType<typeof connected>>;
    const deaths = await dieEverywhere(
      async ({ doomed, survivor, ada }) => {
        asked = await connected(survivor, ada.session);
        return registration(doomed, 'DELETE', asked.client);
      },
      async ({ survivor }, answer) => {
        const before = await registration(survivor, 'GET', asked.client);
        if (answer !== null) expect(before.status).toBe(401);
        if (before.status === 200) expect((await registration(survivor, 'DELETE', asked.client)).status).toBe(204);
        expect(await me(survivor, asked.accessToken)).toBe(401);
        expect((await granted(survivor)).grants).toBe(0);
      },
    );
    expect(deaths).toBeGreaterThan(3);
  });

  it('[OAUTH-05] asking: the browser has the page of its request, or asks again', async () => {
    let clientId: string;
    const deaths = await dieEverywhere(
      async ({ doomed, survivor }) => {
        clientId = await register(survivor);
        return answerOf(await doomed.fetch(authorizeUrl({ client_id: clientId })));
      },
      async ({ survivor, ada }, answer) => {
        if (answer !== null) {
          const headers = { cookie: `__Host-session=${ada.session}; ${answer.headers.getSetCookie()[0]?.split(';', 1)[0]}` };
          expect((await survivor.fetch(answer.headers.get('location') ?? '', { headers })).status).toBe(200);
        }
        await expectConsentWorks(survivor, ada.session, clientId);
      },
    );
    expect(deaths).toBeGreaterThan(2);
  });

  it('[case 44] allowing: there is one grant with its code or nothing that works, and the form can be sent again', async () => {
    let clientId: string;
    let again: () => Promise<Response>;
    const deaths = await dieEverywhere(
      async ({ doomed, survivor, ada }) => {
        clientId = await register(survivor);
        const here = aBrowser(survivor, ada);
        const question = await here.ask(clientId);
        again = () => here.answer(question);
        const there = aBrowser(doomed, ada);
        there.cookies.set(question.path, here.cookies.get(question.path) ?? '');
        return answerOf(await there.answer(question));
      },
      async ({ survivor, ada }) => {
        const { grants, codes } = await granted(survivor);
        expect(grants).toBeLessThanOrEqual(1);
        expect(codes).toBeLessThanOrEqual(grants);
        const { status } = await again();
        expect([303, 400]).toContain(status);
        expect((await granted(survivor)).grants).toBeLessThanOrEqual(1);
        await expectConsentWorks(survivor, ada.session, clientId);
      },
    );
    expect(deaths).toBeGreaterThan(5);
  });
});

describe('a store that is away for one step', () => {
  let identity: TestIdentity;
  afterEach(() => identity.stop());

  /** Sent again at once when it failed on our side, which a page says. */
  const orAgain = async (send: () => Promise<Response>): Promise<Response> => {
    const response = await send();
    if (response.status < 500) return response;
    expect([response.status, response.headers.get('content-type'), response.headers.get('retry-after')]).toEqual([
      500,
      'text/html; charset=utf-8',
      '1',
    ]);
    return send();
  };

  it('[OAUTH-05] while a client asks and the user allows: what is sent again gets the code, one each time, and it is good', async () => {
    const { database, failing } = falteringWorld();
    identity = await startIdentity({ database: database(memoryDatabase()) });
    const ada = await identity.person();
    const failures = await failEverywhere(async (step) => {
      const clientId = await register(identity);
      const before = await granted(identity);
      const browser = aBrowser(identity, ada);
      const { hasFailed, outcome } = await failing(step, async () => {
        const asked = await orAgain(() => browser.get(authorizeUrl({ client_id: clientId })));
        const path = asked.headers.get('location') ?? '';
        const page = await (await orAgain(() => browser.get(path))).text();
        const token = /name="token" value="([^"]*)"/.exec(page)?.[1] ?? '';
        return told(await orAgain(() => browser.answer({ path, token, ticked: ['bubbles:read'] })));
      });
      expect(await granted(identity)).toEqual({ grants: before.grants + 1, codes: before.codes + 1 });
      const { status, body } = await oauthAt(identity).exchange({ id: clientId, secret: null }, outcome['code'] ?? '');
      expect([status, body.scope]).toEqual([200, 'bubbles:read']);
      await identity.clock.advance(60_000);
      return hasFailed;
    });
    expect(failures).toBeGreaterThan(15);
  });

  it('[OAUTH-03] [case 59] while a client registers, changes and goes: a fault is JSON that says to try again, and then it is done', async () => {
    const { database, failing } = falteringWorld();
    identity = await startIdentity({ database: database(memoryDatabase()) });
    const again = async (send: () => Promise<Answer>): Promise<Answer> => {
      const answer = await send();
      if (answer.status < 500) return answer;
      expect([answer.body.error, answer.headers.get('retry-after'), answer.headers.get('cache-control')]).toEqual([
        'server_error',
        '1',
        'no-store',
      ]);
      return send();
    };
    const failures = await failEverywhere(async (step) => {
      const metadata = { redirect_uris: [REDIRECT_URI], client_name: 'Notes' };
      const { hasFailed, outcome } = await failing(step, async () => {
        const { body } = await again(() => identity.as(null)('POST', '/oauth/register', metadata));
        const call = identity.as(body.registration_access_token);
        const path = `/oauth/register/${body.client_id}`;
        const changed = await again(() => call('PUT', path, { ...metadata, client_id: body.client_id, client_name: 'Other' }));
        expect(changed.body.client_name).toBe('Other');
        return { body, gone: await again(() => call('DELETE', path)) };
      });
      // The first try may have deleted it before its answer was lost.
      expect([204, 401]).toContain(outcome.gone.status);
      expect((await registration(identity, 'GET', outcome.body)).status).toBe(401);
      await identity.clock.advance(180_000);
      return hasFailed;
    });
    expect(failures).toBeGreaterThan(10);
  });
});
