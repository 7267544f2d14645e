import type { Infra } from '@bubbles/host/service.ts';
import { clockScheduler } from '@bubbles/store/work/clock-scheduler.ts';
import type { Job } from '@bubbles/store/work/run-jobs.ts';
import { runJobs } from '@bubbles/store/work/run-jobs.ts';
import type { Scheduled } from '@bubbles/store/work/scheduler.ts';

/** Jobs that the sandbox's clock moves. */
export const steppedJobs =
  (infra: Omit<Infra, 'bus'>) =>
  (jobs: readonly Job[]): Promise<Scheduled> =>
    runJobs({ ...infra, jobs, scheduler: clockScheduler(infra.clock), releaseAtStart: true });
