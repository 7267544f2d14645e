import { describe, expect, it } from '@jest/globals';
import type { EventStore } from '../src/ports.ts';
import { anEvent, NOON } from './builders.ts';

const textOf = (bytes: Uint8Array | null | undefined) => bytes && Buffer.from(bytes).toString();

export const describeEventStore = (engine: string, make: () => Promise<EventStore>): void =>
  describe(`EventStore on ${engine}`, () => {
    it('[DLV-03] gives back the exact bytes of those that there are', async () => {
      const store = await make();
      const body = Buffer.from([0x7b, 0x7d, 0x00, 0xff, 0xfe]);
      await store.insert(anEvent());
      await store.insert(anEvent({ id: 'evt_2', body, bubble: null, type: 'webhook.test' }));
      const bodies = await store.bodies(['evt_2', 'evt_absent', 'evt_1']);
      expect([...bodies.keys()].toSorted()).toEqual(['evt_1', 'evt_2']);
      expect(textOf(bodies.get('evt_1'))).toBe('{"id":"evt_1","note":"café"}');
      expect(Buffer.compare(Buffer.from(bodies.get('evt_2') ?? []), body)).toBe(0);
    });

    it('[DLV-05] what was frozen first stays', async () => {
      const store = await make();
      await store.insert(anEvent());
      await store.insert(anEvent({ body: Buffer.from('{}') }));
      expect(textOf((await store.bodies(['evt_1'])).get('evt_1'))).toBe('{"id":"evt_1","note":"café"}');
    });

    it('[HOOK-06] drops the body of one that is there, and of one that comes afterwards', async () => {
      const store = await make();
      const drop = (id: string) => store.dropBody({ id, type: 'bubble.ready', bubbleId: 'b1', at: NOON });
      await store.insert(anEvent());
      await Promise.all([drop('evt_1'), drop('evt_2'), store.insert(anEvent({ id: 'evt_3' })), drop('evt_3')]);
      await store.insert(anEvent({ id: 'evt_2' }));
      await drop('evt_1');
      expect([...(await store.bodies(['evt_1', 'evt_2', 'evt_3']))].toSorted()).toEqual([
        ['evt_1', null],
        ['evt_2', null],
        ['evt_3', null],
      ]);
      await store.sweep(new Date(NOON.getTime() + 1));
      expect((await store.bodies(['evt_1', 'evt_2', 'evt_3'])).size).toBe(0);
    });

    it('forgets what is old', async () => {
      const store = await make();
      await store.insert(anEvent());
      await store.insert(anEvent({ id: 'evt_2', createdAt: new Date(NOON.getTime() + 1) }));
      await store.sweep(new Date(NOON.getTime() + 1));
      expect([...(await store.bodies(['evt_1', 'evt_2'])).keys()]).toEqual(['evt_2']);
    });
  });
