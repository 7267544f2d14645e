import type { Clock } from '@bubbles/kernel/clock.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import type { Collection, Doc } from '../collection.ts';

/** Who runs a job, until when, and for which of its times it ran last. */
export interface LeaseDoc extends Doc {
  readonly by: string | null;
  readonly until: Date;
  readonly ranFor: Date;
}

export interface JobLease {
  /** True for one replica for each time of the job, and only while no other is at it. */
  acquire(at: Date): Promise<boolean>;
  /** Keeps the lease while `work` runs and gives it back afterwards. */
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

export const LEASE_MS = 60_000;
const RENEW_MS = 20_000;

export const FREE = { by: null, until: new Date(0) } as const;

/** A replica that dies loses its leases when they end by the clock. */
export const jobLease = ({ leases, job, by, clock, log }: JobLeaseOptions): JobLease => {
  const after = (ms: number) => new Date(clock.now().getTime() + ms);
  const mine = { _id: job, by };

  const renew = async () => {
    try {
      await leases.updateOne(mine, { $set: { until: after(LEASE_MS) } });
    } catch (error) {
      // The lease outlives two renewals that fail; the job itself will meet the same store.
      log.warn('lease not renewed, trying again', { job, error });
    }
  };
  const renewUntil = async (over: AbortSignal) => {
    while (!over.aborted) {
      await clock.sleepUntil(after(RENEW_MS), 'poll', over);
      if (!over.aborted) await renew();
    }
  };

  const take = async (at: Date): Promise<boolean> => {
    const outcome = await leases.updateOne(
      { _id: job, until: { $lte: clock.now() }, ranFor: { $lt: at } },
      { $set: { by, until: after(LEASE_MS), ranFor: at } },
      { upsert: true },
    );
    return outcome === 'updated' || outcome === 'inserted';
  };
  const giveBack = async () => {
    try {
      await leases.updateOne(mine, { $set: FREE });
    } catch (error) {
      log.warn('lease not given back, it ends by the clock', { job, error });
    }
  };

  return {
    async acquire(at) {
      try {
        return await take(at);
      } catch (error) {
        // It may have been taken all the same, and nobody else would run the job for this time.
        if ((await leases.findOne({ ...mine, ranFor: at })) === null) throw error;
        return true;
      }
    },
    async hold(work) {
      const over = new AbortController();
      const renewing = renewUntil(over.signal);
      try {
        await work();
      } finally {
        over.abort();
        await renewing;
        await giveBack();
      }
    },
  };
};
