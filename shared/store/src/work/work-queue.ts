import type { Clock } from '@bubbles/kernel/clock.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import type { Collection, Doc, Filter, UpdateFilter } from '../collection.ts';

export interface Lease {
  /** Names the holder: only with it can the lease be renewed or ended. */
  readonly token: string;
  /** From then on the work is due again: there is no reaper. */
  readonly until: Date;
}

/** Ends the lease `token` on the work `id`. */
export interface LeaseEnd<T extends Doc> {
  readonly id: string;
  readonly token: string;
  /** When the work may be claimed again; absent where `update` or the lease's own end says so. */
  readonly claimableAt?: Date;
  /** Written with the end: what became of the work. */
  readonly update?: UpdateFilter<T>;
  /** A further condition; nothing is written when it does not hold. */
  readonly where?: Filter<T>;
}

/** The names under which a document keeps its place in the queue. */
interface WorkFields<T extends Doc> {
  /** When it may be claimed: when it falls due, or when its lease ends. One field for both, so that one index range finds either. */
  readonly claimableAt: keyof T & string;
  /** The token of its lease; null when nobody works on it. */
  readonly leaseToken: keyof T & string;
  /** Since when it is due, where that must outlast leases. Documents without it are not work. It orders the queue instead of `claimableAt`. */
  readonly dueAt?: keyof T & string;
}

interface WorkQueueOptions<T extends Doc> {
  readonly collection: Collection<T>;
  readonly fields: WorkFields<T>;
  /** Holds for every document that is work, such as `{ status: 'pending' }`; the index begins with its fields. */
  readonly pending?: Filter<T>;
  /** Written with each claim, such as a count of claims. */
  readonly onClaim?: UpdateFilter<T>;
}

/**
 * Work under leases: documents of one collection, each claimed by one worker at a time. Work is inserted with `claimableAt` and a null token; it leaves the
 * queue when its document is removed or no longer pending. `createWorker` runs it; a scheduler of its own takes what fits of `claimable`, `claimEach`, `end`.
 */
export interface WorkQueue<T extends Doc> {
  /** The filter of what may be claimed at `now`, for queries that add their own conditions. */
  claimable(now: Date): Filter<T>;
  /** The update that claims, with what else it changes. */
  claimed(lease: Lease, also?: UpdateFilter<T>): UpdateFilter<T>;
  /** Claims the work that has waited longest; null when nothing is due. */
  claimNext(now: Date, lease: Lease, where?: Filter<T>): Promise<T | null>;
  /** For `claimNext`: only what comes after `doc`, or beside it. Null when work that is released goes to the end of the queue. */
  behind(doc: T, now: Date): Filter<T> | null;
  /** Those of `ids` that are under this lease now. Asked again with the same lease, after an answer that was lost, it is the same claim. */
  claimEach(now: Date, lease: Lease, ids: readonly string[]): Promise<T[]>;
  /** False when the lease has ended and the work has been claimed by another. */
  renew(id: string, lease: Lease): Promise<boolean>;
  /** Completes, postpones or releases, as `claimableAt` and `update` say. False when the lease was lost; then nothing is written. */
  end(end: LeaseEnd<T>): Promise<boolean>;
  /** Many ends in one round trip; how many of the leases there still were. */
  endEach(ends: readonly LeaseEnd<T>[]): Promise<number>;
  /** Removes work that is done. False as for `end`. */
  remove(id: string, token: string): Promise<boolean>;
  /** When the next piece of work may be claimed after `after`. */
  nextAfter(after: Date, where?: Filter<T>): Promise<Date | null>;
  /** Ends all leases. Call it only where no other process can be at work. */
  releaseAll(now: Date): Promise<void>;
}

