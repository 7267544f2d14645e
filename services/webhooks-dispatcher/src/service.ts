import { idempotencyStore } from '@bubbles/host/idempotency-store.ts';
import type { Infra, Service } from '@bubbles/host/service.ts';
import type { InternalClient } from '@bubbles/http/client/internal-client.ts';
import { cursorsWith } from '@bubbles/kernel/cursors.ts';
import { type Loop, startLoop } from '@bubbles/kernel/loop.ts';
import { createSeal } from '@bubbles/kernel/seal.ts';
import type { Registry } from 'prom-client';
import { CONSUMER, eventHandlers } from './adapters/bus/event-handlers.ts';
import { cursors } from './adapters/http/cursors.ts';
import { deliveryRoutes } from './adapters/http/deliveries.ts';
import { sampleBubble } from './adapters/http/sample-bubble.ts';
import { webhookSpecs } from './adapters/http/webhook-specs.ts';
import { webhookRoutes } from './adapters/http/webhooks.ts';
import { dispatchMetrics, watchQueue } from './adapters/metrics/dispatch-metrics.ts';
import { createReceiver } from './adapters/receiver/receiver.ts';
import { access } from './adapters/services/access.ts';
import { readability } from './adapters/services/readability.ts';
import { openStores } from './adapters/store/stores.ts';
import type { DestinationPolicy } from './address-guard/destination-url.ts';
import { addressPolicy } from './address-guard/public-address.ts';
import { createResolver } from './address-guard/resolver.ts';
import { type App, createApp } from './app.ts';
import { type Config, checkTiming } from './config.ts';

export const NAME = CONSUMER;

/** The services that the dispatcher asks before each attempt, and where its figures go. */
export interface Peers {
  readonly identity: InternalClient;
  readonly bubblesQuery: InternalClient;
  readonly registry: Registry;
}

const receiverPolicy = ({ receivers }: Config): DestinationPolicy => ({
  addresses: addressPolicy(receivers),
  http: receivers.http,
  loopback: receivers.loopback,
  ownPorts: receivers.ownPorts,
});

const posting = (config: Config, policy: DestinationPolicy) =>
  createReceiver({
    ...config.timing,
    policy,
    resolver: createResolver(config.receivers),
    extraCa: config.receivers.extraCa,
    elapsed: () => performance.now(),
    connections: config.limits.perOrigin,
  });

interface Loops {
  readonly deliveries: Loop;
  readonly replays: Loop;
}

const startLoops = ({ deliveryLoop, replays }: App, { timing: { pollMs } }: Config, { clock, log }: Infra): Loops => ({
  deliveries: startLoop({ name: 'deliveries', clock, log, run: deliveryLoop.run, pollMs }),
  replays: startLoop({ name: 'replays', clock, log, run: replays.run, pollMs }),
});

const settled = async ({ deliveries, replays }: Loops, app: App): Promise<void> => {
  app.deliveryLoop.wake();
  // What ends makes room for more, which the loops take on before they are idle.
  do {
    if (app.replays.waits()) replays.poke();
    await replays.idle();
    await deliveries.idle();
    // A replay that finds no room though nothing is in flight waits for somebody who is away.
  } while ((await app.deliveryLoop.drained()) || (app.replays.waits() && app.replays.advanced()));
};

const routes = (app: App, { cursorKeys }: Config) => {
  const lists = cursors(cursorsWith(cursorKeys));
  return [...webhookRoutes(app, lists), ...deliveryRoutes(app, lists)];
};

export function createWebhooksDispatcher(config: Config, infra: Infra, { identity, bubblesQuery, registry }: Peers): Service {
  checkTiming(config);
  const { clock, ids, log } = infra;
  const kept = openStores(infra.database);
  const receivers = receiverPolicy(config);
  const seal = createSeal(config.sealKeys, ids.bytes);
  const posts = posting(config, receivers);
  const app = createApp({
    ...config,
    ...kept,
    clock,
    ids,
    log,
    receivers,
    sampleBubble: sampleBubble(config.appBaseUrl),
    access: access(identity),
    readability: readability(bubblesQuery),
    receiver: posts,
    seal,
    metrics: dispatchMetrics({ registry }),
    wake: () => loops?.deliveries.poke(),
    wakeReplays: () => loops?.replays.poke(),
    quiet: () => {
      if (app.replays.waits()) loops?.replays.poke();
    },
  });
  let loops: Loops | null = null;
  watchQueue({
    registry,
    inFlight: app.deliveryLoop.inFlight,
    countDue: () => kept.deliveries.countDue(clock.now()),
    nowMs: () => clock.now().getTime(),
  });

  return {
    name: NAME,
    routes: routes(app, config),
    idempotency: idempotencyStore({ ...infra, seal }),
    webhooks: webhookSpecs(config.headerName),
    eventHandlers: eventHandlers(app),
    jobs: [{ name: 'sweep-deliveries', cron: '17 3 * * *', run: app.sweepDeliveries }],
    async start() {
      await kept.ensureIndexes();
      // With other keys no delivery could be signed: that is said now, not at each of them.
      const known = await kept.subscriptions.any();
      if (known !== null) seal.unseal(known.secretSealed, known.id);
      if (config.releaseLeasesAtStart) await kept.deliveries.releaseLeases(clock.now());
      loops = startLoops(app, config, infra);
    },
    settle: (scope = 'all') => (scope === 'all' && loops !== null ? settled(loops, app) : Promise.resolve()),
    async stop(cutAfterMs = config.timing.deadlineMs) {
      app.deliveryLoop.stopClaiming();
      await Promise.all([loops?.deliveries.stop(), loops?.replays.stop()]);
      const cut = setTimeout(posts.cut, cutAfterMs);
      await app.deliveryLoop.drained();
      clearTimeout(cut);
      await posts.close();
    },
  };
}
