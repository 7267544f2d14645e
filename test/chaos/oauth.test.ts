import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { send } from '../conformance/support/client.ts';
import { authorize, comeBack, exchange, refresh, register, revoke, statusOf } from '../conformance/support/oauth-scene.ts';
import { caughtMails } from '../conformance/support/stack-world.ts';
import { createFormBrowser, type FormBrowser, type Page } from '../support/form-browser.ts';
import { type Outside, openOutside } from '../support/outside.ts';
import { type ChaosStack, chaosStack } from './support/chaos-stack.ts';
import { type FrailEngines, frailEngines } from './support/engines.ts';
import { makePeople } from './support/people.ts';
import { report, scaled } from './support/scale.ts';
import { tokenFamily } from './support/token-families.ts';
import { untilSo } from './support/within.ts';

const FAMILIES = 12;
const KILLS = scaled({ short: 4, long: 40 });
/** Each by an app of its own, since each app has a rate. */
const RACES = 10;
const BETWEEN_KILLS_MS = 1000;
/** Requests that are sent at once may be handled seconds apart on a slow machine. */
const SETTINGS = { OAUTH_REFRESH_RACE_WINDOW: '8s' };
const BEYOND_RACE_WINDOW_MS = 8500;

let engines: FrailEngines;
let stack: ChaosStack;
let outside: Outside;
let people: Awaited<ReturnType<typeof makePeople>>;
let gateways: readonly string[];

beforeAll(async () => {
  engines = await frailEngines();
  stack = await chaosStack(engines, SETTINGS);
  const identityUrls = stack.plansOf('identity-and-oauth').map(({ url }) => url);
  outside = await openOutside({ amqpUrl: engines.amqpUrl, operatorKeyFile: stack.operatorKeyFile, identityUrls });
  people = await makePeople(outside, FAMILIES);
  gateways = stack.plansOf('gateway').map(({ url }) => url);
});

afterAll(async () => {
  await outside?.close();
  await stack?.close();
  await engines?.close();
});

/** By one gateway after the other, and so by both processes of identity. */
const site = (n: number) => ({ baseUrl: gateways[n % gateways.length] ?? '' });
const personOf = (n: number) => {
  const person = people[n % people.length];
  if (person === undefined) throw new Error('there is nobody');
  return person;
};
const tenTimes = <T>(work: (n: number) => Promise<T>): Promise<T[]> => Promise.all(Array.from({ length: 10 }, (_, n) => work(n)));
const won = <A extends { readonly status: number }>(answers: readonly A[]): readonly A[] => answers.filter(({ status }) => status === 200);

describe('two processes of identity on one store', () => {
  it('[OAUTH-06] [case 2] of ten uses of a code at once one wins, and the losers end what it won', async () => {
    for (let race = 0; race < RACES; race += 1) {
      const app = await register(site(race));
      const back = await comeBack(site(race), personOf(race), app);
      const winners = won(await tenTimes((n) => exchange(site(n), back)));
      expect(winners).toHaveLength(1);
      for (const n of [0, 1]) expect(await statusOf(site(n), winners[0]?.json.access_token)).toBe(401);
    }
  });

  it('[OAUTH-07] [case 71] of ten refreshes at once one wins, and its tokens live', async () => {
    for (let race = 0; race < RACES; race += 1) {
      const app = await register(site(race));
      const tokens = await authorize(site(race), personOf(race), app);
      const winners = won(await tenTimes((n) => refresh(site(n), app, tokens.refresh_token)));
      expect(winners).toHaveLength(1);
      for (const n of [0, 1]) expect(await statusOf(site(n), winners[0]?.json.access_token)).toBe(200);
    }
  });

  it('[OAUTH-08] [case 75] of a refresh and a revocation at once nothing survives', async () => {
    for (let race = 0; race < RACES; race += 1) {
      const app = await register(site(race));
      const tokens = await authorize(site(race), personOf(race), app);
      const [refreshed] = await Promise.all([
        refresh(site(race), app, tokens.refresh_token),
        revoke(site(race + 1), app, race % 2 === 0 ? tokens.refresh_token : tokens.access_token),
      ]);
      const left = [tokens.access_token, ...(refreshed.status === 200 ? [refreshed.json.access_token] : [])];
      for (const token of left) for (const n of [0, 1]) expect(await statusOf(site(n), token)).toBe(401);
      if (refreshed.status === 200) expect((await refresh(site(race), app, refreshed.json.refresh_token)).status).toBe(400);
    }
  });
});

