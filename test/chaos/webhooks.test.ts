import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { DispatcherSettings } from './support/dispatcher-process.ts';
import { type Dispatchers, startDispatchers } from './support/dispatchers.ts';
import { report, scaled } from './support/scale.ts';
import { startVerifyingReceiver, type VerifyingReceiver } from './support/verifying-receiver.ts';

const SUBSCRIPTIONS = 10;
const DELIVERIES = scaled({ short: 600, long: 6000 });
const BUBBLES = DELIVERIES / SUBSCRIPTIONS;
const KILLS = scaled({ short: 3, long: 20 });
/** On the wire at one moment: all that a killed process can have sent and not recorded. */
const IN_FLIGHT = SUBSCRIPTIONS * 4;
const AT_ONCE = 8;
const SECRET = `whsec_${Buffer.alloc(32, 3).toString('base64')}`;
const LOOK_EVERY_MS = 50;

const mongoUrl = process.env['MONGODB_URL'];

let folder: string;
let receiver: VerifyingReceiver;
let dispatchers: Dispatchers;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'webhooks-'));
  receiver = await startVerifyingReceiver(SECRET);
});
afterEach(async () => {
  await dispatchers.stop();
  await receiver.close();
  rmSync(folder, { recursive: true, force: true });
});

type Store = DispatcherSettings['store'];
const dataFile = (): Store => ({ file: join(folder, 'data.db') });
const mongo = (url: string): Store => ({ url, name: `webhooks_chaos_${randomUUID().slice(0, 8)}` });

const start = async (store: Store, count: number) => {
  dispatchers = await startDispatchers({ store, receiverUrl: receiver.url, subscriptions: SUBSCRIPTIONS, secret: SECRET }, count);
};

/** Tells of every bubble, some at a time. */
const tellAll = async () => {
  const bubbles = Array.from({ length: BUBBLES }, (_, n) => `bubble-${n}`);
  const teller = async () => {
    for (let bubble = bubbles.pop(); bubble !== undefined; bubble = bubbles.pop()) await dispatchers.tell(bubble);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, teller));
};
const allDone = async () => {
  while ((await dispatchers.open()) > 0) await pause(LOOK_EVERY_MS);
};
/** Kills one after the other, each when some more deliveries have come. */
const killAround = async (count: number, kills: number) => {
  for (let kill = 0; kill < kills; kill += 1) {
    const next = ((kill + 0.5) * DELIVERIES) / kills;
    while (receiver.posts.size < next) await pause(1);
    await dispatchers.replace(kill % count);
  }
};
interface Outcome {
  readonly deliveries: number;
  readonly repeated: number;
  /** How often the one came that came most often. */
  readonly most: number;
}
const outcome = (): Outcome => ({
  deliveries: receiver.posts.size,
  repeated: [...receiver.posts.values()].reduce((sum, count) => sum + count - 1, 0),
  most: Math.max(...receiver.posts.values()),
});

const run = async (store: Store, count: number, kills: number): Promise<Outcome> => {
  const began = performance.now();
  await start(store, count);
  await Promise.all([tellAll(), killAround(count, kills)]);
  await allDone();
  const { deliveries, repeated, most } = outcome();
  report(`${count} processes, ${kills} kills`, { deliveries, repeated, seconds: (performance.now() - began) / 1000 });
  return { deliveries, repeated, most };
};
/** A kill repeats what was on the wire, each under its id. */
const expectAll = ({ deliveries, repeated, most }: Outcome, kills: number) => {
  expect(deliveries).toBe(DELIVERIES);
  expect(repeated).toBeLessThanOrEqual(kills * IN_FLIGHT);
  expect(most).toBeLessThanOrEqual(kills + 1);
  expect(receiver.forged()).toBe(0);
};

describe('kill -9 of a dispatcher', () => {
  it('[DLV-05] on a data file: every delivery arrives, repeats come under the same id', async () => {
    const done = await run(dataFile(), 1, KILLS);
    expectAll(done, KILLS);
    expect(done.deliveries).toBe(DELIVERIES);
  });
});

if (mongoUrl !== undefined)
  describe('dispatchers on one MongoDB', () => {
    it.each([
      [1, KILLS],
      [2, KILLS],
      [3, KILLS],
      [2, 0],
      [3, 0],
    ])(
      '[DLV-05] %i of them, killed %i times: every delivery arrives, nothing is sent twice that was not on the wire',
      async (count, kills) => {
        const done = await run(mongo(mongoUrl), count, kills);
        expectAll(done, kills);
        expect(done.deliveries).toBe(DELIVERIES);
      },
    );
  });
