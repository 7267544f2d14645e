import { systemIds } from '@bubbles/kernel/ids.ts';
import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { describe, expect, it } from '@jest/globals';
import { openStores } from '../src/adapters/store/stores.ts';
import { createDeliveryLoop } from '../src/delivery-loop/delivery-loop.ts';
import { POSTPONE_MS } from '../src/domain/delivery.ts';
import { aDelivery, NOON } from './builders.ts';
import { CONFIG } from './dispatcher.ts';

const HOUR_MS = 3_600_000;

describe('a clock that is set back while somebody who is asked is away', () => {
  it('[DLV-06] makes no pause longer', async () => {
    const { deliveries, ensureIndexes } = openStores(memoryDatabase());
    await ensureIndexes();
    const steady = fakeClock(NOON);
    let setBackMs = 0;
    const prepared: string[] = [];
    const { run } = createDeliveryLoop({
      deliveries,
      clock: { ...steady, now: () => new Date(steady.now().getTime() - setBackMs) },
      ids: systemIds(),
      limits: { ...CONFIG.limits, leaseMs: 60_000 },
      timing: CONFIG.timing,
      wake: () => undefined,
      quiet: () => undefined,
      prepare({ claimed }, onAway) {
        for (const one of claimed.map(({ id }) => id)) prepared.push(one);
        onAway();
        return Promise.resolve(() => Promise.resolve({ outcome: null, isFinished: false }));
      },
    });
    const queue = (id: string) => deliveries.insert(aDelivery({ id, eventId: id, claimableAt: new Date(NOON.getTime() - 2 * HOUR_MS) }));
    await queue('before');
    await run();
    setBackMs = HOUR_MS;
    await queue('after');
    await run();
    expect(prepared).toEqual(['before']);
    await steady.advance(POSTPONE_MS);
    await run();
    expect(prepared).toEqual(['before', 'after']);
  });
});
