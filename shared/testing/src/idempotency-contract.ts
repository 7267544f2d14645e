import { randomBytes, randomUUID } from 'node:crypto';
import { idempotencyStore } from '@bubbles/host/idempotency-store.ts';
import type { ActedRequest, IdempotencyStore } from '@bubbles/http/routes/idempotency.ts';
import { systemIds } from '@bubbles/kernel/ids.ts';
import { createSeal } from '@bubbles/kernel/seal.ts';
import type { Database } from '@bubbles/store/collection.ts';
import { describe, expect, it } from '@jest/globals';
import { type FakeClock, fakeClock } from './fake-clock.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const LEASE_MS = 10_000;

interface Kept {
  readonly store: IdempotencyStore;
  readonly clock: FakeClock;
  /** That nobody else uses. */
  readonly id: string;
}

/** What the store of idempotency keys must do on every engine. */
export const describeIdempotencyStore = (engine: string, make: () => Database): void =>
  describe(`IdempotencyStore on ${engine}`, () => {
    const opened = async (): Promise<Kept> => {
      const clock = fakeClock();
      const seal = createSeal([{ id: 'k1', key: randomBytes(32) }], randomBytes);
      const store = idempotencyStore({ database: make(), seal, clock, ids: systemIds() });
      await store.ensureIndexes();
      return { store, clock, id: randomUUID() };
    };
    const claimed = async ({ store, id }: Kept, fingerprint = 'body'): Promise<ActedRequest> => {
      const claim = await store.claim(id, fingerprint);
      if (claim.kind !== 'mine') throw new Error(claim.kind);
      return claim.request;
    };

    it('[GEN-13] of ten at once one gets it, the others see that it is in progress', async () => {
      const { store, id } = await opened();
      const claims = await Promise.all(Array.from({ length: 10 }, () => store.claim(id, 'body')));
      expect(claims.map(({ kind }) => kind).toSorted()).toEqual([...Array.from({ length: 9 }, () => 'in progress'), 'mine']);
    });

    it('[GEN-13] [GEN-10] keeps the answer for a day, sealed', async () => {
      const kept = await opened();
      const { store, clock, id } = kept;
      await store.keep(await claimed(kept), { status: 201, body: '{"secret":"s3cret"}' });
      await clock.advance(DAY_MS - 1);
      expect(await store.claim(id, 'body')).toEqual({ kind: 'answered', answer: { status: 201, body: '{"secret":"s3cret"}' } });
      expect(await store.claim(id, 'other')).toEqual({ kind: 'another request' });
      const stored = await make().collection('idempotency_keys').findOne({ _id: id });
      expect(stored).not.toBeNull();
      expect(JSON.stringify(stored)).not.toContain('s3cret');
      await clock.advance(1);
      expect(await store.claim(id, 'other')).toMatchObject({ kind: 'mine', request: { isFirstRun: true } });
    });

    it('an answer without a body is kept too', async () => {
      const kept = await opened();
      await kept.store.keep(await claimed(kept), { status: 204, body: null });
      expect(await kept.store.claim(kept.id, 'body')).toEqual({ kind: 'answered', answer: { status: 204, body: null } });
    });

    it('[GEN-13] a lease that ended without an answer goes to the next one, with the same seed; of many at once to one', async () => {
      const kept = await opened();
      const dead = await claimed(kept);
      await kept.clock.advance(LEASE_MS);
      const claims = await Promise.all(Array.from({ length: 5 }, () => kept.store.claim(kept.id, 'body')));
      const taken = claims.flatMap((claim) => (claim.kind === 'mine' ? [claim.request] : []));
      expect(taken).toMatchObject([{ isFirstRun: false }]);
      expect(taken[0]?.seed).toEqual(dead.seed);
      expect(claims.filter(({ kind }) => kind === 'in progress')).toHaveLength(4);
      // A slow first worker stores the same answer; the one stored first stays.
      await kept.store.keep(dead, { status: 201, body: 'first' });
      await kept.store.keep(taken[0] ?? dead, { status: 201, body: 'second' });
      expect(await kept.store.claim(kept.id, 'body')).toMatchObject({ answer: { body: 'first' } });
    });

    it('what is released goes to the next one at once, with the same seed; what is forgotten begins afresh', async () => {
      const kept = await opened();
      const first = await claimed(kept);
      await kept.store.release(first);
      const second = await claimed(kept);
      expect(second).toMatchObject({ isFirstRun: false, seed: first.seed });
      await kept.store.forget(first);
      expect(await kept.store.claim(kept.id, 'body')).toEqual({ kind: 'in progress' });
      await kept.store.forget(second);
      const third = await claimed(kept, 'another body');
      expect(third.isFirstRun).toBe(true);
      expect(third.seed).not.toEqual(first.seed);
    });

    it('[GEN-13] a sweep forgets keys of a day ago and no others', async () => {
      const kept = await opened();
      const { store, clock, id } = kept;
      await store.keep(await claimed(kept), { status: 201, body: 'old' });
      await clock.advance(DAY_MS - 1);
      const young = randomUUID();
      await store.claim(young, 'body');
      await store.sweep();
      expect(await store.claim(id, 'body')).toMatchObject({ kind: 'answered' });
      await clock.advance(1);
      await store.sweep();
      const keys = make().collection('idempotency_keys');
      expect(await keys.findOne({ _id: id })).toBeNull();
      expect(await keys.findOne({ _id: young })).not.toBeNull();
    });
  });
