import type { Clock } from '@bubbles/kernel/clock.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import type { Database } from '../collection.ts';
import { FREE, jobLease, type LeaseDoc } from './job-lease.ts';
import type { Scheduled, Scheduler } from './scheduler.ts';

/** Periodic work that one replica does at a time, under a lease. UTC cron expression of five fields. */
export interface Job {
  readonly name: string;
  readonly cron: string;
  run(): Promise<void>;
}

export interface RunJobsOptions {
  readonly jobs: readonly Job[];
  readonly database: Database;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly scheduler: Scheduler;
  /** Takes over at once what a process that is gone had leased: only where no other replica can be at work. */
  readonly releaseAtStart?: boolean;
}

/** Runs each job at its times on one replica; a job that fails is logged and comes again at its next time. */
export async function runJobs({ jobs, database, clock, ids, log, scheduler, releaseAtStart = false }: RunJobsOptions): Promise<Scheduled> {
  const leases = database.collection<LeaseDoc>('leases');
  const by = ids.uuid();
  if (releaseAtStart) await leases.updateMany({}, { $set: FREE });

  const schedule = (job: Job): Scheduled => {
    const lease = jobLease({ leases, job: job.name, by, clock, log });
    const tick = async (at: Date) => {
      try {
        if (!(await lease.acquire(at))) return;
        await lease.hold(() => job.run());
        log.info('job finished', { job: job.name, at });
      } catch (error) {
        log.error('job failed', { job: job.name, at, error });
      }
    };
    return scheduler.schedule({ name: job.name, cron: job.cron, tick });
  };
  const scheduled = jobs.map(schedule);

  return {
    async idle() {
      await Promise.all(scheduled.map((work) => work.idle()));
    },
    async stop() {
      await Promise.all(scheduled.map((work) => work.stop()));
    },
  };
}
