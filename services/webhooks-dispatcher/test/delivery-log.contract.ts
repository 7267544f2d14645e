import { describe, expect, it } from '@jest/globals';
import { dueAt, filled, later, logOf, type Make, numbered, numbers, recorded } from './stored-deliveries.ts';

const QUEUE = {
  epoch: 1,
  origin: 'https://new.example.com',
  at: later(20),
  attemptsBeforeQueue: 0,
  maxAttempts: 5,
  requeuedBy: 'request 1',
};

/** What the delivery log and redelivery ask of the store. */
export const describeLog = (make: Make) =>
  describe('the log', () => {
    it('pages newest first, in a total order, by status where it is asked to', async () => {
      const at = [3, 1, 2, 2, 2];
      const status = (n: number) => (n % 2 === 0 ? 'succeeded' : 'pending');
      const store = await filled(
        make,
        ...at.map((seconds, n) => numbered(n, { createdAt: later(seconds), status: status(n) })),
        numbered(9, { subscriptionId: 'wh_2' }),
      );
      expect(await logOf(store)).toEqual(['dlv_0', 'dlv_4', 'dlv_3', 'dlv_2', 'dlv_1']);
      expect(await logOf(store, { limit: 2 })).toEqual(['dlv_0', 'dlv_4']);
      expect(await logOf(store, { position: { createdAt: later(2), id: 'dlv_4' } })).toEqual(['dlv_3', 'dlv_2', 'dlv_1']);
      expect(await logOf(store, { position: { createdAt: later(2), id: 'dlv_gone' } })).toEqual(['dlv_4', 'dlv_3', 'dlv_2', 'dlv_1']);
      expect(await logOf(store, { status: 'pending' })).toEqual(['dlv_3', 'dlv_1']);
      expect(await logOf(store, { status: 'pending', position: { createdAt: later(2), id: 'dlv_3' } })).toEqual(['dlv_1']);
    });

    it('queues a finished delivery again, with a schedule of its own', async () => {
      const { log } = recorded(numbered(1));
      const finished = numbered(1, { status: 'exhausted', attemptCount: 5, claimCount: 7, finishedAt: later(9), log, reason: null });
      const store = await filled(make, finished);
      const again = await store.requeue('dlv_1', { ...QUEUE, epoch: 3, attemptsBeforeQueue: 5, maxAttempts: 1 });
      expect(again).toEqual({
        ...finished,
        status: 'pending',
        origin: QUEUE.origin,
        epoch: 3,
        attemptsBeforeQueue: 5,
        maxAttempts: 1,
        claimCount: 5,
        claimableAt: later(20),
        finishedAt: null,
        requeuedBy: 'request 1',
      });
      expect(await dueAt(store, { now: later(20) })).toEqual(['dlv_1']);
    });

    it('[GEN-13] queues a delivery once for one request', async () => {
      const store = await filled(make, numbered(1, { status: 'exhausted', attemptCount: 5, requeuedBy: 'request 1' }));
      expect(await store.requeue('dlv_1', { ...QUEUE, attemptsBeforeQueue: 5 })).toBeNull();
      expect(await store.requeue('dlv_1', { ...QUEUE, attemptsBeforeQueue: 5, requeuedBy: 'request 2' })).toMatchObject({
        requeuedBy: 'request 2',
      });
    });

    it('queues nothing that is pending, absent or has gone on meanwhile', async () => {
      const store = await filled(make, numbered(1), numbered(2, { status: 'succeeded', attemptCount: 2 }));
      expect(await store.requeue('dlv_1', QUEUE)).toBeNull();
      expect(await store.requeue('dlv_absent', QUEUE)).toBeNull();
      expect(await store.requeue('dlv_2', { ...QUEUE, attemptsBeforeQueue: 1 })).toBeNull();
    });

    it('queues what waits under another epoch, but not what somebody works on', async () => {
      const waits = numbered(1, { attemptCount: 2, epoch: 1, claimableAt: later(60), leaseToken: null });
      const store = await filled(make, waits, numbered(2, { epoch: 1, claimableAt: later(60), leaseToken: 'mine' }));
      const queue = { ...QUEUE, epoch: 2 };
      expect(await store.requeue('dlv_1', { ...queue, attemptsBeforeQueue: 2 })).toMatchObject({
        status: 'pending',
        epoch: 2,
        attemptsBeforeQueue: 2,
        claimableAt: later(20),
      });
      expect(await store.requeue('dlv_2', queue)).toBeNull();
      expect(await store.requeue('dlv_2', { ...queue, at: later(60) })).toMatchObject({
        epoch: 2,
        leaseToken: null,
        claimableAt: later(60),
      });
    });

    it('of two who queue it at once, one does', async () => {
      const store = await filled(make, numbered(1, { status: 'succeeded', attemptCount: 1 }));
      const queue = { ...QUEUE, attemptsBeforeQueue: 1 };
      const both = await Promise.all([store.requeue('dlv_1', queue), store.requeue('dlv_1', queue)]);
      expect(both.filter((one) => one !== null)).toHaveLength(1);
    });

    it('forgets what is old and finished, however much it is', async () => {
      const old = numbers(1100).map((n) => numbered(n, { status: 'succeeded', createdAt: later(-n) }));
      const store = await filled(make, ...old, numbered(2000, { createdAt: later(-5) }), numbered(2001, { status: 'succeeded' }));
      await store.sweep(later(0));
      expect(await logOf(store)).toEqual(['dlv_2001', 'dlv_2000']);
    });
  });
