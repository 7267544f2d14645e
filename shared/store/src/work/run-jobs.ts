import { setImmediate } from 'node:timers/promises';
import type { Clock } from '@bubbles/kernel/clock.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import type { Log } from '@bubbles/kernel/log.ts';
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
}

interface JobLease {
  /** True for one replica per time of the job, and only while no other runs it. */
  acquire(at: Date): Promise<boolean>;
  /** Keeps the lease while `work` runs and releases it afterwards. */
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

const jobQueue = (leases: Collection<LeaseDoc>): WorkQueue<LeaseDoc> =>
  createWorkQueue({ collection: leases, fields: { claimableAt: 'until', leaseToken: 'by' } });

/** A replica that dies loses its leases when they end by the clock. */
export const jobLease = ({ leases, job, by, clock, log }: JobLeaseOptions): JobLease => {
  const queue = jobQueue(leases);

  const take = async (at: Date): Promise<boolean> => {
    const now = clock.now();
    const lease = { token: by, until: new Date(now.getTime() + LEASE_MS) };
    const due = { _id: job, ...queue.claimable(now), ranFor: { $lt: at } };
    // A job that ran never has no document yet.
    const outcome = await leases.updateOne(due, queue.claimed(lease, { $set: { ranFor: at } }), { upsert: true });
    return outcome === 'updated' || outcome === 'inserted';
  };
  const release = async () => {
    try {
      await queue.end({ id: job, token: by, claimableAt: new Date(0) });
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
      try {
        await holdLease({ leaseMs: LEASE_MS, renew, clock, log: log.child({ job }) }, work);
      } finally {
        await release();
      }
    },
  };
};

const leasesOf = (database: Database) => database.collection<LeaseDoc>('leases');

/** Ends the leases of processes that are gone. Call it only where no other process can be at work. */
export const releaseJobs = (database: Database, now: Date): Promise<void> => jobQueue(leasesOf(database)).releaseAll(now);

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
export function runJobs({ jobs, database, clock, ids, log }: RunJobsOptions): RunningJobs {
  const by = ids.uuid();
  const stopping = new AbortController();
  const scheduled = jobs.map((job) => {
    const next = timesOf(job, clock.now());
    const lease = jobLease({ leases: leasesOf(database), job: job.name, by, clock, log });
    let running: Promise<void> | null = null;
    const runFor = async (at: Date) => {
      try {
        if (!(await lease.acquire(at))) return;
        await lease.hold(() => job.run());
        log.info('job finished', { job: job.name, at });
      } catch (error) {
        log.error('job failed', { job: job.name, at, error });
      }
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
