import { setImmediate } from 'node:timers/promises';
import type { Clock } from '@bubbles/kernel/clock.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import { endSpan, runInSpan, startSpan } from '@bubbles/kernel/trace.ts';
import type { Collection, Database, Doc } from '../collection.ts';
import { cronTimes } from './cron-times.ts';
import { createWorkQueue, holdLease, type WorkQueue } from './work-queue.ts';

/** Periodic work that one replica does at a time, under a lease. UTC cron expression of five fields. */
export interface Job {
  readonly name: string;
  readonly cron: string;
  run(): Promise<void>;
}

interface RunJobsOptions {
  readonly jobs: readonly Job[];
  readonly database: Database;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly metrics: JobMetrics;
}

export interface JobMetrics {
  /** Called after each run on this replica. */
  ended(job: string, outcome: 'succeeded' | 'failed', tookMs: number): void;
}

export interface RunningJobs {
  /** Resolves when no run is in progress. */
  idle(): Promise<void>;
  /** No run begins any more; resolves when those in progress are over. */
  stop(): Promise<void>;
}

/** Which replica runs a job, until when, and for which of its times it ran last. */
export interface LeaseDoc extends Doc {
  readonly by: string | null;
  readonly until: Date;
  readonly ranFor: Date;
  /** First scheduled time for which the job was begun; documents of earlier releases have none. */
  readonly firstRanFor?: Date;
  /** Absent until a run has succeeded. */
  readonly succeededAt?: Date;
}

interface JobLease {
  /** True for one replica per time of the job, and only while no other runs it. */
  acquire(at: Date): Promise<boolean>;
  /** Renews the lease while `work` runs, then releases it and records the success. */
  hold(work: () => Promise<void>): Promise<void>;
}

interface JobLeaseOptions {
  readonly leases: Collection<LeaseDoc>;
  readonly job: string;
  /** This replica. */
  readonly by: string;
  readonly clock: Clock;
  readonly log: Log;
}

const LEASE_MS = 60_000;
/** More than clocks of replicas differ by. A run for a later time was recorded by a clock that was ahead, and must not keep the job from running until then. */
const CLOCK_TOLERANCE_MS = 300_000;

const jobQueue = (leases: Collection<LeaseDoc>): WorkQueue<LeaseDoc> =>
  createWorkQueue({ collection: leases, fields: { claimableAt: 'until', leaseToken: 'by' } });

/** A replica that dies loses its leases when they end by the clock. */
export const jobLease = ({ leases, job, by, clock, log }: JobLeaseOptions): JobLease => {
  const queue = jobQueue(leases);

  const take = async (at: Date): Promise<boolean> => {
    const now = clock.now();
    const lease = { token: by, until: new Date(now.getTime() + LEASE_MS) };
    const latestPossible = new Date(now.getTime() + CLOCK_TOLERANCE_MS);
    const due = { _id: job, ...queue.claimable(now), $or: [{ ranFor: { $lt: at } }, { ranFor: { $gt: latestPossible } }] };
    // A job that ran never has no document yet.
    const outcome = await leases.updateOne(due, queue.claimed(lease, { $set: { ranFor: at }, $setOnInsert: { firstRanFor: at } }), {
      upsert: true,
    });
    return outcome === 'updated' || outcome === 'inserted';
  };
  const release = async (isSuccess: boolean) => {
    try {
      const note = isSuccess && { update: { $set: { succeededAt: clock.now() } } };
      await queue.end({ id: job, token: by, claimableAt: new Date(0), ...note });
    } catch (error) {
      log.warn('lease not released, it ends by the clock', { job, error });
    }
  };

  return {
    async acquire(at) {
      try {
        return await take(at);
      } catch (error) {
        // It may have been taken all the same, and nobody else would run the job for this time.
        if ((await leases.findOne({ _id: job, by, ranFor: at })) === null) throw error;
        return true;
      }
    },
    async hold(work) {
      const renew = (until: Date) => queue.renew(job, { token: by, until });
      let isSuccess = false;
      try {
        await holdLease({ leaseMs: LEASE_MS, renew, clock, log: log.child({ job }) }, work);
        isSuccess = true;
      } finally {
        await release(isSuccess);
      }
    },
  };
};

const leasesOf = (database: Database) => database.collection<LeaseDoc>('leases');

/** Ends the leases of processes that are gone. Call it only where no other process can be at work. */
export const releaseJobs = (database: Database, now: Date): Promise<void> => jobQueue(leasesOf(database)).releaseAll(now);

/** Last success of each job on any replica, or the first scheduled time of a job that has never succeeded. Jobs that never began are left out. */
export const lastSuccesses = async (database: Database, jobs: readonly Pick<Job, 'name'>[]): Promise<ReadonlyMap<string, Date>> => {
  const known = await leasesOf(database).find({ _id: { $in: jobs.map(({ name }) => name) } });
  return new Map(
    known.flatMap(({ _id, succeededAt, firstRanFor }) => {
      const at = succeededAt ?? firstRanFor;
      return at === undefined ? [] : [[_id, at] as const];
    }),
  );
};

/** Refuses at once an expression that is wrong or names no time. */
const timesOf = ({ name, cron }: Job, now: Date): ((after: Date) => Date) => {
  try {
    const next = cronTimes(cron);
    next(now);
    return next;
  } catch (cause) {
    throw new Error(`The job ${name} has a wrong cron expression: '${cron}'.`, { cause });
  }
};

/**
 * Runs each job at its times on one replica. It waits through the clock with polls, so that a job whose times were passed at once runs once. A failure is
 * logged, and the job runs again at its next time.
 */
export function runJobs({ jobs, database, clock, ids, log, metrics }: RunJobsOptions): RunningJobs {
  const by = ids.uuid();
  const stopping = new AbortController();
  const scheduled = jobs.map((job) => {
    const next = timesOf(job, clock.now());
    const lease = jobLease({ leases: leasesOf(database), job: job.name, by, clock, log });
    let running: Promise<void> | null = null;
    const runFor = (at: Date) => {
      const began = clock.monotonic();
      const span = startSpan();
      const end = (outcome: 'succeeded' | 'failed', error: unknown = null) => {
        metrics.ended(job.name, outcome, clock.monotonic() - began);
        endSpan(span, () => ({ name: `job ${job.name}`, kind: 'internal', error }));
      };
      return runInSpan(span, async () => {
        try {
          if (!(await lease.acquire(at))) return;
          await lease.hold(() => job.run());
          end('succeeded');
          log.info('job finished', { job: job.name, at });
        } catch (error) {
          end('failed', error);
          log.error('job failed', { job: job.name, at, error });
        }
      });
    };
    const schedule = async () => {
      while (!stopping.signal.aborted) {
        const at = next(clock.now());
        await clock.sleepUntil(at, 'poll', stopping.signal);
        if (stopping.signal.aborted) return;
        running = runFor(at);
        await running;
        running = null;
      }
    };
    return { ended: schedule(), running: () => running };
  });

  return {
    async idle() {
      // A job that was woken has begun its run after a turn of the event loop.
      await setImmediate();
      await Promise.all(scheduled.map(({ running }) => running()));
    },
    async stop() {
      stopping.abort();
      await Promise.all(scheduled.map(({ ended }) => ended));
    },
  };
}
