import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { send } from '../conformance/support/client.ts';
import { authorizationUrl, exchange, type RegisteredApp, register } from '../conformance/support/oauth-scene.ts';
import type { Person } from '../conformance/support/world.ts';
import { drawPkce } from '../support/oauth-user.ts';
import { accessibilityFaults } from './support/chromium.ts';
import { openScene, type Scene, type Site, startApp } from './support/scene.ts';

let scene: Scene;
let site: Site;
let person: Person;
let app: RegisteredApp;
beforeAll(async () => {
  [scene, site] = await Promise.all([openScene(), startApp()]);
  person = await scene.world.user();
  app = await register(scene.world, { client_name: 'Minutes <b>&</b> more', redirect_uris: [site.url] });
});
afterAll(() => Promise.all([scene.close(), site.close()]));

/** An authorization request of its own. */
const ask = (fields: Readonly<Record<string, string>> = {}, asking: RegisteredApp = app) => {
  const { verifier, challenge } = drawPkce();
  return { verifier, url: authorizationUrl(scene.world, asking, { code_challenge: challenge, ...fields }).href };
};
const allow = (page: Page) => page.getByRole('button', { name: 'Allow' });
const deny = (page: Page) => page.getByRole('button', { name: 'Deny' });
const arrived = async (page: Page): Promise<URLSearchParams> => {
  await page.getByRole('heading', { name: 'Back at the app' }).waitFor();
  return new URL(page.url()).searchParams;
};
const tokensOf = async (verifier: string, back: URLSearchParams) =>
  (await exchange(scene.world, { app, verifier, code: back.get('code') ?? '' })).json;

describe('the consent page', () => {
  it('[OAUTH-05] [case 48] [case 50] names app, destination and scopes, as text; it has no serious fault of accessibility', async () => {
    const page = await scene.pageOf(person);
    await page.goto(ask().url);
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toContain('Minutes <b>&</b> more');
    const text = (await page.locator('main').textContent()) ?? '';
    expect(text).toContain(new URL(site.url).host);
    expect(text).toMatch(/not.*verified|nobody has verified/i);
    expect(await page.getByRole('checkbox').count()).toBe(3);
    expect(await accessibilityFaults(page)).toEqual([]);
  });

  it('[OAUTH-11] an unticked scope is not granted', async () => {
    const page = await scene.pageOf(person);
    const { url, verifier } = ask();
    await page.goto(url);
    await page.locator('input[value="webhooks:manage"]').uncheck();
    await allow(page).click();
    const tokens = await tokensOf(verifier, await arrived(page));
    expect(tokens.scope).toBe('bubbles:read meetings:join');
    expect((await send(scene.world.baseUrl, '/v1/webhooks', { as: tokens.access_token })).status).toBe(403);
  });

  it('[OAUTH-11] with every scope unticked the page asks again', async () => {
    const page = await scene.pageOf(person);
    await page.goto(ask().url);
    for (const box of await page.getByRole('checkbox').all()) await box.uncheck();
    await allow(page).click();
    expect(await page.getByRole('alert').textContent()).not.toBe('');
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('checkbox').first().check();
    await allow(page).click();
    expect((await arrived(page)).has('code')).toBe(true);
  });

  it('[OAUTH-05] who denies sends the app away with access_denied', async () => {
    const page = await scene.pageOf(person);
    await page.goto(ask({ state: 'of this tab' }).url);
    await deny(page).click();
    expect(Object.fromEntries(await arrived(page))).toMatchObject({ error: 'access_denied', state: 'of this tab' });
  });

  it('[OAUTH-06] [case 44] a double click gives one code, which is good', async () => {
    const page = await scene.pageOf(person);
    const { url, verifier } = ask();
    await page.goto(url);
    await allow(page).dblclick();
    expect((await tokensOf(verifier, await arrived(page))).token_type).toBe('Bearer');
    const before = await page.goBack();
    expect(before?.status()).toBe(400);
    expect(await page.locator('main').textContent()).toMatch(/answered/);
  });

  it('[OAUTH-05] [case 43] two tabs finish independently', async () => {
    const first = await scene.pageOf(person);
    const second = await first.context().newPage();
    const [one, two] = [ask({ state: 'one' }), ask({ state: 'two' })];
    await first.goto(one.url);
    await second.goto(two.url);
    await allow(first).click();
    await allow(second).click();
    const [a, b] = [await arrived(first), await arrived(second)];
    expect([a.get('state'), b.get('state')]).toEqual(['one', 'two']);
    expect((await tokensOf(one.verifier, a)).token_type).toBe('Bearer');
    expect((await tokensOf(two.verifier, b)).token_type).toBe('Bearer');
  });

  it('[OAUTH-05] [case 42] its address opened in another browser is refused', async () => {
    const page = await scene.pageOf(person);
    await page.goto(ask().url);
    const elsewhere = await scene.pageOf(person);
    const answer = await elsewhere.goto(page.url());
    expect(answer?.status()).toBeGreaterThanOrEqual(400);
    expect(await allow(elsewhere).count()).toBe(0);
    expect(await accessibilityFaults(elsewhere)).toEqual([]);
    await allow(page).click();
    expect((await arrived(page)).has('code')).toBe(true);
  });

  it('[OAUTH-05] [case 45] is refused in a frame', async () => {
    const page = await scene.pageOf(person);
    const framing = await startApp(`<iframe src="${ask().url.replaceAll('&', '&amp;')}"></iframe>`);
    const refused = page.waitForEvent('console', (message) => /frame-ancestors/.test(message.text()));
    await page.goto(framing.url.replace('127.0.0.1', 'localhost'));
    await page.waitForLoadState('networkidle');
    await refused;
    const buttons = await Promise.all(page.frames().map((frame) => frame.getByRole('button', { name: 'Allow' }).count()));
    expect(buttons.every((count) => count === 0)).toBe(true);
    await framing.close();
  });

  it('[OAUTH-05] works without scripts', async () => {
    const page = await scene.pageOf(person, { javaScriptEnabled: false });
    await page.goto(ask().url);
    await allow(page).click();
    expect((await arrived(page)).has('code')).toBe(true);
  });

  it('[OAUTH-05] is answered with the keyboard alone', async () => {
    const page = await scene.pageOf(person);
    const { url, verifier } = ask();
    await page.goto(url);
    const tabTo = async (selector: string) => {
      for (let presses = 0; presses < 20; presses += 1) {
        await page.keyboard.press('Tab');
        if ((await page.locator(`:focus${selector}`).count()) > 0) return;
      }
      throw new Error(`the keyboard does not reach ${selector}`);
    };
    await tabTo('[value="meetings:join"]');
    await page.keyboard.press('Space');
    await tabTo('[value="allow"]');
    await page.keyboard.press('Enter');
    expect((await tokensOf(verifier, await arrived(page))).scope).toBe('bubbles:read webhooks:manage');
  });
});