export function createWorkQueue<T extends Doc>({ collection, fields, pending, onClaim = {} }: WorkQueueOptions<T>): WorkQueue<T> {
  const { claimableAt, leaseToken, dueAt } = fields;
  const order = { [dueAt ?? claimableAt]: 1 } as const;
  // The driver's types cannot tell, for a T that is not known, that a field named by its key is a field of it.
  const asFilter = (conditions: object) => conditions as Filter<T>;
  const pendingAnd = (conditions: object, where?: Filter<T>) => asFilter({ ...pending, ...conditions, ...where });
  const underLease = (id: string, token: string, where?: Filter<T>) => asFilter({ ...where, _id: id, [leaseToken]: token });
  const setting = (set: object, { $set, ...others }: UpdateFilter<T> = {}): UpdateFilter<T> =>
    // As above.
    ({ ...others, $set: { ...$set, ...set } }) as unknown as UpdateFilter<T>;

  const claimable = (now: Date, where?: Filter<T>) =>
    pendingAnd({ ...(dueAt && { [dueAt]: { $lte: now } }), [claimableAt]: { $lte: now } }, where);
  const claimed = ({ token, until }: Lease, also = onClaim) => setting({ [claimableAt]: until, [leaseToken]: token }, also);
  const endOf = ({ id, token, claimableAt: at, update, where }: LeaseEnd<T>) => ({
    filter: underLease(id, token, where),
    update: setting({ [leaseToken]: null, ...(at && { [claimableAt]: at }) }, update),
  });

  return {
    claimable: (now) => claimable(now),
    claimed,
    claimNext: (now, lease, where) => collection.findOneAndUpdate(claimable(now, where), claimed(lease), { sort: order }),
    behind: (doc, now) => (dueAt ? asFilter({ [dueAt]: { $gte: doc[dueAt], $lte: now } }) : null),
    async claimEach(now, lease, ids) {
      const among = { _id: { $in: [...ids] } };
      await collection.updateMany(asFilter({ ...claimable(now), ...among }), claimed(lease));
      return collection.find(asFilter({ ...among, [leaseToken]: lease.token }));
    },
    async renew(id, { token, until }) {
      return (await collection.updateOne(underLease(id, token), setting({ [claimableAt]: until }))) === 'updated';
    },
    async end(end) {
      const { filter, update } = endOf(end);
      return (await collection.updateOne(filter, update)) === 'updated';
    },
    endEach: (ends) => collection.updateEach(ends.map(endOf)),
    remove: async (id, token) => (await collection.deleteOne(underLease(id, token))) > 0,
    async nextAfter(after, where) {
      const next = await collection.findOne(pendingAnd({ [claimableAt]: { $gt: after } }, where), {
        sort: { [claimableAt]: 1 },
        projection: { [claimableAt]: 1 },
      });
      // The queue keeps dates there.
      return (next?.[claimableAt] as Date | undefined) ?? null;
    },
    async releaseAll(now) {
      const leased = pendingAnd({ ...(dueAt && { [dueAt]: { $lte: now } }), [claimableAt]: { $gt: now }, [leaseToken]: { $ne: null } });
      await collection.updateMany(leased, setting({ [claimableAt]: now, [leaseToken]: null }));
    },
  };
}

interface HoldOptions {
  /** Duration of the lease. It is renewed three times within this time, so that it survives two failed renewals. */
  readonly leaseMs: number;
  /** False when another worker has taken over. */
  readonly renew: (until: Date) => Promise<boolean>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Keeps a lease while `work` runs, however long that takes. The signal aborts when the lease was lost. */
export const holdLease = async <R>({ leaseMs, renew, clock, log }: HoldOptions, work: (lost: AbortSignal) => Promise<R>): Promise<R> => {
  const lost = new AbortController();
  const over = new AbortController();
  const after = (ms: number) => new Date(clock.now().getTime() + ms);
  const renewOnce = async () => {
    try {
      if (await renew(after(leaseMs))) return;
      log.warn('lease lost');
      lost.abort();
      over.abort();
    } catch (error) {
      log.warn('lease not renewed, trying again', { error });
    }
  };
  const renewing = (async () => {
    while (!over.signal.aborted) {
      await clock.sleepUntil(after(leaseMs / 3), 'poll', over.signal);
      if (!over.signal.aborted) await renewOnce();
    }
  })();
  try {
    return await work(lost.signal);
  } finally {
    over.abort();
    await renewing;
  }
};
