import { afterEach, describe, expect, it } from '@jest/globals';
import { aBubble } from './builders.ts';
import { CONFIG } from './dispatcher.ts';
import { falteringDatabase } from './mortal.ts';
import { openScene, type Scene } from './scene.ts';
import { memoryDatabase } from './stores.ts';

/** More than there are from the time when all is due until all was sent. */
const MOST_STEPS = 400;
const LEASE_SECONDS = 60;
const STEP_MS = 250;
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

/** Everything falls due together, and the store fails at one step from then on; whether it came to that. */
const failedAt = async (step: number): Promise<boolean> => {
  const database = falteringDatabase(memoryDatabase());
  scene = await openScene({ database, config: { limits: LIMITS } });
  const subscribers = await Promise.all(Array.from({ length: SUBSCRIBERS }, () => scene.subscriber()));
  const { dispatcher } = scene;
  dispatcher.peers.setState('identity', 'away');
  for (const id of BUBBLES) await dispatcher.ready({ bubble: aBubble({ id }) });
  await dispatcher.settle();
  dispatcher.peers.setState('identity', 'up');
  database.failAt(step);
  for (let lease = 0; lease < 2; lease += 1) {
    await dispatcher.clock.advance(LEASE_SECONDS * 1000);
    await settle(scene);
  }
  for (const { receiver } of subscribers) expect(new Set(receiver.ids()).size).toBe(BUBBLES.length);
  for (const metric of ['webhook_in_flight', 'webhook_saturated'])
    expect(await dispatcher.registry.getSingleMetricAsString(metric)).toContain(`${metric} 0`);
  await scene.stop();
  return database.hasFailed();
};

describe('a store that is away for one step', () => {
  it('[DLV-05] [DLV-06] loses no delivery, and leaves no room taken', async () => {
    let step = 1;
    while (step < MOST_STEPS && (await failedAt(step))) step += 1;
    expect(step).toBeGreaterThan(40);
    expect(step).toBeLessThan(MOST_STEPS);
  });
});
