import type { Infra } from '@bubbles/host/service.ts';
import { type Job, type RunningJobs, releaseJobs, runJobs } from '@bubbles/store/work/run-jobs.ts';

/** Jobs whose leases no other process can have. */
export const soleJobs =
  (infra: Omit<Infra, 'bus'>) =>
  async (jobs: readonly Job[]): Promise<RunningJobs> => {
    await releaseJobs(infra.database, infra.clock.now());
    return runJobs({ ...infra, jobs });
  };
