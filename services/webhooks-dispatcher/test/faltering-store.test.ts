import { afterEach, describe, expect, it } from '@jest/globals';
import type { DeliveryDoc } from '../src/adapters/store/deliveries.ts';
import { aBubble } from './builders.ts';
import { CONFIG, knownPeers } from './dispatcher.ts';
import { falteringDatabase } from './mortal.ts';
import { openScene, type Scene, type Subscriber } from './scene.ts';
import { memoryDatabase } from './stores.ts';

/** More than there are from the time when all is due until all was sent. */
const MOST_STEPS = 400;
const LEASE_SECONDS = 60;
const STEP_MS = 250;
const BACK_OFF_MS = 5000;
const SUBSCRIBERS = 3;
const BUBBLES = ['b1', 'b2', 'b3'];
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

/** Every receiver got everything, and nothing is left in hand. */
const expectAllDone = async ({ dispatcher }: Scene, subscribers: readonly Subscriber[]): Promise<void> => {
  for (const { receiver } of subscribers) expect(new Set(receiver.ids()).size).toBe(BUBBLES.length);
  expect(await dispatcher.database.collection<DeliveryDoc>('deliveries').count({ status: 'succeeded' })).toBe(
    BUBBLES.length * subscribers.length,
  );
  for (const metric of ['webhook_in_flight', 'webhook_saturated', 'webhook_due'])
    expect(await dispatcher.registry.getSingleMetricAsString(metric)).toContain(`${metric} 0`);
};
const passLeases = async (): Promise<void> => {
  for (let lease = 0; lease < 2; lease += 1) {
    await scene.dispatcher.clock.advance(LEASE_SECONDS * 1000);
    await settle(scene);
  }
};

interface Flow {
  readonly before?: (scene: Scene) => Promise<void>;
  readonly work: (scene: Scene) => Promise<void>;
}

/** The store or a peer fails at one step of the work and what follows from it; whether it came to that. */
const failedAt = async (step: number, { before, work }: Flow): Promise<boolean> => {
  const database = falteringDatabase(memoryDatabase());
  const peers = knownPeers();
  const [identity, bubblesQuery] = [database.port(peers.identity, ['post']), database.port(peers.bubblesQuery, ['post'])];
  scene = await openScene({ database, config: { limits: LIMITS }, peers: { ...peers, identity, bubblesQuery } });
  const subscribers = await Promise.all(Array.from({ length: SUBSCRIBERS }, () => scene.subscriber()));
  await before?.(scene);
  database.failAt(step);
  await work(scene);
  await passLeases();
  const hasFailed = database.hasFailed();
  database.failAt(Number.POSITIVE_INFINITY);
  await expectAllDone(scene, subscribers);
  await scene.stop();
  return hasFailed;
};
const failEverywhere = async (flow: Flow): Promise<number> => {
  for (let step = 1; step < MOST_STEPS; step += 1) if (!(await failedAt(step, flow))) return step - 1;
  throw new Error('the flow never got through');
};

/** All at once, and what was refused again, as from an outbox. */
const tell = async (current: Scene, ids: readonly string[]): Promise<void> => {
  const told = await Promise.allSettled(ids.map((id) => current.dispatcher.ready({ bubble: aBubble({ id }) })));
  const refused = ids.filter((_, n) => told[n]?.status === 'rejected');
  if (refused.length === 0) return;
  await current.dispatcher.clock.advance(BACK_OFF_MS);
  await tell(current, refused);
};

describe('a store or a peer that is away for one step', () => {
  it('[DLV-05] [DLV-06] when everything falls due together: loses no delivery, and leaves no room taken', async () => {
    const failures = await failEverywhere({
      async before({ dispatcher }) {
        dispatcher.peers.setState('identity', 'away');
        for (const id of BUBBLES) await dispatcher.ready({ bubble: aBubble({ id }) });
        await dispatcher.settle();
        dispatcher.peers.setState('identity', 'up');
      },
      work: () => Promise.resolve(),
    });
    expect(failures).toBeGreaterThan(40);
  });

  it('[DLV-05] [EVT-03] when everything is told together: each is fanned out whole, and sent', async () => {
    const failures = await failEverywhere({ work: (current) => tell(current, BUBBLES) });
    expect(failures).toBeGreaterThan(60);
  });
});
