import type { Collection, Database, Doc } from '@bubbles/store/collection.ts';
import { failEverywhere, falteringWorld } from '@bubbles/testing/faltering-world.ts';
import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { describe, expect, it } from '@jest/globals';
import { dieEverywhere } from './crashing.ts';
import { startIdentity, type TestIdentity } from './identity.ts';
import { askForCode, type Browser, codeFor, openBrowser, type Shown, signIn, signUp } from './sign-in-browser.ts';

const ADA = 'ada@acme.test';
const SESSION = '__Host-session';
const NAME = { name: 'Ada' };

/** A browser whose next requests another replica may answer. */
const movingBrowser = (first: TestIdentity, address?: string) => {
  let at = first;
  const browser = openBrowser({ fetch: (path, init) => at.fetch(path, init) }, address);
  return {
    browser,
    moveTo: (next: TestIdentity) => {
      at = next;
    },
  };
};

const accountsAt = async ({ admin }: TestIdentity, email: string) => (await admin('GET', `accounts?email=${email}`)).body.accounts;
/** The status with which the session in the browser's cookie is taken. */
const sessionOf = async (identity: TestIdentity, { cookies }: Browser) =>
  (await identity.as(cookies.get(SESSION) ?? '')('GET', '/v1/api-keys')).status;

/** The page that asks for a name, of a browser whose address is proven. */
const namePage = async (identity: TestIdentity, browser: Browser, address: string): Promise<Shown> =>
  browser.get((await signIn(identity, browser, address)).to ?? '');

describe('dying between any two steps of the store while somebody signs in', () => {
  it('[OAUTH-05] asking for a code: asked again it comes', async () => {
    const deaths = await dieEverywhere(
      async ({ doomed, survivor }) => {
        const { browser, moveTo } = movingBrowser(survivor);
        const page = await browser.get('/app/sign-in');
        moveTo(doomed);
        return browser.submit(page, { address: ADA });
      },
      async ({ survivor }) => {
        const browser = openBrowser(survivor);
        expect((await signUp(survivor, browser, ADA, 'Ada')).status).toBe(303);
        expect(await sessionOf(survivor, browser)).toBe(200);
      },
    );
    expect(deaths).toBeGreaterThan(5);
  });

  it('[OAUTH-05] the right code: the browser is signed in or asks again, and the session that it had ends when it is', async () => {
    const deaths = await dieEverywhere(
      async ({ doomed, survivor, ada }) => {
        await survivor.admin('PATCH', `accounts/${ada.id}`, { email: ADA });
        const { browser, moveTo } = movingBrowser(survivor);
        browser.cookies.set(SESSION, ada.session);
        const page = await askForCode(browser, ADA);
        const code = await codeFor(survivor, ADA);
        moveTo(doomed);
        const { status } = await browser.submit(page, { code });
        moveTo(survivor);
        return { status, browser };
      },
      async ({ survivor, ada }, answer) => {
        const former = (await survivor.as(ada.session)('GET', '/v1/api-keys')).status;
        if (answer) expect([answer.status, await sessionOf(survivor, answer.browser), former]).toEqual([303, 200, 401]);
        const again = openBrowser(survivor);
        expect((await signIn(survivor, again, ADA)).status).toBe(303);
        expect(await sessionOf(survivor, again)).toBe(200);
      },
    );
    expect(deaths).toBeGreaterThan(6);
  });

  it('[OAUTH-05] the name of a new account: sent again there is one account, and the browser is in it', async () => {
    const deaths = await dieEverywhere(
      async ({ doomed, survivor }) => {
        const { browser, moveTo } = movingBrowser(survivor);
        const page = await namePage(survivor, browser, ADA);
        moveTo(doomed);
        const { status } = await browser.submit(page, NAME);
        moveTo(survivor);
        const again = await browser.submit(page, NAME);
        return { status, again, browser };
      },
      async ({ survivor }, answer) => {
        if (answer) expect([answer.status, answer.again.status]).toEqual([303, 303]);
        const found = await accountsAt(survivor, ADA);
        expect(found).toHaveLength(1);
        expect((await survivor.admin('GET', 'accounts')).body.accounts).toHaveLength(2);
        const browser = openBrowser(survivor);
        expect((await signIn(survivor, browser, ADA)).to).toBe('/app/');
        expect(await sessionOf(survivor, browser)).toBe(200);
      },
    );
    expect(deaths).toBeGreaterThan(8);
  });
});

