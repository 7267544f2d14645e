import { type DestinationPolicy, policyOf } from '@bubbles/address-guard/destination-url.ts';
import { createResolver } from '@bubbles/address-guard/resolver.ts';
import { type Composition, createLoop, defineService, type ServiceContext } from '@bubbles/host/service.ts';
import { cursorsWith } from '@bubbles/kernel/cursors.ts';
import { startLoop } from '@bubbles/kernel/loop.ts';
import { createSeal } from '@bubbles/kernel/seal.ts';
import { eventHandlers } from './adapters/bus/event-handlers.ts';
import { adminRedeliveryRoutes } from './adapters/http/admin-redeliveries.ts';
import { cursors } from './adapters/http/cursors.ts';
import { deliveryRoutes } from './adapters/http/deliveries.ts';
import { sampleBubble } from './adapters/http/sample-bubble.ts';
import { webhookSpecs } from './adapters/http/webhook-specs.ts';
import { webhookRoutes } from './adapters/http/webhooks.ts';
import { createDispatchMetrics, watchQueue } from './adapters/metrics/dispatch-metrics.ts';
import { createReceiver } from './adapters/receiver/receiver.ts';
import { createAccess, createReadability } from './adapters/services/peers.ts';
import { MIGRATIONS } from './adapters/store/deliveries.ts';
import { openStores } from './adapters/store/stores.ts';
import { deliveryTraces } from './adapters/traces/delivery-traces.ts';
import { type App, createApp } from './app.ts';
import { type Config, checkTiming, configOf, VARIABLES } from './config.ts';

const posting = (config: Config, policy: DestinationPolicy) =>
  createReceiver({
    ...config.timing,
    policy,
    resolver: createResolver(config.receivers),
    extraCa: config.receivers.extraCa,
    elapsed: () => performance.now(),
    connections: config.limits.perOrigin,
  });

const routes = (app: App, { cursorKeys }: Config) => {
  const lists = cursors(cursorsWith(cursorKeys));
  return [...webhookRoutes(app, lists), ...deliveryRoutes(app, lists), ...adminRedeliveryRoutes(app)];
};

/** `cut` ends every POST. */
const openLoops = (app: App, { timing: { pollMs } }: Config, cut: () => void) => {
  const deliveries = createLoop((own) => startLoop({ ...own, name: 'deliveries', run: app.deliveryLoop.run, pollMs }), {
    scope: 'all',
    lookAgain: app.deliveryLoop.wake,
    drained: app.deliveryLoop.drained,
    stopClaiming: app.deliveryLoop.stopClaiming,
    cut,
  });
  const replays = createLoop((own) => startLoop({ ...own, name: 'replays', run: app.replays.run, pollMs }), {
    scope: 'all',
    lookAgain: () => {
      if (app.replays.waits()) replays.poke();
    },
    // A replay that finds no room though nothing is in flight waits for somebody who is away.
    drained: () => Promise.resolve(app.replays.waits() && app.replays.advanced()),
  });
  return { deliveries, replays };
};

const compose = (config: Config, context: ServiceContext<typeof VARIABLES>): Composition => {
  checkTiming(config);
  const { clock, ids, log, database, client, metrics } = context;
  const kept = openStores(database);
  const receivers = policyOf(config.receivers);
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
    access: createAccess(client('identity-and-oauth')),
    readability: createReadability(client('bubbles-query')),
    receiver: posts,
    seal,
    metrics: createDispatchMetrics(metrics),
    traces: deliveryTraces(log),
    wake: () => deliveries.poke(),
    wakeReplays: () => replays.poke(),
    quiet: () => {
      if (app.replays.waits()) replays.poke();
    },
  });
  watchQueue({
    registry: metrics.registry,
    inFlight: app.deliveryLoop.inFlight,
    countDue: () => kept.deliveries.countDue(clock.now()),
    nowMs: () => clock.now().getTime(),
  });
  const { deliveries, replays } = openLoops(app, config, posts.cut);

  return {
    seal,
    sealed: [{ collection: 'subscriptions', fields: ['secretSealed', 'previousSecret.sealed'], lock: 'revision' }],
    routes: routes(app, config),
    webhooks: webhookSpecs(config.headerName),
    eventHandlers: eventHandlers(app),
    jobs: [{ name: 'sweep-deliveries', cron: '17 3 * * *', run: app.sweepDeliveries }],
    // What a replay queues is attempted by the other one.
    loops: [replays, deliveries],
    ensureIndexes: kept.ensureIndexes,
    async check() {
      // With other keys no delivery could be signed: that is said now, not at each of them.
      const known = await kept.subscriptions.any();
      if (known !== null) seal.unseal(known.secretSealed, known.id);
    },
    releaseLeases: () => kept.deliveries.releaseLeases(clock.now()),
    close: () => posts.close(),
  };
};

/** `change` sets what has no variable, such as limits, or the receivers that the sandbox admits. */
export const webhooksDispatcherWith = (change: (config: Config) => Config) =>
  defineService({
    name: 'webhooks-dispatcher',
    variables: VARIABLES,
    asks: ['identity-and-oauth', 'bubbles-query'],
    reaches: ['internet'],
    migrations: MIGRATIONS,
    compose: (context) => compose(change(configOf(context)), context),
  });

export const webhooksDispatcher = webhooksDispatcherWith((config) => config);
