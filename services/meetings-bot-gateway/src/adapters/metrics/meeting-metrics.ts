import { FATAL_REASONS } from '@bubbles/contracts/api/meeting-join.ts';
import type { Clock } from '@bubbles/kernel/clock.ts';
import { singleFlight } from '@bubbles/kernel/concurrency.ts';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Join } from '../../domain/join.ts';
import type { Backlog, JoinStore, MeetingMetrics } from '../../ports.ts';

interface Options {
  readonly registry: Registry;
  readonly joins: JoinStore;
  readonly clock: Clock;
}

const DISPATCH_SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 600];
const MS = 1000;
const KNOWN_REASONS: ReadonlySet<string> = new Set(FATAL_REASONS);

/** A provider may name reasons of its own: those are one series. */
const reasonLabel = (reason: string | null): string => (reason === null ? 'none' : KNOWN_REASONS.has(reason) ? reason : 'other');

/** The store, which counts what its joins come to once that is written. */
const countedJoins = ({ registry, joins, clock }: Options): JoinStore => {
  const registers = [registry];
  const statuses = new Counter({
    name: 'meeting_joins_total',
    help: 'Joins that came to a status, by platform, status and reason of its end',
    labelNames: ['platform', 'status', 'reason'],
    registers,
  });
  const dispatchSeconds = new Histogram({
    name: 'meeting_dispatch_seconds',
    help: 'Time from the request for a notetaker until its provider has taken it',
    buckets: DISPATCH_SECONDS,
    registers,
  });
  const count = ({ platform, status, fatalReason }: Join) => statuses.inc({ platform, status, reason: reasonLabel(fatalReason) });
  const countChange = (before: Join, after: Join) => {
    if (after.status !== before.status) count(after);
    if (after.providerRef !== null && before.providerRef === null)
      dispatchSeconds.observe(Math.max(0, clock.now().getTime() - after.createdAt.getTime()) / MS);
  };
  return {
    ...joins,
    async insert(join, events) {
      const isInserted = await joins.insert(join, events);
      if (isInserted) count(join);
      return isInserted;
    },
    async update(id, change) {
      /** The last one: `change` ran before when another writer won. */
      const seen: { before: Join | null } = { before: null };
      const join = await joins.update(id, (before) => {
        const changed = change(before);
        seen.before = changed && before;
        return changed;
      });
      if (join !== null && seen.before !== null) countChange(seen.before, join);
      return join;
    },
  };
};

/** Gauges of what lies in the store, read at each scrape. */
const watchBacklog = ({ registry, joins, clock }: Options): void => {
  const registers = [registry];
  /** All figures of a scrape come from one read. When the store is away, the other figures are still served. */
  const backlog = singleFlight((): Promise<Backlog | null> => joins.backlog(clock.now()).catch(() => null));
  new Gauge({
    name: 'meeting_joins_silent',
    help: 'Joins without news for so long that their provider is to be asked now',
    registers,
    async collect() {
      this.set((await backlog())?.silent ?? Number.NaN);
    },
  });
  new Gauge({
    name: 'meeting_captures_due',
    help: 'Recordings of meetings that have ended which are still to be captured',
    registers,
    async collect() {
      this.set((await backlog())?.uncaptured ?? Number.NaN);
    },
  });
  new Gauge({
    name: 'meeting_captures_oldest_due_seconds',
    help: 'Time since the end of the meeting whose recording waits longest to be captured',
    registers,
    async collect() {
      const seen = await backlog();
      const since = seen?.oldestUncaptured ?? clock.now();
      this.set(seen === null ? Number.NaN : Math.max(0, clock.now().getTime() - since.getTime()) / MS);
    },
  });
};

/** What is counted here, and the store that counts its joins. */
export const createMeetingMetrics = (options: Options): { readonly metrics: MeetingMetrics; readonly joins: JoinStore } => {
  const refusals = new Counter({
    name: 'meeting_quota_refusals_total',
    help: 'Requests for a notetaker that were refused, by the quota that is spent',
    labelNames: ['quota'],
    registers: [options.registry],
  });
  const captures = new Counter({
    name: 'meeting_captures_total',
    help: 'Recordings whose capture ended, by whether all, a part or nothing of it came before the retention of their provider ended',
    labelNames: ['outcome'],
    registers: [options.registry],
  });
  const calls = new Counter({
    name: 'notetaker_calls_total',
    help: 'Calls of providers of notetakers, by provider and outcome',
    labelNames: ['provider', 'outcome'],
    registers: [options.registry],
  });
  const webhooks = new Counter({
    name: 'meeting_provider_webhooks_total',
    help: 'Webhooks of providers, by what became of them; refused are those that no signature proves',
    labelNames: ['provider', 'result'],
    registers: [options.registry],
  });
  watchBacklog(options);
  const metrics: MeetingMetrics = {
    quotaRefused: (quota) => refusals.inc({ quota }),
    providerCall: (provider, outcome) => calls.inc({ provider, outcome }),
    captureEnded: (outcome) => captures.inc({ outcome }),
    providerWebhook: (provider, result) => webhooks.inc({ provider, result }),
  };
  return { metrics, joins: countedJoins(options) };
};
