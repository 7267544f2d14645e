import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { send } from '../conformance/support/client.ts';
import { startReceiver } from '../conformance/support/receiver.ts';
import type { Person } from '../conformance/support/world.ts';
import { accessibilityFaults } from './support/chromium.ts';
import { openScene, type Scene, startApp } from './support/scene.ts';

let scene: Scene;
beforeAll(async () => {
  scene = await openScene();
});
afterAll(() => scene.close());

const proUser = async (): Promise<Person> => {
  const person = await scene.world.user();
  await scene.world.team({ name: 'Pro', plan: 'pro', members: [{ user_id: person.id, role: 'admin' }] });
  return person;
};
const at = (path: string): string => `${scene.world.baseUrl}${path}`;
const statusOf = async (token: string, path = '/v1/me') => (await send(scene.world.baseUrl, path, { as: token })).status;

describe('API keys', () => {
  it('[KEY-01] [KEY-02] [AUTH-04] a key is created, shown once, used and revoked', async () => {
    const page = await scene.pageOf(await proUser());
    await page.goto(at('/app/api-keys'));
    await page.getByLabel('Name').fill('my <b>script</b>');
    await page.getByRole('button', { name: 'Create key' }).click();
    const token = await page.getByLabel(/Key “my <b>script<\/b>”/).inputValue();
    expect(token).toMatch(/^svc_pat_/);
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await statusOf(token)).toBe(200);

    await page.reload();
    expect(await page.content()).not.toContain(token);
    await page.goto(at('/app/api-keys'));
    expect(await page.content()).not.toContain(token);
    await page.getByRole('link', { name: 'Revoke my <b>script</b>' }).click();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Revoke key' }).click();
    expect(await page.getByRole('status').textContent()).toBe('The key was revoked.');
    expect(await accessibilityFaults(page)).toEqual([]);
    expect((await send(scene.world.baseUrl, '/v1/me', { as: token })).json.error.type).toBe('token_revoked');
  });

  it('[KEY-05] a form that is sent twice makes one key', async () => {
    const person = await proUser();
    const page = await scene.pageOf(person);
    await page.goto(at('/app/api-keys'));
    await page.getByLabel('Name').fill('twice');
    await page.getByRole('button', { name: 'Create key' }).dblclick();
    await page.getByRole('heading', { name: /^(Your new key|This key was made before)$/ }).waitFor();
    const { json } = await send(scene.world.baseUrl, '/v1/api-keys', { as: person.session_token });
    expect(json.data.filter(({ name }: { name: string }) => name === 'twice')).toHaveLength(1);
  });

  it.each(['', ' ', 'x'.repeat(101)])('[KEY-01] a name that cannot be taken (%j) is said beside the field', async (name) => {
    const page = await scene.pageOf(await proUser());
    await page.goto(at('/app/api-keys'));
    await page.getByLabel('Name').evaluate((field) => field.removeAttribute('required'));
    await page.getByLabel('Name').fill(name);
    await page.getByRole('button', { name: 'Create key' }).click();
    expect(await page.getByRole('alert').textContent()).toMatch(/name/i);
    expect(await page.getByLabel('Name').getAttribute('aria-invalid')).toBe('true');
    expect(await accessibilityFaults(page)).toEqual([]);
  });

  it('[KEY-04] who has no paid plan is told so', async () => {
    const page = await scene.pageOf(await scene.world.user());
    await page.goto(at('/app/api-keys'));
    await page.getByLabel('Name').fill('a key');
    await page.getByRole('button', { name: 'Create key' }).click();
    expect(await page.getByRole('alert').textContent()).toMatch(/plan|workspace/i);
  });
});

