import { promises as dns } from 'node:dns';
import { addressPolicy } from '@bubbles/address-guard/public-address.ts';
import { nameServers } from '@bubbles/address-guard/resolver.ts';
import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { memoryLog } from '@bubbles/testing/memory-log.ts';
import { expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { createDispatchMetrics } from '../src/adapters/metrics/dispatch-metrics.ts';
import { createReceiver } from '../src/adapters/receiver/receiver.ts';
import { openStores } from '../src/adapters/store/stores.ts';
import { DEFAULT_QUOTA } from '../src/config.ts';
import { POSTPONE_MS } from '../src/domain/delivery.ts';
import { prepareAttempts } from '../src/use-cases/attempt.ts';
import { aDelivery, anEvent, aReadyBubble, aSubscription, NOON } from './builders.ts';

const policy = { addresses: addressPolicy({ allow: [], deny: [] }), http: false, loopback: false };

/** A resolver whose name servers refuse whatever they are asked. */
const refused = (): dns.Resolver => {
  const resolver = new dns.Resolver({ timeout: 500, tries: 1 });
  resolver.setServers(['127.0.0.1:1']);
  return resolver;
};

it('[DLV-04] while our name servers refuse to be asked deliveries wait, and nobody is charged', async () => {
  const { subscriptions, events, deliveries, ensureIndexes } = openStores(memoryDatabase());
  await ensureIndexes();
  const clock = fakeClock(NOON);
  const until = new Date(NOON.getTime() + 60_000);
  await subscriptions.insert(aSubscription(), DEFAULT_QUOTA);
  await events.insert(anEvent());
  await deliveries.insert(aDelivery({ claimCount: 0 }));
  const posts = createReceiver({
    policy,
    resolver: nameServers(refused()),
    connectMs: 5000,
    deadlineMs: 5000,
    extraCa: [],
    elapsed: () => performance.now(),
    connections: 1,
  });
  const prepare = prepareAttempts({
    subscriptions,
    events,
    deliveries,
    access: {
      ask: () =>
        Promise.resolve({
          users: new Map([['owner', { active: true, pays: true, life: 1, memberships: [] }]]),
          teams: new Map([['team', { plan: 'pro', archived: false }]]),
        }),
    },
    readability: { ask: (pairs) => Promise.resolve(pairs.map(() => ({ participates: true, bubble: aReadyBubble() }))) },
    receiver: posts,
    receivers: policy,
    seal: { seal: () => '', unseal: () => Buffer.from('secret') },
    metrics: createDispatchMetrics({ registry: new Registry() }),
    clock,
    log: memoryLog(),
    timing: { deadlineMs: 5000 },
    headerName: 'Service',
    userAgent: 'recordings-webhooks/1',
  });
  const claimed = await deliveries.claim(NOON, { token: 'lease', until }, ['dlv_1']);
  const heard: string[] = [];
  const attempt = await prepare({ claimed, bodies: new Map() }, () => heard.push('away'));
  for (const delivery of claimed) {
    const { outcome } = await attempt(delivery);
    heard.push(outcome === null ? delivery.id : 'ended');
  }
  await posts.close();

  expect(heard).toEqual(['away', 'dlv_1']);
  const claimableAt = new Date(NOON.getTime() + POSTPONE_MS);
  expect(await deliveries.ofSubscription('wh_1', 'dlv_1')).toEqual(aDelivery({ claimCount: 0, claimableAt }));
  expect(await subscriptions.ownedBy('owner', 'wh_1')).toEqual(aSubscription());
});
