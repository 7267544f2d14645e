import type { Clock } from '@bubbles/kernel/clock.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import type { Collection, Doc } from '../collection.ts';
import { holdLease } from './hold-lease.ts';
import { type WorkQueue, workQueue } from './work-queue.ts';

/** Who runs a job, until when, and for which of its times it ran last. */
export interface LeaseDoc extends Doc {
  readonly by: string | null;
  readonly until: Date;
  readonly ranFor: Date;
}

export interface JobLease {
  /** True for one replica for each time of the job, and only while no other is at it. */
  acquire(at: Date): Promise<boolean>;
  /** Keeps the lease while `work` runs and releases it afterwards. */
  hold(work: () => Promise<void>): Promise<void>;
}

export interface JobLeaseOptions {
  readonly leases: Collection<LeaseDoc>;
  readonly job: string;
  /** This replica. */
  readonly by: string;
  readonly clock: Clock;
  readonly log: Log;
}

const LEASE_MS = 60_000;

export const jobQueue = (leases: Collection<LeaseDoc>): WorkQueue<LeaseDoc> =>
  workQueue({ collection: leases, fields: { claimableAt: 'until', leaseToken: 'by' } });

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
