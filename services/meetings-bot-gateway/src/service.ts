import { setImmediate } from 'node:timers/promises';
import { createLoop, defineService, type ServiceContext } from '@bubbles/host/service.ts';
import { cursorsWith } from '@bubbles/kernel/cursors.ts';
import { startLoop } from '@bubbles/kernel/loop.ts';
import { createSeal } from '@bubbles/kernel/seal.ts';
import { stateOf } from '@bubbles/store/aggregates.ts';
import type { WorkQueue } from '@bubbles/store/work/work-queue.ts';
import { createWorker, type WorkerOptions } from '@bubbles/store/work/worker.ts';
import { eventHandlers } from './adapters/bus/event-handlers.ts';
import { joinAdvanced, recordingCaptured } from './adapters/bus/events.ts';
import { adminJoinRoutes } from './adapters/http/admin-joins.ts';
import { adminNotetakerRoutes } from './adapters/http/admin-notetakers.ts';
import { cursors } from './adapters/http/cursors.ts';
import { joinRoutes } from './adapters/http/joins.ts';
import { mediaRoutes } from './adapters/http/media.ts';
import { providerWebhookRoutes } from './adapters/http/provider-webhooks.ts';
import { openMedia } from './adapters/media/open-media.ts';
import { createMeetingMetrics } from './adapters/metrics/meeting-metrics.ts';
import { openNotetakers } from './adapters/notetakers/notetakers.ts';
import { simulatedLinkName } from './adapters/notetakers/simulator.ts';
import { createAccess } from './adapters/services/access.ts';
import type { JoinDoc } from './adapters/store/joins.ts';
import { openStores } from './adapters/store/stores.ts';
import { type App, createApp } from './app.ts';
import { VARIABLES } from './config.ts';
import type { Join } from './domain/join.ts';

const LEASE_MS = 60_000;
const POLL_MS = 1000;
/** Turns of the event loop before hints are claimed. */
const TURNS_PER_CLAIM = 8;
/** How often to look for what a clock that was set back delays. */
const HASTEN_MS = 60_000;
/** Calls of providers in flight in this process, for each kind of work. */
const CONCURRENCY = 16;
/** A provider that hangs leaves room for the others. */
const CONCURRENCY_PER_PROVIDER = 8;

type Context = ServiceContext<typeof VARIABLES>;
type Stores = ReturnType<typeof openStores>;

/** Follows what providers told, many hints at once. */
const hintLoop = (app: App, hints: Stores['hints'], { clock, ids }: Context) => {
  const run = async (): Promise<Date | null> => {
    for (;;) {
      // Webhooks that have arrived meanwhile are stored first: many hints cost hardly more than one.
      for (let turn = 0; turn < TURNS_PER_CLAIM; turn += 1) await setImmediate();
      const now = clock.now();
      const lease = { token: ids.uuid(), until: new Date(now.getTime() + LEASE_MS) };
      const claimed = await hints.claim(now, lease);
      if (claimed.length === 0) return hints.nextAfter(now);
      await hints.end(claimed, lease.token, await app.followHints(claimed));
    }
  };
  return createLoop((own) => startLoop({ ...own, name: 'hints', pollMs: POLL_MS, run }));
};

const hastenLoop = (app: App) => {
  const run = () => app.hastenJoins().then(() => null);
  return createLoop((own) => startLoop({ ...own, name: 'hasten', pollMs: HASTEN_MS, run }), { lookAgain: () => undefined });
};

interface JoinWork extends Partial<Pick<WorkerOptions<JoinDoc>, 'perKey' | 'pollMs' | 'wakesWhenDue'>> {
  readonly work: (join: Join, signal: AbortSignal) => Promise<void>;
}

const workLoops = (app: App, { queues, watchQueue, orphanQueue, hints }: Stores, context: Context) => {
  const { ids, config } = context;
  const stopping = new AbortController();
  /** The signal of the work aborts when its lease was lost, and when the process stops and can wait no longer. */
  const workOn = (name: string, queue: WorkQueue<JoinDoc>, { work, ...options }: JoinWork) =>
    createLoop(
      (own) =>
        createWorker({
          ...own,
          name,
          queue,
          // Looks for hours: in traces of its own.
          causedBy: (doc) => (doc.work === 'watch' ? null : doc.traceparent),
          work: (doc, _lease, lost) => work(stateOf<Join>(doc), AbortSignal.any([lost, stopping.signal])),
          ids,
          leaseMs: LEASE_MS,
          renews: true,
          pollMs: POLL_MS,
          wakesWhenDue: true,
          concurrency: CONCURRENCY,
          ...options,
        }),
      { cut: () => stopping.abort() },
    );
  const perKey = { field: 'provider', concurrency: CONCURRENCY_PER_PROVIDER } as const;
  const providers = [...new Set(config.NOTETAKERS.values())];
  const watching = providers.map((provider) =>
    workOn(`watch ${provider}`, watchQueue(provider, config.NOTETAKER_SNAPSHOTS_PER_MINUTE), { work: app.watchJoin }),
  );
  return {
    watching,
    dispatching: workOn('dispatch', queues.dispatch, { work: app.dispatchJoin, perKey }),
    leaving: workOn('leave', queues.leave, { work: app.letLeave, perKey }),
    capturing: workOn('capture', queues.capture, { work: app.captureRecording, perKey }),
    erasing: workOn('erase', queues.erase, { work: app.eraseRecording, perKey }),
    // The joins of a provider that is configured no more end. When the next one falls due is in no index: all joins would be read for it.
    orphans: workOn('watch orphans', orphanQueue(providers), { work: app.watchJoin, pollMs: HASTEN_MS, wakesWhenDue: false }),
    refunding: workOn('refund', queues.refund, { work: app.refundJoin, perKey }),
    following: hintLoop(app, hints, context),
    hastening: hastenLoop(app),
  };
};

