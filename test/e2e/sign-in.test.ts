import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { send } from '../conformance/support/client.ts';
import { authorizationUrl, exchange, register, statusOf } from '../conformance/support/oauth-scene.ts';
import { drawPkce } from '../support/oauth-user.ts';
import { accessibilityFaults } from './support/chromium.ts';
import { openScene, type Scene, type Site, startApp } from './support/scene.ts';

let scene: Scene;
let site: Site;
beforeAll(async () => {
  [scene, site] = await Promise.all([openScene(), startApp()]);
});
afterAll(() => Promise.all([scene.close(), site.close()]));

const at = (path: string): string => `${scene.world.baseUrl}${path}`;
let count = 0;
const freshAddress = (): string => {
  count += 1;
  return `somebody-${count}@mail.example`;
};
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

const askForCode = async (page: Page, address: string): Promise<string> => {
  await page.getByLabel('E-mail address').fill(address);
  await button(page, 'Send me a code').click();
  await page.getByLabel('Code of six digits').waitFor();
  return scene.mailedCode(address);
};
const sendCode = async (page: Page, code: string): Promise<void> => {
  await page.getByLabel('Code of six digits').fill(code);
  await button(page, 'Sign in').click();
};
const sessionIn = async (page: Page) => (await page.context().cookies()).find(({ name }) => name === 'session');
/** Presses Tab until the field or button with this name has the focus. */
const tabTo = async (page: Page, name: string): Promise<void> => {
  for (let presses = 0; presses < 20; presses += 1) {
    if (
      (await page
        .locator(':focus')
        .and(page.getByLabel(name).or(button(page, name)))
        .count()) > 0
    )
      return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`the keyboard does not reach ${name}`);
};