describe('a store that is away for one step while somebody signs in', () => {
  const sweep = async (
    prepare: (identity: TestIdentity, browser: Browser, address: string) => Promise<() => Promise<Shown>>,
    judge: (identity: TestIdentity, browser: Browser, address: string) => Promise<void>,
  ) => {
    const { database, failing } = falteringWorld();
    const identity = await startIdentity({ database: database(memoryDatabase()) });
    const failures = await failEverywhere(async (step) => {
      const address = `ada-${step}@acme.test`;
      const browser = openBrowser(identity, `203.0.113.${step}`);
      const send = await prepare(identity, browser, address);
      const { hasFailed, outcome } = await failing(step, send);
      expect([303, 403, 409, 500]).toContain(outcome.status);
      if (outcome.status === 500) expect(outcome.headers.get('retry-after')).not.toBeNull();
      expect(outcome.headers.get('content-type') ?? 'text/html; charset=utf-8').toBe('text/html; charset=utf-8');
      await identity.clock.advance(60_000);
      await judge(identity, browser, address);
      return hasFailed;
    });
    await identity.stop();
    return failures;
  };
  const signsIn = async (identity: TestIdentity, browser: Browser, address: string) => {
    const entered = await signIn(identity, browser, address);
    if (entered.to?.startsWith('/app/sign-in/')) await browser.submit(await browser.get(entered.to), NAME);
    expect(await sessionOf(identity, browser)).toBe(200);
    expect(await accountsAt(identity, address)).toHaveLength(1);
  };

  it('[OAUTH-05] at the address: the next try gets in', async () => {
    const failures = await sweep(async (_, browser, address) => {
      const page = await browser.get('/app/sign-in');
      return () => browser.submit(page, { address });
    }, signsIn);
    expect(failures).toBeGreaterThan(10);
  });

  it('[OAUTH-05] at the code: the next try gets in', async () => {
    const failures = await sweep(async (identity, browser, address) => {
      await identity.person({ email: address });
      const page = await askForCode(browser, address);
      const code = await codeFor(identity, address);
      return () => browser.submit(page, { code });
    }, signsIn);
    expect(failures).toBeGreaterThan(10);
  });

  it('[OAUTH-05] at the name: the same form sent again gets in, into one account', async () => {
    const failures = await sweep(
      async (identity, browser, address) => {
        const page = await namePage(identity, browser, address);
        return () => browser.submit(page, NAME);
      },
      async (identity, browser, address) => {
        await signsIn(identity, browser, address);
      },
    );
    expect(failures).toBeGreaterThan(14);
  });

  it('at a change of the address: the profile has the old one or the new one, and the other one is free a minute later', async () => {
    const { database, failing } = falteringWorld();
    const identity = await startIdentity({ database: database(memoryDatabase()) });
    const failures = await failEverywhere(async (step) => {
      const [from, to] = [`old-${step}@acme.test`, `new-${step}@acme.test`];
      const { id } = await identity.person({ email: from });
      const { hasFailed } = await failing(step, () => identity.admin('PATCH', `accounts/${id}`, { email: to }));
      await identity.clock.advance(60_000);
      const { email } = (await identity.admin('GET', `accounts/${id}`)).body;
      expect(await accountsAt(identity, email)).toMatchObject([{ user_id: id }]);
      const other = await identity.person({ email: email === to ? from : to });
      expect((await identity.admin('PATCH', `accounts/${other.id}`, { email })).status).toBe(409);
      return hasFailed;
    });
    expect(failures).toBeGreaterThan(8);
    await identity.stop();
  });
});

/** The steps of requests; those of the loop that sends mails come when they come. */
const recordingDatabase = (database: Database, steps: string[]): Database => ({
  ...database,
  collection: <T extends Doc>(name: string) =>
    new Proxy<Collection<T>>(database.collection<T>(name), {
      get: (target, method) => {
        if (name !== 'mails' || method === 'insert') steps.push(`${name} ${String(method)}`);
        return Reflect.get(target, method);
      },
    }),
});

describe('who has an account', () => {
  it('is not to be told from the answers before the right code, from the steps of the store or from the mail', async () => {
    const recorded: string[] = [];
    const identity = await startIdentity({ database: recordingDatabase(memoryDatabase(), recorded) });
    const { id } = await identity.person({ email: 'shut@acme.test' });
    await identity.admin('PUT', `accounts/${id}/state`, { state: 'disabled' });
    await identity.person({ email: 'open@acme.test' });
    const tried = async (address: string) => {
      const browser = openBrowser(identity, `203.0.113.${address.length}`);
      const page = await browser.get('/app/sign-in');
      recorded.length = 0;
      const sent = await browser.submit(page, { address });
      const shown = await browser.get(sent.to ?? '');
      const wrong = await browser.submit(shown, { code: 'abcdef' });
      const steps = [...recorded];
      await identity.settle();
      const mails = identity.mail.accepted.filter(({ to }) => to === address);
      const secretsOf = (text: string) => text.replaceAll(/[0-9a-f-]{36}|[\w-]{43}|\d{6}/g, 'x').replaceAll(address, 'address');
      const answers = [sent, shown, wrong].map(({ status, text }) => [status, secretsOf(text)]);
      return { steps, answers, mails: mails.map(({ subject, text, html }) => [subject, secretsOf(text), secretsOf(html)]) };
    };
    const unknown = await tried('none@acme.test');
    expect(unknown.steps).toContain('sign_ins insert');
    expect(unknown.steps.filter((step) => /accounts|addresses/.test(step))).toEqual([]);
    expect(unknown.mails).toHaveLength(1);
    expect(await tried('open@acme.test')).toEqual(unknown);
    expect(await tried('shut@acme.test')).toEqual(unknown);
    await identity.stop();
  });
});
