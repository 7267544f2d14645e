import { createHmac } from 'node:crypto';
import { WebhookDelivery } from '@bubbles/contracts/api/webhook.ts';
import { BubbleReadyV1 } from '@bubbles/contracts/events/service-events.ts';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { aBubble, NOON, type Ready, readyEvent } from './builders.ts';
import { CONFIG } from './dispatcher.ts';
import { deliveryIdOf, type Received } from './receivers.ts';
import { openScene, type Scene } from './scene.ts';

let scene: Scene;
beforeEach(async () => {
  scene = await openScene();
});
afterEach(() => scene.stop());

const jsonOf = ({ body }: Received) => JSON.parse(body.toString());
const only = <T>(all: readonly T[]): T => {
  const [one] = all;
  if (one === undefined || all.length > 1) throw new Error(`one was expected, there are ${all.length}`);
  return one;
};
const ready = async (fields: Partial<Ready> = {}) => {
  await scene.dispatcher.ready(fields);
  await scene.dispatcher.settle();
};
const ofType = (type: Ready['bubble']['type'], id = 'b1'): Partial<Ready> => ({ bubble: aBubble({ type, id }) });

const EVENTS = ['bubble.ready', 'meeting_recording.ready', 'screen_recording.ready'];

describe('section 6, what is sent', () => {
  it('[DLV-01] [DLV-02] [DLV-03] the bubble in its envelope, signed over the exact bytes', async () => {
    const { receiver, secret } = await scene.subscriber();
    const bubble = aBubble({ title: 'Grüße 🎈' });
    await ready({ bubble });
    const received = only(receiver.received);
    expect(WebhookDelivery.parse(jsonOf(received))).toEqual({
      id: expect.stringMatching(/^evt_[0-9a-f]{26}$/),
      type: 'bubble.ready',
      created_at: NOON.toISOString(),
      data: { bubble },
    });
    const t = NOON.getTime() / 1000;
    const v1 = createHmac('sha256', secret).update(`${t}.`).update(received.body).digest('hex');
    expect(received.headers).toMatchObject({
      'content-type': 'application/json',
      'content-length': String(received.body.length),
      'user-agent': CONFIG.userAgent,
      'x-service-event': 'bubble.ready',
      'x-service-delivery': expect.stringMatching(/^dlv_[0-9a-f]{26}$/),
      'x-service-signature': `t=${t},v1=${v1}`,
    });
  });

  it.each(['Service', 'Acme-Notes'])(
    '[DLV-02] under the name %s when it is configured, in upper and lower case as the interface has it',
    async (name) => {
      await scene.restart({ config: { headerName: name } });
      const { receiver } = await scene.subscriber();
      await ready();
      expect(only(receiver.received).headerNames.filter((written) => /^(x-|content-type|user-agent)/i.test(written))).toEqual([
        'Content-Type',
        'User-Agent',
        `X-${name}-Event`,
        `X-${name}-Delivery`,
        `X-${name}-Signature`,
      ]);
    },
  );

  it('[DLV-02] the bubble as its publisher wrote it, byte for byte, with fields and types that this release does not know', async () => {
    const { receiver } = await scene.subscriber({ events: EVENTS });
    const bubble = { mood: { of: 'later', n: [1.5, 1e-7] }, ...aBubble(), type: 'voice_memo', 7: 'first', title: '\ud800\u2028 "é"' };
    const { bus, clock, peers } = scene.dispatcher;
    peers.ready();
    const { type, publisher } = BubbleReadyV1;
    const envelope = { specversion: '1.0', id: 'ready-b1', source: publisher, type, time: clock.now().toISOString() } as const;
    await bus.publish(BubbleReadyV1, { ...envelope, datacontenttype: 'application/json', data: { ...readyEvent(), bubble, more: true } });
    await scene.dispatcher.settle();
    const { body } = only(receiver.received);
    const { id } = JSON.parse(body.toString());
    const start = `{"id":"${id}","type":"bubble.ready","created_at":"${NOON.toISOString()}","data":{"bubble":`;
    expect(body.toString()).toBe(`${start}${JSON.stringify(bubble)}}}`);
  });

  it('[DLV-02] the event has one id for all who get it, the delivery one for each', async () => {
    const [one, two] = [await scene.subscriber(), await scene.subscriber()];
    await ready();
    const got = [only(one.receiver.received), only(two.receiver.received)];
    expect(new Set(got.map((received) => jsonOf(received).id)).size).toBe(1);
    expect(new Set(got.map(({ body }) => body.toString())).size).toBe(1);
    expect(new Set(got.map(deliveryIdOf)).size).toBe(2);
  });
});