const routesOf = (app: App, { CURSOR_KEY, CURSOR_KEY_PREVIOUS, MEDIA_S3_BUCKET: bucket }: Context['config']) => [
  ...joinRoutes(app, cursors(cursorsWith({ current: CURSOR_KEY, previous: CURSOR_KEY_PREVIOUS }))),
  ...adminJoinRoutes(app),
  ...adminNotetakerRoutes(app),
  ...providerWebhookRoutes(app),
  ...(bucket === null ? mediaRoutes(app) : []),
];

const wakersOf = (loops: () => ReturnType<typeof workLoops>) => ({
  wakeDispatch: () => loops().dispatching.poke(),
  wakeHints: () => loops().following.poke(),
  wakeWatch() {
    const { watching, leaving } = loops();
    for (const loop of [...watching, leaving]) loop.poke();
  },
  wakeCapture: () => loops().capturing.poke(),
});

const jobsOf = (app: App) => [
  { name: 'sweep-quotas', cron: '*/10 * * * *', run: app.sweepQuotas },
  { name: 'sweep-provider-events', cron: '17 * * * *', run: app.sweepProviderEvents },
  { name: 'erase-meeting-links', cron: '41 * * * *', run: app.eraseLinks },
];

interface Variation extends Pick<Parameters<typeof openMedia>[1], 'mayBePlain' | 'through'> {
  readonly openProviders?: typeof openNotetakers;
}

/** The service with providers, and with a way to its media, that no variable tells. */
export const meetingsWith = ({ openProviders = openNotetakers, ...variation }: Variation) =>
  defineService({
    name: 'meetings-bot-gateway',
    variables: VARIABLES,
    asks: ['identity-and-oauth'],
    reaches: ['internet'],
    compose: (context: Context) => {
      const { config, clock, ids, log, client } = context;
      const stores = openStores(context);
      const { quotas, providerEvents, queues, hints, simulatedRuns: runs } = stores;
      const { joins, metrics } = createMeetingMetrics({ registry: context.metrics.registry, joins: stores.joins, clock });
      const seal = createSeal(config.SEAL_KEYS, ids.bytes);
      const media = openMedia(config, { ...context, ...variation });
      const { simulator, ...notetakers } = openProviders({ ...context, ...media, called: metrics.providerCall, runs, seal });
      const app = createApp({
        joins,
        quotas,
        providerEvents,
        metrics,
        ids,
        ...media.ports,
        retentionMs: config.NOTETAKER_RETENTION,
        quotaLimits: {
          perUserAndHour: config.MEETINGS_PER_USER_AND_HOUR,
          perFreeTeamAndWeek: config.MEETINGS_PER_FREE_TEAM_AND_WEEK,
        },
        joinAdvanced,
        recordingCaptured,
        clock,
        log,
        seal,
        simulator,
        access: createAccess(client('identity-and-oauth')),
        notetakers,
        botName: config.NOTETAKER_NAME,
        jitter: () => ids.bytes(1).readUInt8(0) / 0xff,
        ...wakersOf(() => loops),
      });
      const loops = workLoops(app, stores, context);
      return {
        seal,
        sealed: [
          { collection: 'joins', fields: ['linkSealed'], lock: 'version' },
          { collection: 'simulated_runs', fields: ['linkSealed'], nameOf: simulatedLinkName },
        ],
        routes: routesOf(app, config),
        eventHandlers: eventHandlers(app),
        outboxes: stores.relayed,
        jobs: jobsOf(app),
        loops: Object.values(loops).flat(),
        ensureIndexes: stores.ensureIndexes,
        async close() {
          await Promise.all([media.close(), notetakers.close()]);
        },
        async releaseLeases() {
          for (const queue of [...Object.values(queues), hints]) await queue.releaseAll(clock.now());
        },
      };
    },
  });

export const meetingsBotGateway = meetingsWith({ mayBePlain: false });
