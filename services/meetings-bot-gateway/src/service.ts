import { createLoop, defineService, type ServiceContext } from '@bubbles/host/service.ts';
import { cursorsWith } from '@bubbles/kernel/cursors.ts';
import { startLoop } from '@bubbles/kernel/loop.ts';
import { createSeal } from '@bubbles/kernel/seal.ts';
import { stateOf } from '@bubbles/store/aggregates.ts';
import { createWorker } from '@bubbles/store/work/worker.ts';
import { eventHandlers } from './adapters/bus/event-handlers.ts';
import { joinAdvanced, recordingCaptured } from './adapters/bus/events.ts';
import { adminJoinRoutes } from './adapters/http/admin-joins.ts';
import { adminNotetakerRoutes } from './adapters/http/admin-notetakers.ts';
import { cursors } from './adapters/http/cursors.ts';
import { joinRoutes } from './adapters/http/joins.ts';
import { mediaRoutes } from './adapters/http/media.ts';
import { openMedia } from './adapters/media/open-media.ts';
import { createMeetingMetrics } from './adapters/metrics/meeting-metrics.ts';
import { openNotetakers } from './adapters/notetakers/notetakers.ts';
import { createAccess } from './adapters/services/access.ts';
import { openStores } from './adapters/store/stores.ts';
import { type App, createApp } from './app.ts';
import { VARIABLES } from './config.ts';
import type { Join } from './domain/join.ts';

const LEASE_MS = 60_000;
const POLL_MS = 1000;
/** How often to look for what a clock that was set back delays. */
const HASTEN_MS = 60_000;
/** Calls of providers in flight in this process, for each kind of work. */
const CONCURRENCY = 16;
/** A provider that hangs leaves room for the others. */
const CONCURRENCY_PER_PROVIDER = 8;

type Queues = ReturnType<typeof openStores>['queues'];
type LoopContext = Pick<ServiceContext<typeof VARIABLES>, 'clock' | 'ids' | 'log'>;

const joinLoops = (app: App, queues: Queues, { clock, ids, log }: LoopContext) => {
  const stopping = new AbortController();
  /** The signal of the work aborts when its lease was lost, and when the process stops and can wait no longer. */
  const workOn = (name: keyof Queues, work: (join: Join, signal: AbortSignal) => Promise<void>) =>
    createLoop(
      () =>
        createWorker({
          name,
          queue: queues[name],
          work: (doc, _lease, lost) => work(stateOf<Join>(doc), AbortSignal.any([lost, stopping.signal])),
          clock,
          ids,
          log,
          leaseMs: LEASE_MS,
          renews: true,
          pollMs: POLL_MS,
          wakesWhenDue: true,
          concurrency: CONCURRENCY,
          perKey: { field: 'provider', concurrency: CONCURRENCY_PER_PROVIDER },
        }),
      { cut: () => stopping.abort() },
    );
  const hasten = async () => {
    await app.hastenJoins();
    return null;
  };
  return {
    dispatch: workOn('dispatch', app.dispatchJoin),
    watch: workOn('watch', app.watchJoin),
    leave: workOn('leave', app.letLeave),
    capture: workOn('capture', app.captureRecording),
    erase: workOn('erase', app.eraseRecording),
    refund: workOn('refund', app.refundJoin),
    hasten: createLoop(() => startLoop({ name: 'hasten', clock, log, pollMs: HASTEN_MS, run: hasten })),
  };
};

export const meetingsBotGateway = defineService({
  name: 'meetings-bot-gateway',
  variables: VARIABLES,
  asks: ['identity-and-oauth'],
  compose: (context: ServiceContext<typeof VARIABLES>) => {
    const { config, clock, ids, log, client } = context;
    const { queues, quotas, simulatedRuns: runs, relayed, ensureIndexes, ...stores } = openStores(context);
    const { joins, metrics } = createMeetingMetrics({ registry: context.metrics.registry, joins: stores.joins, clock });
    const seal = createSeal(config.SEAL_KEYS, ids.bytes);
    const media = openMedia(config, { ...context, mayBePlain: false });
    const { simulator, ...notetakers } = openNotetakers({ ...context, ...media, called: metrics.providerCall, runs, seal });
    const app = createApp({
      joins,
      quotas,
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
      wakeDispatch: () => loops.dispatch.poke(),
      wakeWatch: () => {
        loops.watch.poke();
        loops.leave.poke();
      },
      wakeCapture: () => loops.capture.poke(),
    });
    const loops = joinLoops(app, queues, context);
    return {
      seal,
      routes: [
        ...joinRoutes(app, cursors(cursorsWith({ current: config.CURSOR_KEY, previous: config.CURSOR_KEY_PREVIOUS }))),
        ...adminJoinRoutes(app),
        ...adminNotetakerRoutes(app),
        ...mediaRoutes(app),
      ],
      eventHandlers: eventHandlers(app),
      outboxes: relayed,
      jobs: [
        { name: 'sweep-quotas', cron: '*/10 * * * *', run: app.sweepQuotas },
        { name: 'erase-meeting-links', cron: '41 * * * *', run: app.eraseLinks },
      ],
      loops: Object.values(loops),
      ensureIndexes,
      async close() {
        await Promise.all([media.close(), notetakers.close()]);
      },
      async releaseLeases() {
        for (const queue of Object.values(queues)) await queue.releaseAll(clock.now());
      },
    };
  },
});
