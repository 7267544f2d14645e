import type { ServerResponse } from 'node:http';
import { DomainError } from '@bubbles/kernel/errors.ts';
import type { Database, Doc } from '@bubbles/store/collection.ts';
import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { afterEach, describe, expect, it } from '@jest/globals';
import { aBubble } from './builders.ts';
import { CONFIG, knownPeers, startDispatcher, type TestDispatcher } from './dispatcher.ts';
import { openScene, type Scene } from './scene.ts';

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

  it('[DLV-04] attempts that failed on our side, which charge nobody and wait', async () => {
    scene = await openScene({ config: { userAgent: 'caf\u00e9 \u{1f388}' } });
    const subscriber = await scene.subscriber();
    await scene.dispatcher.ready();
    await scene.dispatcher.settle();
    expect(await figures()).toContain('webhook_postponed_total{reason="our_fault"} 1');
    expect(await subscriber.shown()).toMatchObject({ status: 'active', last_failure_at: null });
    expect(await subscriber.log()).toMatchObject([{ status: 'pending', attempts: [], next_attempt_at: expect.any(String) }]);
    expect(scene.dispatcher.log.lines.map(({ message }) => message)).toContain('attempt failed on our side');
    await scene.restart({ config: {} });
    await scene.dispatcher.pass(5);
    expect(subscriber.receiver.received).toHaveLength(1);
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

  it('what was given up, by the worker who had the delivery then and by no other', async () => {
    scene = await openScene();
    const subscriber = await scene.subscriber({}, 500);
    await scene.dispatcher.ready();
    await scene.dispatcher.settle();
    for (const seconds of [60, 120, 240]) await scene.dispatcher.pass(seconds);
    const held: ServerResponse[] = [];
    subscriber.receiver.answer((response) => held.push(response));
    await scene.dispatcher.clock.advance(480_000);
    await subscriber.receiver.reached(5);
    await scene.dispatcher.clock.advance(CONFIG.limits.leaseMs);
    await subscriber.receiver.reached(6);
    for (const response of held) response.writeHead(500).end();
    await scene.dispatcher.settle();
    expect(await subscriber.log()).toMatchObject([{ status: 'exhausted', attempts: { length: 5 } }]);
    expect(await figures()).toEqual(expect.arrayContaining(['webhook_exhausted_total 1', 'webhook_leases_lost_total 1']));
  });

  it('what was cancelled, by the worker who had the delivery then and by no other', async () => {
    const peers = knownPeers();
    const asking = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<void>();
    const post: typeof peers.identity.post = async (path, call) => {
      asking.resolve();
      await answered.promise;
      return peers.identity.post(path, call);
    };
    const database = memoryDatabase();
    scene = await openScene({ database, peers });
    await scene.subscriber();
    const slow = await startDispatcher({
      database,
      clock: scene.dispatcher.clock,
      peers: { ...peers, identity: { ...peers.identity, post } },
    });
    peers.team('team', { archived: true });
    await slow.ready();
    await asking.promise;
    await scene.dispatcher.pass(CONFIG.limits.leaseMs / 1000);
    answered.resolve();
    await slow.settle();
    const cancelled = async ({ registry }: TestDispatcher) =>
      (await registry.metrics()).split('\n').filter((line) => /^webhook_(cancelled|leases_lost)_total/.test(line));
    expect(await cancelled(scene.dispatcher)).toEqual(['webhook_cancelled_total{reason="team_archived"} 1', 'webhook_leases_lost_total 0']);
    expect(await cancelled(slow)).toEqual(['webhook_leases_lost_total 1']);
    await slow.stop();
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
