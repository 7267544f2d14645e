import type { Collection, Doc } from '@bubbles/store/collection.ts';
import type { OpenCollection } from '@bubbles/store/indexed-collections.ts';
import { createWorkQueue, type WorkQueue } from '@bubbles/store/work/work-queue.ts';
import type { Join } from '../../domain/join.ts';
import type { JoinDoc } from './joins.ts';

const MINUTE_MS = 60_000;
/** Above this a time that lies ahead was written before the clock was set back. */
const MAX_SKEW_MS = MINUTE_MS;

/** How far the calls of a provider are paid for: each call costs a moment of the minute. `_id` is the provider. */
interface CallBudgetDoc extends Doc {
  readonly paidUntilMs: number;
}

/** Takes a place for one call; else says when there is one. `share` of the burst may be used, 0 to 1. */
type TakeCall = (now: Date, share: number) => Promise<'taken' | Date>;

/**
 * No more than `perMinute` calls in any minute, over all replicas: a burst of a fifth of them, and the rest evenly spread (the generic cell rate
 * algorithm). A call is one conditional write.
 */
const callBudget = (budgets: Collection<CallBudgetDoc>, _id: string, perMinute: number): TakeCall => {
  const burst = Math.floor(perMinute / 5);
  const costMs = MINUTE_MS / (perMinute - burst);
  const pay = async (nowMs: number, aheadMs: number): Promise<boolean> => {
    const restart = { $set: { paidUntilMs: nowMs + costMs } };
    const payments = [
      [{ $lte: nowMs }, restart],
      [{ $gt: nowMs, $lte: nowMs + aheadMs }, { $inc: { paidUntilMs: costMs } }],
      [{ $gt: nowMs + (burst + 1) * costMs + MAX_SKEW_MS }, restart],
    ] as const;
    for (const [paidUntilMs, update] of payments) if ((await budgets.updateOne({ _id, paidUntilMs }, update)) === 'updated') return true;
    return false;
  };
  return async (now, share) => {
    const nowMs = now.getTime();
    const aheadMs = burst * share * costMs;
    for (;;) {
      if (await pay(nowMs, aheadMs)) return 'taken';
      const paidUntilMs = (await budgets.findOne({ _id }))?.paidUntilMs ?? null;
      if (paidUntilMs === null) await budgets.insert({ _id, paidUntilMs: 0 });
      else if (paidUntilMs > nowMs + aheadMs) return new Date(Math.ceil(paidUntilMs - aheadMs));
    }
  };
};

interface Turn {
  readonly urgency: Join['urgency'];
  /** Share of the burst of calls; less urgent joins leave the rest to urgent ones. */
  readonly share: number;
}
const URGENT_FIRST: readonly Turn[] = [
  { urgency: 'hinted', share: 1 },
  { urgency: 'early', share: 0.5 },
  { urgency: 'silent', share: 0 },
];
const SILENT_FIRST: readonly Turn[] = URGENT_FIRST.map(({ urgency }) => ({ urgency, share: 1 })).toReversed();
/** Each fourth claim takes a silent join first, so that urgent ones starve nobody. */
const CLAIMS_PER_SILENT = 4;

const EPOCH = new Date(0);
const earlier = (one: Date | null, other: Date | null): Date | null => (one === null || (other !== null && other < one) ? other : one);

interface WatchQueueOptions {
  readonly documents: Collection<JoinDoc>;
  readonly budgets: Collection<CallBudgetDoc>;
  readonly provider: string;
  readonly perMinute: number;
}

/** The watched joins of a provider, as many as it may be asked about: while the calls of a minute are used up, what is due waits. */
const watchQueue = ({ documents, budgets, provider, perMinute }: WatchQueueOptions): WorkQueue<JoinDoc> => {
  const queueOf = (urgency: Join['urgency']) =>
    createWorkQueue({
      collection: documents,
      fields: { claimableAt: 'dueAt', leaseToken: 'leaseToken' },
      pending: { work: 'watch', provider, urgency },
      // What is told from now on needs another look.
      onClaim: { $inc: { version: 1 }, $set: { hintedAt: null } },
    });
  const queues = { hinted: queueOf('hinted'), early: queueOf('early'), silent: queueOf('silent') };
  const take = callBudget(budgets, provider, perMinute);
  let claims = 0;
  /** When the next one falls due, or when there is a place for one that is. */
  let wakeAt: Date | null = null;
  return {
    ...queues.silent,
    async claimNext(now, lease, where) {
      wakeAt = null;
      for (const { urgency, share } of claims % CLAIMS_PER_SILENT === CLAIMS_PER_SILENT - 1 ? SILENT_FIRST : URGENT_FIRST) {
        const dueAt = await queues[urgency].nextAfter(EPOCH, where);
        if (dueAt === null || dueAt > now) {
          wakeAt = earlier(wakeAt, dueAt);
          continue;
        }
        const place = await take(now, share);
        if (place !== 'taken') {
          wakeAt = earlier(wakeAt, place);
          return null;
        }
        claims += 1;
        const claimed = await queues[urgency].claimNext(now, lease, where);
        if (claimed !== null) return claimed;
      }
      return null;
    },
    // A worker asks this when nothing was to be claimed: that look has seen it.
    nextAfter: () => Promise.resolve(wakeAt),
  };
};

/** One queue per provider, limited by its calls per minute. */
export const openWatchQueues = (open: OpenCollection, documents: Collection<JoinDoc>) => {
  const budgets = open<CallBudgetDoc>('call_budgets', []);
  return {
    watchQueue: (provider: string, perMinute: number) => watchQueue({ documents, budgets, provider, perMinute }),
    /** The watched joins of all others. */
    orphanQueue: (providers: readonly string[]) =>
      createWorkQueue({
        collection: documents,
        fields: { claimableAt: 'dueAt', leaseToken: 'leaseToken' },
        pending: { work: 'watch', provider: { $nin: [...providers] } },
        onClaim: { $inc: { version: 1 } },
      }),
  };
};
