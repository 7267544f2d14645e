import { createLoop, defineService } from '@bubbles/host/service.ts';
import { base64Key, baseUrl, localValues, wholeNumber } from '@bubbles/kernel/config-values.ts';
import { CURSOR_VARIABLES, cursorsWith } from '@bubbles/kernel/cursors.ts';
import { startLoop } from '@bubbles/kernel/loop.ts';
import type { Job } from '@bubbles/store/work/run-jobs.ts';
import { eventHandlers } from './adapters/bus/event-handlers.ts';
import { bubbleReady } from './adapters/bus/events.ts';
import { bubbleRoutes } from './adapters/http/bubbles.ts';
import { cursors } from './adapters/http/cursors.ts';
import { internalRoutes } from './adapters/http/internal.ts';
import { presentBubble } from './adapters/http/present.ts';
import { createIdentity } from './adapters/services/identity.ts';
import { MIGRATIONS } from './adapters/store/bubbles.ts';
import { openStores } from './adapters/store/stores.ts';
import { type App, createApp } from './app.ts';
import { createSearchEngine } from './search/search-engine.ts';
import { createFeed } from './use-cases/feed.ts';

const KEY_BYTES = 32;
const MIB = 2 ** 20;
/** The first filling of a projection begins with the service; later it is only looked whether it was finished. */
const FILL_POLL_MS = 600_000;

const variables = {
  APP_BASE_URL: baseUrl()
    .register(localValues, { kind: 'text', text: 'https://app.example.com' })
    .describe('Origin and path that links to recordings begin with, for people; the same for both services'),
  ...CURSOR_VARIABLES,
  PERSON_KEY: base64Key(KEY_BYTES).describe(
    'Makes the ids of people without an account: 32 bytes in base64. It never changes, or they would',
  ),
  SEARCH_THREADS: wholeNumber(1, 16).default(1).describe('Threads that build large search indexes beside the event loop'),
  SEARCH_MEMORY_MIB: wholeNumber(64, 65_536)
    .default(1024)
    .describe('Memory in MiB for the search indexes of the callers that searched last'),
};

export const bubblesQuery = defineService({
  name: 'bubbles-query',
  variables,
  asks: ['identity-and-oauth'],
  migrations: MIGRATIONS,
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
    const fill = createLoop((own) =>
      startLoop({ ...own, name: 'fill-people', pollMs: FILL_POLL_MS, run: () => app.fillPeople().then(() => null) }),
    );
    return {
      routes: [...bubbleRoutes(app, { ...presented, cursors: pages }), ...internalRoutes(app)],
      eventHandlers: eventHandlers(app),
      outboxes: stores.relayed,
      jobs: jobs(app),
      loops: [fill],
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
