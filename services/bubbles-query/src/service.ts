import { publishedBy } from '@bubbles/contracts/events/catalog.ts';
import type { Infra, Service } from '@bubbles/host/service.ts';
import type { InternalClient } from '@bubbles/http/client/internal-client.ts';
import { cursorsWith } from '@bubbles/kernel/cursors.ts';
import { startLoop } from '@bubbles/kernel/loop.ts';
import { createOutboxRelay, releaseOutboxes } from '@bubbles/store/outbox-relay.ts';
import type { Job } from '@bubbles/store/work/run-jobs.ts';
import { CONSUMER, eventHandlers } from './adapters/bus/event-handlers.ts';
import { bubbleReady } from './adapters/bus/events.ts';
import { bubbleRoutes } from './adapters/http/bubbles.ts';
import { cursors } from './adapters/http/cursors.ts';
import { internalRoutes } from './adapters/http/internal.ts';
import { presentBubble } from './adapters/http/present.ts';
import { createIdentity } from './adapters/services/identity.ts';
import { openStores, type Stores } from './adapters/store/stores.ts';
import { type App, createApp } from './app.ts';
import type { Config } from './config.ts';
import { createSearchEngine } from './search/search-engine.ts';
import { createFeed } from './use-cases/feed.ts';

export const NAME = CONSUMER;
/** The first filling of a projection begins with the service; later it is only looked whether it was finished. */
const FILL_POLL_MS = 600_000;

/** The services that bubbles-query asks. */
export interface Peers {
  readonly identity: InternalClient;
}

export function createBubblesQuery(config: Config, infra: Infra, { identity }: Peers): Service {
  const { clock, log } = infra;
  let loops: ReturnType<typeof startLoops> | null = null;
  const stores = openStores({ ...infra, source: NAME, onCommit: () => loops?.relay.poke() });
  const search = createSearchEngine({ ...stores, ...config.search, clock, log });
  const app = createApp({
    ...stores,
    clock,
    identity: createIdentity(identity),
    index: search.index,
    runInSlices: search.runInSlices,
    feed: createFeed(clock),
    bubbleReady: bubbleReady((bubble, view) => presentBubble(bubble, view, config)),
  });
  return {
    name: NAME,
    routes: [...bubbleRoutes(app, { ...config, cursors: cursors(cursorsWith(config.cursorKeys)) }), ...internalRoutes(app)],
    eventHandlers: eventHandlers(app),
    jobs: jobs(app),
    async start() {
      await stores.ensureIndexes();
      if (config.releaseLeasesAtStart) await releaseOutboxes(stores.relayed, clock.now());
      loops = startLoops({ app, stores, infra });
    },
    async settle() {
      loops?.relay.poke();
      await Promise.all([loops?.relay.idle(), loops?.fill.idle()]);
    },
    async stop() {
      await Promise.all([loops?.relay.stop(), loops?.fill.stop(), search.stop()]);
    },
  };
}

interface LoopParts {
  readonly app: App;
  readonly stores: Stores;
  readonly infra: Infra;
}

const startLoops = ({ app, stores, infra }: LoopParts) => ({
  relay: createOutboxRelay({ ...infra, collections: stores.relayed, definitions: publishedBy(NAME) }),
  fill: startLoop({
    name: 'fill-people',
    clock: infra.clock,
    log: infra.log,
    pollMs: FILL_POLL_MS,
    run: async () => {
      await app.fillPeople();
      return null;
    },
  }),
});

const jobs = (app: App): readonly Job[] => [
  { name: 'withdraw-expired', cron: '*/10 * * * *', run: app.withdrawExpired },
  { name: 'analyse-cards-again', cron: '*/10 * * * *', run: app.analyseCardsAgain },
  { name: 'drop-removed-cards', cron: '29 3 * * *', run: app.dropRemovedCards },
];
