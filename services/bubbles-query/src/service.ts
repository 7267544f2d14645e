import { createLoop, defineService } from '@bubbles/host/service.ts';
import { base64Key, baseUrl, localValues, wholeNumber } from '@bubbles/kernel/config-values.ts';
import { cursorsWith } from '@bubbles/kernel/cursors.ts';
import { startLoop } from '@bubbles/kernel/loop.ts';
import type { Job } from '@bubbles/store/work/run-jobs.ts';
import { eventHandlers } from './adapters/bus/event-handlers.ts';
import { bubbleReady } from './adapters/bus/events.ts';
import { bubbleRoutes } from './adapters/http/bubbles.ts';
import { cursors } from './adapters/http/cursors.ts';
import { internalRoutes } from './adapters/http/internal.ts';
import { presentBubble } from './adapters/http/present.ts';
import { createIdentity } from './adapters/services/identity.ts';
import { openStores } from './adapters/store/stores.ts';
import { type App, createApp } from './app.ts';
import { createSearchEngine } from './search/search-engine.ts';
import { createFeed } from './use-cases/feed.ts';

const KEY_BYTES = 32;
const MIB = 2 ** 20;
/** The first filling of a projection begins with the service; later it is only looked whether it was finished. */
const FILL_POLL_MS = 600_000;

const variables = {
  /** Origin and path that deep links begin with. */
  APP_BASE_URL: baseUrl().register(localValues, { kind: 'text', text: 'https://app.example.com' }),
  /** Authenticates cursors. The previous key is accepted too, for a day after a change. */
  CURSOR_KEY: base64Key(KEY_BYTES),
  CURSOR_KEY_PREVIOUS: base64Key(KEY_BYTES).nullable().default(null),
  /** Makes the ids of people without an account; never changes, or they would. */
  PERSON_KEY: base64Key(KEY_BYTES),
  /** Build large indexes beside the event loop. */
  SEARCH_THREADS: wholeNumber(1, 16).default(1),
  /** For the indexes of the callers that searched last. */
  SEARCH_MEMORY_MIB: wholeNumber(64, 65_536).default(1024),
};

export const bubblesQuery = defineService({
  name: 'bubbles-query',
  variables,
  asks: ['identity-and-oauth'],
  compose: (context) => {
    const { config, clock, log } = context;
    const stores = openStores(context);
    const presented = { appBaseUrl: config.APP_BASE_URL, personKey: config.PERSON_KEY };
    const search = createSearchEngine({
      ...stores,
      threads: config.SEARCH_THREADS,
      memoryBytes: config.SEARCH_MEMORY_MIB * MIB,
      clock,
      log,
    });
    const app = createApp({
      ...stores,
      clock,
      identity: createIdentity(context.client('identity-and-oauth')),
      index: search.index,
      runInSlices: search.runInSlices,
      feed: createFeed(clock),
      bubbleReady: bubbleReady((bubble, view) => presentBubble(bubble, view, presented)),
    });
    const pages = cursors(cursorsWith({ current: config.CURSOR_KEY, previous: config.CURSOR_KEY_PREVIOUS }));
    const fill = () => startLoop({ name: 'fill-people', clock, log, pollMs: FILL_POLL_MS, run: () => app.fillPeople().then(() => null) });
    return {
      routes: [...bubbleRoutes(app, { ...presented, cursors: pages }), ...internalRoutes(app)],
      eventHandlers: eventHandlers(app),
      outboxes: stores.relayed,
      jobs: jobs(app),
      loops: [createLoop(fill)],
      ensureIndexes: stores.ensureIndexes,
      close: () => search.stop(),
    };
  },
});

const jobs = (app: App): readonly Job[] => [
  { name: 'withdraw-expired', cron: '*/10 * * * *', run: app.withdrawExpired },
  { name: 'analyse-cards-again', cron: '*/10 * * * *', run: app.analyseCardsAgain },
  { name: 'drop-removed-cards', cron: '29 3 * * *', run: app.dropRemovedCards },
];
