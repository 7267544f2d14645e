import { clockScheduler } from '@bubbles/shared/jobs/clock-scheduler.ts';
import { runJobs } from '@bubbles/shared/jobs/run-jobs.ts';
import type { Scheduled } from '@bubbles/shared/jobs/scheduler.ts';
import type { Infra, Job } from '@bubbles/shared/service.ts';

/** Jobs that the sandbox's clock moves. */
export const steppedJobs =
  (infra: Omit<Infra, 'bus'>) =>
  (jobs: readonly Job[]): Promise<Scheduled> =>
    runJobs({ ...infra, jobs, scheduler: clockScheduler(infra.clock), releaseAtStart: true });