describe('connected apps', () => {
  it('[OAUTH-08] [OAUTH-11] show what each may do; disconnecting ends it at once', async () => {
    const person = await scene.world.user();
    const first = await scene.world.oauthToken(person.id, { client_name: 'Minutes & more', scopes: ['bubbles:read'] });
    const second = await scene.world.oauthToken(person.id, { client_name: 'Another app' });
    const page = await scene.pageOf(person);
    await page.goto(at('/app/connected-apps'));
    const row = page.getByRole('row', { name: /Minutes & more/ });
    expect(await row.getByRole('listitem').count()).toBe(1);
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('link', { name: 'Disconnect Minutes & more' }).click();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await statusOf(first.access_token)).toBe(200);
    await page.getByRole('button', { name: 'Disconnect' }).click();
    await page.getByRole('status').waitFor();
    await page.getByRole('row', { name: /Another app/ }).waitFor();
    expect(await page.getByRole('row', { name: /Minutes & more/ }).count()).toBe(0);
    expect(await page.getByRole('row', { name: /Another app/ }).count()).toBe(1);
    expect([await statusOf(first.access_token), await statusOf(second.access_token)]).toEqual([401, 200]);
  });
});

describe('webhooks', () => {
  it('[HOOK-04] [HOOK-07] are listed, each with its deliveries on a page that sends a test', async () => {
    const person = await proUser();
    const receiver = await startReceiver();
    receiver.answer(410);
    const body = { url: receiver.url, events: ['bubble.ready'] };
    const { json } = await send(scene.world.baseUrl, '/v1/webhooks', { method: 'POST', as: person.pat, body });
    const page = await scene.pageOf(person);
    await page.goto(at('/app/webhooks'));
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('link', { name: receiver.url }).click();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Send a test' }).click();
    expect(await page.getByRole('status').textContent()).toBe('A test was queued.');
    await receiver.reached(1);
    await page.goto(at(`/app/webhooks/${json.id}`));
    expect(await page.getByRole('row', { name: /webhook\.test/ }).count()).toBe(1);
    expect(await accessibilityFaults(page)).toEqual([]);
    await send(scene.world.baseUrl, `/v1/webhooks/${json.id}`, { method: 'DELETE', as: person.pat });
    await page.reload();
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Not found');
    await receiver.close();
  });
});

describe('sessions', () => {
  it('[AUTH-10] signing out everywhere ends this browser and the token that it held', async () => {
    const person = await scene.world.user();
    const page = await scene.pageOf(person);
    await page.goto(at('/app/sessions'));
    expect(await page.getByRole('row', { name: /This browser/ }).count()).toBe(1);
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Sign out everywhere' }).click();
    await page.waitForURL(/\/app\/sign-in/);
    expect(await statusOf(person.session_token, '/v1/api-keys')).toBe(401);
    await page.goto(at('/app/api-keys'));
    expect(new URL(page.url()).pathname).toBe('/app/sign-in');
  });
});

describe('every page of the app', () => {
  const PATHS = ['/app/', '/app/api-keys', '/app/connected-apps', '/app/webhooks', '/app/sessions'];

  it('[OAUTH-05] is framed by nobody, runs no script, is kept by nobody, and has no serious fault of accessibility', async () => {
    const page = await scene.pageOf(await proUser());
    for (const path of PATHS) {
      const answer = await page.goto(at(path));
      expect([path, answer?.status()]).toEqual([path, 200]);
      const headers = await answer?.allHeaders();
      expect(headers?.['content-security-policy']).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
      expect(headers?.['x-frame-options']).toBe('DENY');
      expect(headers?.['cache-control']).toBe('no-store');
      expect(await page.locator('script').count()).toBe(0);
      expect(await accessibilityFaults(page)).toEqual([]);
    }
  });

  it('[OAUTH-05] is refused in a frame', async () => {
    const page = await scene.pageOf(await scene.world.user());
    const framing = await startApp(`<iframe src="${at('/app/api-keys')}"></iframe>`);
    const refused = page.waitForEvent('console', (message) => /frame-ancestors/.test(message.text()));
    await page.goto(framing.url);
    await page.waitForLoadState('networkidle');
    await refused;
    const texts = await Promise.all(page.frames().map((frame) => frame.locator('body').textContent()));
    expect(texts.join()).not.toContain('API keys');
    await framing.close();
  });

  it('[KEY-01] works without scripts', async () => {
    const page = await scene.pageOf(await proUser(), { javaScriptEnabled: false });
    await page.goto(at('/app/'));
    await page.getByRole('link', { name: 'API keys' }).first().click();
    await page.getByLabel('Name').fill('by hand');
    await page.getByRole('button', { name: 'Create key' }).click();
    expect(await page.getByLabel(/Key/).inputValue()).toMatch(/^svc_pat_/);
  });
});
