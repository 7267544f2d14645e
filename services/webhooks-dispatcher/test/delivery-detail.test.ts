import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { aBubble } from './builders.ts';
import { openScene, type Scene, type Subscriber } from './scene.ts';

const ID = '0b0e2f58-7c1d-4c52-9d0f-3a54f2b6a1c7';

describe('GET /v1/webhooks/{id}/deliveries/{delivery_id}', () => {
  let scene: Scene;
  beforeEach(async () => {
    scene = await openScene();
  });
  afterEach(() => scene.stop());

  const delivered = async (subscriber: Subscriber) => {
    await scene.dispatcher.ready({ bubble: aBubble({ id: ID }) });
    await scene.dispatcher.settle();
    const [{ id }] = await subscriber.log();
    return async (userId = 'ada') => scene.dispatcher.call('GET', `/${subscriber.id}/deliveries/${id}`, undefined, { userId });
  };

  it('[DLV-01] [DLV-02] shows the headers and the body that were sent, and of the signature its time alone', async () => {
    const subscriber = await scene.subscriber({}, (response) => response.writeHead(500).end('out of order'));
    const read = await delivered(subscriber);
    const { status, body } = await read();
    const [received] = subscriber.receiver.received;
    expect(status).toBe(200);
    expect(body).toMatchObject({
      ...(await subscriber.log())[0],
      attempts: [{ status: 500, detail: null, response_preview: 'out of order' }],
    });
    expect(body.request.body).toBe(received?.body.toString());
    const t = String(received?.headers['x-service-signature']).split(',')[0];
    expect(body.request.headers).toEqual({
      'Content-Type': 'application/json',
      'User-Agent': received?.headers['user-agent'],
      'X-Service-Event': 'bubble.ready',
      'X-Service-Delivery': body.id,
      'X-Service-Signature': `${t},v1=…`,
    });
  });

  it('[HOOK-09] says in words why there was no answer, and where a redirect leads without its query', async () => {
    const redirected = await scene.subscriber({}, (response) => response.writeHead(302, { location: '/login?next=s3cret' }).end());
    const closed = await scene.subscriber({});
    await closed.receiver.close();
    const refused = (await (await delivered(closed))()).body;
    expect(refused.attempts).toMatchObject([{ outcome: 'connect', detail: 'The connection was refused.' }]);
    const [{ attempts }] = await redirected.log();
    const origin = new URL(redirected.receiver.url).origin;
    expect(attempts).toMatchObject([{ outcome: '3xx', detail: `Redirects are not followed: it leads to ${origin}/login` }]);
  });

  it('[EVT-01] [EVT-03] shows no body of a removed recording, nor of one that the owner may not read any more', async () => {
    const read = await delivered(await scene.subscriber());
    scene.dispatcher.peers.bubble(ID, { participates: false, bubble: { team_id: 'team', channel_id: 'channel', author_id: 'ada' } });
    expect((await read()).body.request).toMatchObject({ body: null, headers: { 'X-Service-Event': 'bubble.ready' } });
    scene.dispatcher.peers.bubble(ID, { participates: true, bubble: { team_id: 'team', channel_id: 'channel', author_id: 'ada' } });
    expect((await read()).body.request.body).toContain(ID);
    await scene.dispatcher.removed(ID);
    expect((await read()).body.request.body).toBeNull();
  });

  it('[EVT-03] shows no request before the first attempt', async () => {
    scene.dispatcher.peers.bubble(ID, { participates: false, bubble: { team_id: 'team', channel_id: 'channel', author_id: 'ada' } });
    const read = await delivered(await scene.subscriber());
    expect((await read()).body).toMatchObject({ status: 'cancelled', attempts: [], request: null });
  });

  it('[HOOK-02] [HOOK-04] is for the owner, with paid access', async () => {
    const read = await delivered(await scene.subscriber());
    scene.dispatcher.peers.user('ben');
    scene.dispatcher.peers.user('poor', { paid_features: false });
    expect([(await read('ben')).status, (await read('poor')).status]).toEqual([404, 403]);
  });
});
