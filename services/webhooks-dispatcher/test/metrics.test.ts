import type { ServerResponse } from 'node:http';
import { DomainError } from '@bubbles/shared/errors.ts';
import type { Database, Doc } from '@bubbles/shared/store/collection.ts';
import { afterEach, describe, expect, it } from '@jest/globals';
import { aBubble } from './builders.ts';
import { CONFIG } from './dispatcher.ts';
import { openScene, type Scene } from './scene.ts';
import { memoryDatabase } from './stores.ts';

let scene: Scene;
afterEach(() => scene.stop());

const figures = async () =>
  (await scene.dispatcher.registry.metrics()).split('\n').filter((line) => /^webhook_\w+(\{[^}]*\})? /.test(line));

describe('what an operator watches', () => {
  it('attempts by outcome, how late they were, and what stands in the queue', async () => {
    scene = await openScene();
    const subscriber = await scene.subscriber({}, 500);
    await scene.dispatcher.ready();
    await scene.dispatcher.settle();
    await scene.dispatcher.pass(60);
    scene.dispatcher.peers.setState('identity', 'away');
    await scene.dispatcher.pass(125);
    const lines = await figures();
    expect(subscriber.receiver.received).toHaveLength(2);
    for (const line of [
      'webhook_attempts_total{outcome="5xx"} 2',
      'webhook_first_attempt_lag_seconds_count 1',
      'webhook_retry_lateness_seconds_count 1',
      'webhook_in_flight 0',
    ])
      expect(lines).toContain(line);
  });

  it('what was given up, and what was disabled', async () => {
    scene = await openScene();
    await scene.subscriber({}, 500);
    await scene.dispatcher.ready();
    await scene.dispatcher.settle();
    for (const seconds of [60, 120, 240, 480]) await scene.dispatcher.pass(seconds);
    expect(await figures()).toEqual(expect.arrayContaining(['webhook_exhausted_total 1', 'webhook_subscriptions_disabled_total 0']));
    for (let n = 0; n < 15; n += 1) await scene.dispatcher.ready({ bubble: aBubble({ id: `b-${n}` }) });
    await scene.dispatcher.settle();
    expect(await figures()).toEqual(
      expect.arrayContaining([
        'webhook_exhausted_total 1',
        'webhook_subscriptions_disabled_total 1',
        'webhook_attempt_seconds_count 20',
        'webhook_retry_lateness_seconds_sum 0',
        'webhook_leases_lost_total 0',
      ]),
    );
  });

  it('an outcome that comes when another worker has the delivery', async () => {
    scene = await openScene();
    const held: ServerResponse[] = [];
    const subscriber = await scene.subscriber({}, (response) => held.push(response));
    await scene.dispatcher.ready();
    await subscriber.receiver.reached(1);
    await scene.dispatcher.clock.advance(CONFIG.limits.leaseMs);
    await subscriber.receiver.reached(2);
    for (const response of held) response.writeHead(204).end();
    await scene.dispatcher.settle();
    expect(await figures()).toContain('webhook_leases_lost_total 1');
    expect(await subscriber.log()).toMatchObject([{ status: 'succeeded', attempts: { length: 1 } }]);
  });

  it('how much is due, and for how long', async () => {
    scene = await openScene({ config: { limits: { ...CONFIG.limits, perSubscription: 1 } } });
    const { receiver } = await scene.subscriber({}, () => null);
    for (const id of ['b1', 'b2', 'b3']) await scene.dispatcher.ready({ bubble: aBubble({ id }) });
    await receiver.reached(1);
    await scene.dispatcher.clock.advance(7000);
    expect(await figures()).toEqual(
      expect.arrayContaining(['webhook_due 2', 'webhook_oldest_due_seconds 7', 'webhook_in_flight 1', 'webhook_saturated 1']),
    );
  });

  it('a store that is away takes no other figure with it', async () => {
    const database = memoryDatabase();
    let away = false;
    const failing: Database = {
      ...database,
      collection: <T extends Doc>(name: string) => ({
        ...database.collection<T>(name),
        count: () => (away ? Promise.reject(new DomainError('unavailable', 'away')) : Promise.resolve(0)),
      }),
    };
    scene = await openScene({ database: failing });
    expect(await figures()).toEqual(expect.arrayContaining(['webhook_due 0', 'webhook_oldest_due_seconds 0']));
    away = true;
    expect(await figures()).toEqual(expect.arrayContaining(['webhook_due Nan', 'webhook_oldest_due_seconds Nan', 'webhook_in_flight 0']));
  });
});