describe('section 6, who gets it', () => {
  it.each([
    ['meeting_recording', ['bubble.ready', 'meeting_recording.ready']],
    ['screen_recording', ['bubble.ready', 'screen_recording.ready']],
    ['custom_image', ['bubble.ready']],
  ] as const)('[EVT-01] [EVT-02] a %s fires %j, each as a delivery of its own', async (type, expected) => {
    const { receiver } = await scene.subscriber({ events: EVENTS });
    await ready(ofType(type));
    expect(receiver.received.map((received) => jsonOf(received).type).toSorted()).toEqual(expected);
    expect(new Set(receiver.ids()).size).toBe(expected.length);
  });

  it('[EVT-03] owners who participate, whoever the author is', async () => {
    const { receiver } = await scene.subscriber();
    await ready({ participant_user_ids: ['bob'], author_id: 'ada' });
    expect(receiver.received).toEqual([]);
    await ready({ ...ofType('custom_image', 'b2'), participant_user_ids: ['bob', 'ada'], author_id: 'bob' });
    expect(receiver.received).toHaveLength(1);
    await ready({ ...ofType('custom_image', 'b3'), participant_user_ids: [] });
    expect(receiver.received).toHaveLength(1);
  });

  it.each<[string, object, Partial<Ready>, number]>([
    ['its team', { team_id: 'team' }, {}, 1],
    ['another team', { team_id: 'team' }, { team_id: 'other' }, 0],
    ['no team', { team_id: 'team' }, { team_id: null }, 0],
    ['its channel', { space_id: 'channel' }, {}, 1],
    ['another channel', { space_id: 'channel' }, { channel_id: 'closed' }, 0],
    ['no channel', { space_id: 'channel' }, { channel_id: null }, 0],
    ['a type that is asked for', { filters: { bubble_types: ['custom_image', 'meeting_recording'] } }, {}, 1],
    ['a type that is not', { filters: { bubble_types: ['custom_image'] } }, {}, 0],
    ['a bubble of the owner’s', { filters: { only_my_bubbles: true } }, {}, 1],
    ['a bubble of somebody else', { filters: { only_my_bubbles: true } }, { author_id: 'bob' }, 0],
    ['a bubble of nobody', { filters: { only_my_bubbles: true } }, { author_id: null }, 0],
    ['a bubble of somebody else, where that is no filter', { filters: { only_my_bubbles: false } }, { author_id: 'bob' }, 1],
    ['an event that is not selected', { events: ['screen_recording.ready'] }, {}, 0],
  ])('[EVT-03] [HOOK-03] scope and filters narrow: %s', async (_what, fields, bubble, deliveries) => {
    scene.dispatcher.peers.team('other');
    const { receiver } = await scene.subscriber(fields);
    await ready(bubble);
    expect(receiver.received).toHaveLength(deliveries);
  });

  it('[DLV-05] a message that comes again changes nothing', async () => {
    const { receiver, log } = await scene.subscriber();
    await ready();
    await Promise.all([ready(), ready({ bubble: aBubble({ title: 'changed' }) })]);
    expect(receiver.received).toHaveLength(1);
    expect(await log()).toHaveLength(1);
  });

  it('[DLV-05] one that was cut off is made whole, with the bytes that were frozen first', async () => {
    const early = await scene.subscriber();
    await ready();
    const late = await scene.subscriber();
    await ready({ bubble: aBubble({ title: 'changed' }) });
    expect(early.receiver.received).toHaveLength(1);
    expect(only(late.receiver.received).body).toEqual(only(early.receiver.received).body);
  });

  it('many participants are asked for in several reads', async () => {
    const { receiver } = await scene.subscriber();
    const crowd = Array.from({ length: 1200 }, (_, n) => `user-${n}`);
    await ready({ participant_user_ids: [...crowd, 'ada'] });
    expect(receiver.received).toHaveLength(1);
  });
});
