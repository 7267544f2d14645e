import { failEverywhere, falteringWorld } from '@bubbles/testing/faltering-world.ts';
import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { DeliveryDoc } from '../src/adapters/store/deliveries.ts';
import { aBubble } from './builders.ts';
import { CONFIG, knownPeers } from './dispatcher.ts';
import { openScene, type Scene, type Subscriber } from './scene.ts';

const LEASE_SECONDS = 60;
const STEP_MS = 250;
const BACK_OFF_MS = 5000;
const SUBSCRIBERS = 3;
const BUBBLES = 2;
/** Everybody has more than there is room for. */
const LIMITS = { ...CONFIG.limits, perSubscription: 1 };

let scene: Scene;
afterEach(() => scene.stop());

/** Time passes until all that is due has ended: outcomes that could not be recorded are tried again with it. */
const settle = async ({ dispatcher: { service, clock } }: Scene): Promise<void> => {
  let ended = false;
  const settled = service.settle().then(() => {
    ended = true;
  });
  while (!ended) await clock.advance(STEP_MS);
  await settled;
};

const passLeases = async (): Promise<void> => {
  for (let lease = 0; lease < 2; lease += 1) {
    await scene.dispatcher.clock.advance(LEASE_SECONDS * 1000);
    await settle(scene);
  }
};
/** Every receiver got everything, and nothing is left in hand. */
const expectAllDone = async ({ dispatcher }: Scene, subscribers: readonly Subscriber[], bubbles: number): Promise<void> => {
  for (const { receiver } of subscribers) expect(new Set(receiver.ids()).size).toBe(bubbles);
  const done = await dispatcher.database.collection<DeliveryDoc>('deliveries').count({ status: 'succeeded' });
  expect(done).toBe(bubbles * subscribers.length);
  for (const metric of ['webhook_in_flight', 'webhook_saturated', 'webhook_due'])
    expect(await dispatcher.registry.getSingleMetricAsString(metric)).toContain(`${metric} 0`);
};

interface Flow {
  readonly before?: (bubbles: readonly string[]) => Promise<void>;
  readonly work: (bubbles: readonly string[]) => Promise<void>;
}

/** The store or a peer fails at one step of the work and what follows from it, each time with other bubbles; answers how often. */
const failAtEachStep = async ({ before, work }: Flow): Promise<number> => {
  const { database, port, failing } = falteringWorld();
  const peers = knownPeers();
  const [identity, bubblesQuery] = [port(peers.identity, ['post']), port(peers.bubblesQuery, ['post'])];
  scene = await openScene({
    database: database(memoryDatabase()),
    config: { limits: LIMITS },
    peers: { ...peers, identity, bubblesQuery },
  });
  const subscribers = await Promise.all(Array.from({ length: SUBSCRIBERS }, () => scene.subscriber()));
  return failEverywhere(async (step) => {
    const bubbles = Array.from({ length: BUBBLES }, (_, n) => `b${step}-${n}`);
    await before?.(bubbles);
    const { hasFailed } = await failing(step, async () => {
      await work(bubbles);
      await passLeases();
    });
    await expectAllDone(scene, subscribers, step * BUBBLES);
    return hasFailed;
  });
};

/** All at once, and what was refused again, as from an outbox. */
const tell = async (ids: readonly string[]): Promise<void> => {
  const told = await Promise.allSettled(ids.map((id) => scene.dispatcher.ready({ bubble: aBubble({ id }) })));
  const refused = ids.filter((_, n) => told[n]?.status === 'rejected');
  if (refused.length === 0) return;
  await scene.dispatcher.clock.advance(BACK_OFF_MS);
  await tell(refused);
};

describe('a store or a peer that is away for one step', () => {
  it('[DLV-05] [DLV-06] when everything falls due together: loses no delivery, and leaves no room taken', async () => {
    const failures = await failAtEachStep({
      async before(bubbles) {
        const { peers, ready, settle: settled } = scene.dispatcher;
        peers.setState('identity', 'away');
        for (const id of bubbles) await ready({ bubble: aBubble({ id }) });
        await settled();
        peers.setState('identity', 'up');
      },
      work: () => Promise.resolve(),
    });
    expect(failures).toBeGreaterThan(100);
  });

  it('[DLV-05] [EVT-03] when everything is told together: each is fanned out whole, and sent', async () => {
    expect(await failAtEachStep({ work: tell })).toBeGreaterThan(100);
  });
});
