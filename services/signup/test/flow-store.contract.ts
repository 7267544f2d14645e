import { describe, expect, it } from '@jest/globals';
import { type Flow, newFlow, SESSION_BYTES } from '../src/domain/flow.ts';
import type { CreationStore, FlowStore } from '../src/ports.ts';
import { ADA, NOON } from './signup.ts';

interface Stores {
  readonly flows: FlowStore;
  readonly creations: CreationStore;
}

const HOUR_MS = 3_600_000;
const later = (ms: number): Date => new Date(NOON.getTime() + ms);
const aFlow = (seed = 1): Flow => newFlow({ id: `flow-${seed}`, random: Buffer.alloc(SESSION_BYTES, seed), address: ADA, at: NOON }).flow;

const describeFlowStore = (engine: string, make: () => Promise<Stores>): void =>
  describe(`FlowStore on ${engine}`, () => {
    it('finds a flow by the hash of its session, as it was stored last', async () => {
      const { flows } = await make();
      const flow = aFlow();
      await flows.insert(flow);
      await flows.insert(aFlow(2));
      expect(await flows.get(flow.sessionHash)).toEqual(flow);
      const created = { name: 'Acme', trialEndsAt: later(HOUR_MS), flowId: flow.id };
      const changed: Flow = {
        ...flow,
        state: 'created',
        choice: { action: 'create', name: 'Acme' },
        workspace: { userId: 'u', teamId: 't', created },
        openedTo: 'acme.example',
      };
      expect(await flows.update(flow, () => changed)).toEqual({ ...changed, version: 2 });
      expect(await flows.get(flow.sessionHash)).toEqual({ ...changed, version: 2 });
      expect(await flows.get('unknown')).toBeNull();
    });

    it('changes nothing for null, and answers what is stored; null for a flow that is not there', async () => {
      const { flows } = await make();
      const flow = aFlow();
      await flows.insert(flow);
      expect(await flows.update(flow, () => null)).toEqual(flow);
      expect(await flows.update(aFlow(2), (other) => ({ ...other, openedTo: 'acme.example' }))).toBeNull();
      expect(await flows.get(flow.sessionHash)).toEqual(flow);
    });

    it('loses no change of many at once', async () => {
      const { flows } = await make();
      const flow = aFlow();
      await flows.insert(flow);
      const add = (current: Flow): Flow => ({ ...current, openedTo: `${current.openedTo ?? ''}x` });
      await Promise.all(Array.from({ length: 20 }, () => flows.update(flow, add)));
      expect((await flows.get(flow.sessionHash))?.openedTo).toBe('x'.repeat(20));
    });

    it('forgets what has expired', async () => {
      const { flows } = await make();
      const flow = aFlow();
      await flows.insert(flow);
      await flows.forgetExpired(later(HOUR_MS - 1));
      expect(await flows.get(flow.sessionHash)).not.toBeNull();
      await flows.forgetExpired(later(HOUR_MS));
      expect(await flows.get(flow.sessionHash)).toBeNull();
    });
  });

const describeCreationStore = (engine: string, make: () => Promise<Stores>): void =>
  describe(`CreationStore on ${engine}`, () => {
    const creation = (flowId: string, expiresAt = later(HOUR_MS)) => ({ flowId, name: `Acme of ${flowId}`, expiresAt });

    it('[SIGN-11] gives one of many at once the creation of an address, and all of them the same', async () => {
      const { creations } = await make();
      const claimed = await Promise.all(Array.from({ length: 20 }, (_, n) => creations.claim(ADA, creation(`flow-${n}`), NOON)));
      expect(new Set(claimed.map(({ flowId }) => flowId)).size).toBe(1);
      expect(claimed[0]).toEqual(creation(claimed[0]?.flowId ?? ''));
      expect(await creations.claim('ben@acme.example', creation('other'), NOON)).toEqual(creation('other'));
    });

    it('gives it to another one when the first has expired', async () => {
      const { creations } = await make();
      await creations.claim(ADA, creation('one'), NOON);
      expect((await creations.claim(ADA, creation('two'), later(HOUR_MS - 1))).flowId).toBe('one');
      const next = creation('two', later(2 * HOUR_MS));
      expect(await creations.claim(ADA, next, later(HOUR_MS))).toEqual(next);
      await creations.forgetExpired(later(HOUR_MS));
      expect((await creations.claim(ADA, creation('three'), later(HOUR_MS))).flowId).toBe('two');
      await creations.forgetExpired(later(2 * HOUR_MS));
      expect((await creations.claim(ADA, creation('three'), later(HOUR_MS))).flowId).toBe('three');
    });
  });

export const describeSignupStores = (engine: string, make: () => Promise<Stores>): void => {
  describeFlowStore(engine, make);
  describeCreationStore(engine, make);
};