describe('signing in over two processes of identity', () => {
  const mailedCode = async (address: string, count = 1): Promise<readonly string[]> => {
    const mails = caughtMails(stack.mailFolder);
    await untilSo({ what: `${count} mails to ${address}` }, async () => (await mails(address)).length === count);
    return (await mails(address)).map(({ text }) => /\b\d{6}\b/.exec(text)?.[0] ?? '');
  };
  /** A page of one gateway whose form is sent to another one. */
  const by = (n: number, page: Page): Page => ({ ...page, url: new URL(page.url.pathname, site(n).baseUrl) });
  const askForCode = async (browser: FormBrowser, address: string): Promise<Page> =>
    browser.submit(await browser.open(`${site(0).baseUrl}/app/sign-in`), { fields: { address } });
  const sessionIn = (browser: FormBrowser): string | null =>
    /\bsession=([^;]+)/.exec(browser.cookies(`${site(0).baseUrl}/app/`))?.[1] ?? null;

  it('[AUTH-10] of fifty tries of a code at once five count, and the right one comes too late', async () => {
    const browser = createFormBrowser();
    const page = await askForCode(browser, 'guessed@mail.example');
    const [code = ''] = await mailedCode('guessed@mail.example');
    const wrong = Array.from({ length: 50 }, (_, n) => String((Number(code) + 1 + n) % 1_000_000).padStart(6, '0'));
    const answers = await Promise.all(wrong.map((guess, n) => browser.submit(by(n, page), { fields: { code: guess } })));
    expect(answers.filter(({ status }) => status === 400).length).toBeLessThanOrEqual(5);
    expect(answers.every(({ status }) => status === 400 || status === 403)).toBe(true);
    expect((await browser.submit(by(1, page), { fields: { code } })).status).toBe(403);
    expect(sessionIn(browser)).toBeNull();
  });

  it('[AUTH-10] of two who open an account at one address at once one is first, and both get the one account', async () => {
    const address = 'twice@mail.example';
    const browsers = [createFormBrowser(), createFormBrowser()];
    const proven: Page[] = [];
    for (const [n, browser] of browsers.entries()) {
      const page = await askForCode(browser, address);
      // Newest first; two within one millisecond are tried in turn.
      for (const code of await mailedCode(address, n + 1)) {
        const answer = await browser.submit(page, { fields: { code } });
        if (answer.status === 200) proven[n] = answer;
      }
    }
    const sendName = (n: number) => browsers[n]?.submit(by(n, proven[n] as Page), { fields: { name: `Somebody ${n}` } });
    await Promise.all(browsers.map((_, n) => sendName(n)));
    const refused = browsers.filter((browser) => sessionIn(browser) === null);
    expect(refused.length).toBeLessThanOrEqual(1);
    // Whoever came while the account was being opened finds it when they send their form again.
    for (const browser of refused) await sendName(browsers.indexOf(browser));
    const app = await register(site(0));
    const ids = await Promise.all(
      browsers.map(async (browser) => {
        const { access_token: as } = await authorize(site(0), { session_token: sessionIn(browser) ?? '' }, app);
        return (await send(site(1).baseUrl, '/v1/me', { as })).json.id;
      }),
    );
    expect(new Set(ids).size).toBe(1);
  });
});

describe('a process of identity is killed again and again while apps exchange and refresh', () => {
  it('[OAUTH-06] [OAUTH-07] no dead token is honoured, and no live one is lost but for answers that died with it', async () => {
    const families = await Promise.all(people.map(async (person, n) => tokenFamily({ gateways, person, app: await register(site(n)) })));
    const over = new AbortController();
    const running = Promise.all(families.map((family) => family.run(over.signal)));
    const replicas = stack.plansOf('identity-and-oauth');
    for (let kill = 0; kill < KILLS; kill += 1) {
      const plan = replicas[kill % replicas.length];
      if (plan === undefined) throw new Error('there is no identity');
      await pause(BETWEEN_KILLS_MS);
      await stack.kill(plan);
      await stack.start(plan);
    }
    await pause(BETWEEN_KILLS_MS);
    over.abort();
    await running;
    const sum = (of: (family: (typeof families)[number]) => number) => families.reduce((total, family) => total + of(family), 0);
    report('identity killed', { kills: KILLS, refreshes: sum(({ refreshed }) => refreshed), 'answers lost': sum(({ lost }) => lost) });
    expect(families.flatMap(({ faults }) => faults)).toEqual([]);
    expect(families.every(({ refreshed }) => refreshed > 0)).toBe(true);
    expect(sum(({ lost }) => lost)).toBeLessThanOrEqual(KILLS * FAMILIES);

    const live = families.flatMap((family) => {
      const tokens = family.held();
      return tokens === null ? [] : [{ ...family, tokens }];
    });
    for (const { tokens } of live) expect(await statusOf(site(0), tokens.access_token)).toBe(200);
    const fresh = await Promise.all(live.map(({ app, tokens }, n) => refresh(site(n), app, tokens.refresh_token)));
    expect(fresh.map(({ status }) => status)).toEqual(live.map(() => 200));

    await pause(BEYOND_RACE_WINDOW_MS);
    for (const { app, spent, tokens } of live)
      for (const token of [...spent.slice(-3), tokens.refresh_token]) expect((await refresh(site(1), app, token)).status).toBe(400);
    for (const { json } of fresh) expect(await statusOf(site(0), json.access_token)).toBe(401);
  });
});
