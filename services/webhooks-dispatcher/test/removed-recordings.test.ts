import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { EventDoc } from '../src/adapters/store/events.ts';
import { aBubble } from './builders.ts';
import { openScene, type Scene } from './scene.ts';

/** Bubbles of the pipeline have lower-case uuids. */
const ID = '0b0e2f58-7c1d-4c52-9d0f-3a54f2b6a1c7';
const READY = { bubble: aBubble({ id: ID, summary: 'What was said.' }) };

describe('a recording that is removed', () => {
  let scene: Scene;
  beforeEach(async () => {
    scene = await openScene();
  });
  afterEach(() => scene.stop());

  const kept = async (): Promise<readonly EventDoc[]> =>
    scene.dispatcher.database.collection<EventDoc>('events').find({ createdAt: { $lte: scene.dispatcher.clock.now() } });
  const bodies = async () => (await kept()).map(({ body }) => body);

  it('[EVT-01] leaves nothing in the bodies of its events, and no redelivery sends it', async () => {
    const { id, receiver } = await scene.subscriber({ events: ['bubble.ready', 'meeting_recording.ready'] });
    await scene.dispatcher.ready(READY);
    await scene.dispatcher.settle();
    expect(receiver.received).toHaveLength(2);
    expect((await bodies()).every((body) => body?.includes('What was said.'))).toBe(true);
    await scene.dispatcher.removed(ID);
    expect(new Set(await bodies())).toEqual(new Set([null]));
    for (const delivery of receiver.ids()) await scene.dispatcher.call('POST', `/${id}/deliveries/${delivery}/redeliver`);
    await scene.dispatcher.settle();
    expect(receiver.received).toHaveLength(2);
    const expected = { status: 'cancelled', cancelled_reason: 'bubble_not_readable' };
    expect(await scene.dispatcher.deliveries(id)).toMatchObject([expected, expected]);
  });

  it('[EVT-01] is not sent by a retry, also when bubbles-query has not heard of it yet', async () => {
    const { receiver, log } = await scene.subscriber({}, 500);
    await scene.dispatcher.ready(READY);
    await scene.dispatcher.settle();
    await scene.dispatcher.removed(ID);
    await scene.dispatcher.pass(60);
    expect(receiver.received).toHaveLength(1);
    expect(await log()).toMatchObject([{ status: 'cancelled', cancelled_reason: 'bubble_not_readable', attempts: [{ number: 1 }] }]);
  });

  it('[EVT-01] is not kept nor sent when it is heard to be ready afterwards', async () => {
    const { receiver, log } = await scene.subscriber();
    await scene.dispatcher.removed(ID);
    await scene.dispatcher.ready(READY);
    await scene.dispatcher.settle();
    expect(receiver.received).toEqual([]);
    expect(new Set(await bodies())).toEqual(new Set([null]));
    expect(await log()).toMatchObject([{ status: 'cancelled', cancelled_reason: 'bubble_not_readable' }]);
  });

  it('leaves other recordings alone', async () => {
    const { receiver } = await scene.subscriber();
    await scene.dispatcher.removed(ID);
    await scene.dispatcher.ready();
    await scene.dispatcher.settle();
    expect(receiver.received).toHaveLength(1);
  });
});