describe('signing in', () => {
  it('[AUTH-10] by a mailed code; the browser gets the session in a cookie that no script reads, and comes to the page that it asked for', async () => {
    const person = await scene.world.user({ email: freshAddress() });
    const page = await scene.freshPage();
    await page.goto(at('/app/sessions'));
    expect(await accessibilityFaults(page)).toEqual([]);
    const code = await askForCode(page, person.email ?? '');
    expect(await accessibilityFaults(page)).toEqual([]);
    await sendCode(page, code);
    await page.getByRole('row', { name: /This browser/ }).waitFor();
    const session = await sessionIn(page);
    expect(session).toMatchObject({ httpOnly: true, sameSite: 'Lax', path: '/' });
    expect(await page.evaluate('document.cookie')).not.toContain('session');
    expect(await statusOf(scene.world, session?.value ?? '', '/v1/api-keys')).toBe(200);
    expect(page.url()).toBe(at('/app/sessions'));
  });

  it('[AUTH-10] the other sessions are signed out one by one, and this one stays', async () => {
    const person = await scene.world.user({ email: freshAddress() });
    const page = await scene.freshPage();
    await page.goto(at('/app/sessions'));
    await sendCode(page, await askForCode(page, person.email ?? ''));
    const others = page.getByRole('row').filter({ has: page.getByRole('button'), hasNotText: 'This browser' });
    // A count does not wait for its page.
    await others.first().waitFor();
    for (let left = await others.count(); left > 0; left -= 1) {
      await others.last().getByRole('button').click();
      await others.nth(left - 1).waitFor({ state: 'detached' });
    }
    expect(await statusOf(scene.world, person.session_token, '/v1/api-keys')).toBe(401);
    expect(await statusOf(scene.world, (await sessionIn(page))?.value ?? '', '/v1/api-keys')).toBe(200);
  });

  it('[AUTH-10] a wrong code is said beside the field, and five of them are the end of it', async () => {
    const page = await scene.freshPage();
    await page.goto(at('/app/'));
    const code = await askForCode(page, freshAddress());
    const wrong = code === '000000' ? '000001' : '000000';
    await sendCode(page, wrong);
    expect(await page.getByRole('alert').textContent()).toMatch(/code/i);
    expect(await page.getByLabel('Code of six digits').getAttribute('aria-invalid')).toBe('true');
    expect(await accessibilityFaults(page)).toEqual([]);
    for (let tries = 1; tries < 5; tries += 1) await sendCode(page, wrong);
    await page.waitForLoadState();
    if ((await page.getByLabel('Code of six digits').count()) > 0) await sendCode(page, code);
    await page.getByRole('heading', { name: 'This code is over' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await sessionIn(page)).toBeUndefined();
  });

  it('[AUTH-10] the page of the code is of no use in another browser', async () => {
    const page = await scene.freshPage();
    await page.goto(at('/app/'));
    await askForCode(page, freshAddress());
    const elsewhere = await scene.freshPage();
    const answer = await elsewhere.goto(page.url());
    expect(answer?.status()).toBe(403);
    expect(await elsewhere.getByLabel('Code of six digits').count()).toBe(0);
  });

  it('[AUTH-10] a double click on the code is one sign-in that succeeds', async () => {
    const person = await scene.world.user({ email: freshAddress() });
    const page = await scene.freshPage();
    await page.goto(at('/app/sessions'));
    const code = await askForCode(page, person.email ?? '');
    await page.getByLabel('Code of six digits').fill(code);
    await button(page, 'Sign in').dblclick();
    await page.getByRole('row', { name: /This browser/ }).waitFor();
    expect(page.url()).toBe(at('/app/sessions'));
  });

  it('[AUTH-05] whose account is closed is told after the right code only', async () => {
    const person = await scene.world.user({ email: freshAddress() });
    await scene.world.setState(person.id, 'disabled');
    const page = await scene.freshPage();
    await page.goto(at('/app/'));
    await sendCode(page, await askForCode(page, person.email ?? ''));
    await page.getByRole('heading', { name: 'This account is closed' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await sessionIn(page)).toBeUndefined();
  });

  it('[AUTH-10] works without scripts', async () => {
    const person = await scene.world.user({ email: freshAddress() });
    const page = await scene.freshPage({ javaScriptEnabled: false });
    await page.goto(at('/app/sessions'));
    await sendCode(page, await askForCode(page, person.email ?? ''));
    await page.getByRole('row', { name: /This browser/ }).waitFor();
    expect(page.url()).toBe(at('/app/sessions'));
  });

  it('[AUTH-10] works with the keyboard alone', async () => {
    const address = freshAddress();
    await scene.world.user({ email: address });
    const page = await scene.freshPage();
    await page.goto(at('/app/sessions'));
    await tabTo(page, 'E-mail address');
    await page.keyboard.type(address);
    await tabTo(page, 'Send me a code');
    await page.keyboard.press('Enter');
    await page.getByLabel('Code of six digits').waitFor();
    await tabTo(page, 'Code of six digits');
    await page.keyboard.type(await scene.mailedCode(address));
    await page.keyboard.press('Enter');
    await page.getByRole('row', { name: /This browser/ }).waitFor();
    expect(page.url()).toBe(at('/app/sessions'));
  });
});

describe('an app whose user is not signed in', () => {
  const newApp = () => register(scene.world, { client_name: 'An app', redirect_uris: [site.url] });
  const arrived = async (page: Page): Promise<URLSearchParams> => {
    await page.getByRole('heading', { name: 'Back at the app' }).waitFor();
    return new URL(page.url()).searchParams;
  };

  it.each(['known', 'new'] as const)(
    '[OAUTH-05] the user at a %s address signs in or up, consents, and the app has its token',
    async (kind) => {
      const app = await newApp();
      const address = freshAddress();
      if (kind === 'known') await scene.world.user({ email: address });
      const { verifier, challenge } = drawPkce();
      const page = await scene.freshPage();
      await page.goto(authorizationUrl(scene.world, app, { code_challenge: challenge }).href);
      await sendCode(page, await askForCode(page, address));
      if (kind === 'new') {
        await page.getByLabel('Your name').waitFor();
        expect(await accessibilityFaults(page)).toEqual([]);
        await page.getByLabel('Your name').fill('Somebody <i>New</i>');
        await button(page, 'Open the account').click();
      }
      await button(page, 'Allow').click();
      const { json } = await exchange(scene.world, { app, verifier, code: (await arrived(page)).get('code') ?? '' });
      const me = await send(scene.world.baseUrl, '/v1/me', { as: json.access_token });
      expect(me.json).toMatchObject({ email: address, ...(kind === 'new' && { name: 'Somebody <i>New</i>' }) });
    },
  );

  it('[OAUTH-05] may send the user to another account from the consent page', async () => {
    const [first, second] = [freshAddress(), freshAddress()];
    for (const email of [first, second]) await scene.world.user({ email });
    const { verifier, challenge } = drawPkce();
    const app = await newApp();
    const page = await scene.freshPage();
    await page.goto(authorizationUrl(scene.world, app, { code_challenge: challenge }).href);
    await sendCode(page, await askForCode(page, first));
    await page.getByRole('link', { name: 'Use another account' }).click();
    await sendCode(page, await askForCode(page, second));
    await button(page, 'Allow').click();
    const { json } = await exchange(scene.world, { app, verifier, code: (await arrived(page)).get('code') ?? '' });
    expect((await send(scene.world.baseUrl, '/v1/me', { as: json.access_token })).json.email).toBe(second);
  });
});

describe('the way on after signing in', () => {
  it.each(['//evil.example/', 'https://evil.example/', '/\\evil.example', '/app/../v1/me', '/oauth/revoke', '/app/sign-in'])(
    '[AUTH-10] leads to %s never',
    async (target) => {
      const address = freshAddress();
      await scene.world.user({ email: address });
      const page = await scene.freshPage();
      await page.goto(at(`/app/sign-in?return_to=${encodeURIComponent(target)}`));
      await sendCode(page, await askForCode(page, address));
      await page.getByRole('link', { name: 'Sessions' }).first().waitFor();
      expect(page.url()).toBe(at('/app/'));
    },
  );
});
