import { indexedCollections } from '@bubbles/store/indexed-collections.ts';
import { failEverywhere, falteringWorld } from '@bubbles/testing/faltering-world.ts';
import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { openGrants } from '../src/adapters/store/grants.ts';
import { type Browser, browserOf, onlyForm, type ShownForm, type ShownPage } from './browser.ts';
import { aGrant } from './builders.ts';
import { type Person, startIdentity, type TestIdentity } from './identity.ts';

const KEYS = '/app/api-keys';
const APPS = '/app/connected-apps';
const SESSIONS = '/app/sessions';

const { database, failing } = falteringWorld();
let identity: TestIdentity;
beforeEach(async () => {
  identity = await startIdentity({ database: database(memoryDatabase()) });
});
afterEach(() => identity.stop());

interface Scene {
  readonly ada: Person;
  readonly browser: Browser;
}
const scene = async (): Promise<Scene> => {
  const ada = await identity.person();
  await identity.join(await identity.team(), ada.id);
  const { grants } = openGrants(indexedCollections(identity.database).open);
  await grants.insert(aGrant({ id: `grant of ${ada.id}`, accountId: ada.id }));
  return { ada, browser: browserOf(identity, ada.session) };
};

/** A page of ours says that it was our fault, and when to come again. */
const expectFault = (page: ShownPage) => {
  expect([page.status, page.heading, page.headers.get('content-type')]).toEqual([500, 'Something went wrong', 'text/html; charset=utf-8']);
  expect(Number(page.headers.get('retry-after'))).toBeGreaterThan(0);
};

/** Sends a form while the store is away for each of its steps in turn; then sends it again, and looks at what there is. */
const sendEverywhere = (
  open: (scene: Scene) => Promise<ShownForm>,
  done: (scene: Scene, first: ShownPage, again: ShownPage) => Promise<unknown>,
) =>
  failEverywhere(async (step) => {
    const here = await scene();
    const form = await open(here);
    const { hasFailed, outcome } = await failing(step, () => here.browser.send(form, form.action === KEYS ? { name: 'ci' } : {}));
    if (outcome.status === 500) expectFault(outcome);
    await done(here, outcome, await here.browser.send(form, form.action === KEYS ? { name: 'ci' } : {}));
    return hasFailed;
  });

describe('pages while the store is away for one step', () => {
  it.each([KEYS, APPS, SESSIONS, '/app/', `${APPS}/disconnect?client=client-1`])('%s is a page that says so', async (path) => {
    const failures = await failEverywhere(async (step) => {
      const { browser } = await scene();
      const { hasFailed, outcome } = await failing(step, () => browser.get(path));
      if (outcome.status !== 200) expectFault(outcome);
      return hasFailed;
    });
    expect(failures).toBeGreaterThan(1);
  });

  it('[KEY-05] a form for a key makes one key, however often it is sent, and shows it to one answer at most', async () => {
    const failures = await sendEverywhere(
      async ({ browser }) => onlyForm(await browser.get(KEYS), KEYS),
      async ({ ada }, first, again) => {
        expect(['200 409', '500 200', '500 409']).toContain(`${first.status} ${again.status}`);
        const listed = (await identity.as(ada.session)('GET', '/v1/api-keys')).body.data;
        expect(listed.map(({ name }: { name: string }) => name)).toEqual(['ci', 'first']);
      },
    );
    expect(failures).toBeGreaterThan(4);
  });

  it('[KEY-07] a form that revokes a key revokes it, at the latest when it is sent again', async () => {
    const failures = await sendEverywhere(
      async ({ browser, ada }) => onlyForm(await browser.get(`${KEYS}/${ada.patId}/revoke`), `${KEYS}/${ada.patId}/revoke`),
      async ({ ada }, first, again) => {
        expect([303, 404]).toContain(first.status === 303 ? 303 : again.status);
        expect((await identity.as(ada.pat)('GET', '/v1/me')).body.error.type).toBe('token_revoked');
      },
    );
    expect(failures).toBeGreaterThan(2);
  });

  it('a form that disconnects an app does so, at the latest when it is sent again', async () => {
    const failures = await sendEverywhere(
      async ({ browser }) => onlyForm(await browser.get(`${APPS}/disconnect?client=client-1`), `${APPS}/disconnect`),
      async ({ browser }, _first, again) => {
        expect(again.status).toBe(303);
        expect((await browser.get(APPS)).text).toContain('There are none.');
      },
    );
    expect(failures).toBeGreaterThan(1);
  });

  it('a form that signs out everywhere does so, at the latest when it is sent again', async () => {
    const failures = await sendEverywhere(
      async ({ browser }) => {
        const all = (await browser.get(SESSIONS)).forms(SESSIONS).find(({ fields }) => fields['session'] === 'all');
        return all ?? { action: '', fields: {} };
      },
      async ({ ada }, _first, again) => {
        expect([again.status, again.location?.startsWith('/app/sign-in')]).toEqual([303, true]);
        expect((await identity.as(ada.session)('GET', '/v1/api-keys')).status).toBe(401);
      },
    );
    expect(failures).toBeGreaterThan(1);
  });
});
