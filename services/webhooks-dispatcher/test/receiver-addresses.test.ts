import { testData } from '@bubbles/testing/test-data.ts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CONFIG, startDispatcher, type TestDispatcher } from './dispatcher.ts';
import { openScene } from './scene.ts';

interface Case {
  readonly url: string;
  readonly accept: boolean;
  readonly stage: 'validate' | 'connect';
  readonly redirect?: { readonly status: number; readonly location: string };
}
// The file's shape is fixed beside it.
const cases = JSON.parse(testData('receiver-urls.json')) as Case[];
const GOOD = 'https://hooks.example.com/in';

describe('section 4, the receivers that are handed', () => {
  let dispatcher: TestDispatcher;
  let known: { readonly id: string };
  beforeAll(async () => {
    dispatcher = await startDispatcher({ config: { receivers: { ...CONFIG.receivers, loopback: false } } });
    known = await dispatcher.subscribe({ url: GOOD });
  });
  afterAll(() => dispatcher.stop());

  const isGood = ({ accept, stage }: Case) => accept || stage === 'connect';
  const put = async (url: string) => [
    await dispatcher.call('POST', '', { url, events: ['bubble.ready'] }),
    await dispatcher.call('PATCH', `/${known.id}`, { url }),
  ];

  it.each(cases.filter((one) => !isGood(one)))('[HOOK-10] [HOOK-01] [HOOK-05] $url is refused and changes nothing', async ({ url }) => {
    const before = (await dispatcher.call('GET', `/${known.id}`)).body;
    for (const { status, body } of await put(url))
      expect([status, body.error]).toEqual([400, { type: 'invalid_request', message: expect.stringMatching(/^url: /) }]);
    expect((await dispatcher.call('GET', `/${known.id}`)).body).toEqual(before);
  });

  it.each(cases.filter(isGood))('[HOOK-10] [HOOK-01] [HOOK-05] $url is taken, and shown as it was written', async ({ url }) => {
    const [made, changed] = await put(url);
    expect([made?.status, made?.body.url, changed?.status, changed?.body.url]).toEqual([201, url, 200, url]);
  });
});

describe('section 6, the redirects that are handed', () => {
  const redirects = cases.flatMap(({ redirect }) => redirect ?? []);
  it('are there', () => expect(redirects.length).toBeGreaterThan(3));

  it.each(redirects)('[HOOK-10] [DLV-04] $status to $location is an answer, and a failed attempt', async ({ status, location }) => {
    const scene = await openScene();
    const subscriber = await scene.subscriber({}, (response) => response.writeHead(status, { location }).end());
    await scene.dispatcher.ready();
    await scene.dispatcher.settle();
    expect(subscriber.receiver.received).toHaveLength(1);
    expect(await subscriber.log()).toMatchObject([{ status: 'pending', attempts: [{ outcome: '3xx', status }] }]);
    await scene.stop();
  });
});