describe('the way back to the app', () => {
  const blockedOn = (page: Page): readonly string[] => {
    const told: string[] = [];
    page.on('console', (message) => {
      if (/content security policy|form-action/i.test(message.text())) told.push(message.text());
    });
    return told;
  };

  it('[OAUTH-05] [case 46] a callback that sends the browser on to another host is reached, and so is that host', async () => {
    const last = await startApp('<h1>Back at the app</h1>');
    const callback = await startApp({ movedTo: last.url.replace('127.0.0.1', 'localhost') });
    const moving = await register(scene.world, { client_name: 'A moving app', redirect_uris: [callback.url] });
    const page = await scene.pageOf(person);
    const blocked = blockedOn(page);
    await page.goto(ask({}, moving).url);
    await allow(page).click();
    await page.getByRole('heading', { name: 'Back at the app' }).waitFor();
    expect(new URL(page.url()).hostname).toBe('localhost');
    expect(blocked).toEqual([]);
    await Promise.all([last.close(), callback.close()]);
  });

  it('[OAUTH-05] [case 15] [case 47] an app with a scheme of its own gets the browser by 303', async () => {
    const redirectUri = 'cursor://anysphere.cursor-retrieval/oauth/callback';
    const editor = await register(scene.world, { client_name: 'An editor', redirect_uris: [redirectUri] });
    const page = await scene.pageOf(person);
    const blocked = blockedOn(page);
    await page.goto(ask({}, editor).url);
    const answer = page.waitForResponse((response) => response.request().method() === 'POST');
    await allow(page).click();
    const response = await answer;
    expect(response.status()).toBe(303);
    expect((await response.allHeaders())['location']).toMatch(/^cursor:\/\/anysphere\.cursor-retrieval\/oauth\/callback\?code=/);
    expect(blocked).toEqual([]);
  });

  it('[OAUTH-05] [case 18] an unknown app or address is a page of ours, and nobody is led away', async () => {
    const page = await scene.pageOf(person);
    for (const fields of [{ client_id: 'unknown' }, { redirect_uri: 'https://evil.example/' }]) {
      const answer = await page.goto(ask(fields).url);
      expect(answer?.status()).toBe(400);
      expect(new URL(page.url()).host).toBe(new URL(scene.world.baseUrl).host);
      expect(await page.getByRole('heading', { level: 1 }).count()).toBe(1);
      expect(await accessibilityFaults(page)).toEqual([]);
    }
  });
});
