import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { send } from './support/client.ts';
import { type HookScene, openHookScene, type Subscriber } from './support/hooks.ts';
import { control } from './support/sandbox-world.ts';

let scene: HookScene;
beforeAll(async () => {
  scene = await openHookScene();
});
afterAll(() => scene.close());

const LIST = '/app/webhooks';

/** As a browser in which they are signed in. */
const open = ({ person }: Pick<Subscriber, 'person'>, path: string, form?: Readonly<Record<string, string>>) =>
  send(scene.sandbox.url, path, {
    headers: {
      cookie: `session=${person.session_token}`,
      ...(form !== undefined && { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' }),
    },
    ...(form !== undefined && { method: 'POST', body: new URLSearchParams(form).toString() }),
  });

/** The fields of the form that is sent there. */
const fieldsOf = (html: string, action: string): Readonly<Record<string, string>> => {
  const [, form = '', token = ''] =
    new RegExp(`action="${RegExp.escape(action)}".*?name="form" value="([^"]*)".*?name="token" value="([^"]*)"`, 's').exec(html) ?? [];
  return { form, token };
};

describe('the pages of the webhooks', () => {
  it('[HOOK-04] [HOOK-07] show a subscription with its deliveries, send a test, and send a delivery again', async () => {
    const subscriber = await scene.subscriber();
    const { receiver, id } = subscriber;
    const path = `${LIST}/${id}`;
    receiver.answer(410);
    await subscriber.bubble();
    expect((await open(subscriber, LIST)).text).toContain(`<a href="${path}">${receiver.url}</a>`);
    const page = await open(subscriber, path);
    expect(page.text).toContain('4xx (HTTP 410)');

    receiver.answer(204);
    // Pressed twice.
    for (let n = 0; n < 2; n += 1) {
      const tested = await open(subscriber, `${path}/test`, fieldsOf(page.text, `${path}/test`));
      expect([tested.status, tested.headers.get('location')]).toEqual([303, `${path}?done=tested`]);
    }
    await control(scene.sandbox.url, 'POST /settle');
    const tests = () => receiver.received.filter(({ json }) => json.type === 'webhook.test');
    expect(tests()).toHaveLength(1);

    const [test] = await subscriber.log();
    const again = `${path}/deliveries/${test.id}/redeliver`;
    const shown = await open(subscriber, `${path}?done=tested`);
    expect(shown.text).toContain('A test was queued.');
    expect((await open(subscriber, again, fieldsOf(shown.text, again))).status).toBe(303);
    await control(scene.sandbox.url, 'POST /settle');
    expect(tests()).toHaveLength(2);
  });

  it('[HOOK-04] show nobody the subscriptions of another', async () => {
    const [one, other] = [await scene.subscriber(), await scene.subscriber()];
    expect((await open(other, LIST)).text).not.toContain(one.id);
    expect((await open(other, `${LIST}/${one.id}`)).status).toBe(404);
    const fields = fieldsOf((await open(one, `${LIST}/${one.id}`)).text, `${LIST}/${one.id}/test`);
    expect((await open(other, `${LIST}/${one.id}/test`, fields)).status).toBe(403);
  });

  it('[LIST-07] refuse a position that no list gave, on a page', async () => {
    const subscriber = await scene.subscriber();
    for (const path of [`${LIST}?after=x`, `${LIST}/${subscriber.id}?after=x`, `${LIST}?after=a&after=b`]) {
      const answer = await open(subscriber, path);
      expect([path, answer.status, answer.headers.get('content-type')]).toEqual([path, 400, 'text/html; charset=utf-8']);
    }
  });

  it('[HOOK-02] say so to who has no paid plan', async () => {
    const answer = await open({ person: await scene.world.user() }, LIST);
    expect(answer.status).toBe(403);
    expect(answer.text).toContain('Webhooks need a workspace with paid-feature access.');
  });

  it('[ERR-05] are a page that asks to try again while the dispatcher is away', async () => {
    const subscriber = await scene.subscriber();
    await scene.service('webhooks-dispatcher', { state: 'down' });
    const answer = await open(subscriber, LIST);
    await scene.service('webhooks-dispatcher', { state: 'up' });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([500, 'text/html; charset=utf-8']);
    expect(answer.headers.get('retry-after')).not.toBeNull();
    expect((await open(subscriber, LIST)).status).toBe(200);
  });
});
