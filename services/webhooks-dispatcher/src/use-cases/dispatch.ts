import type { Clock } from '@bubbles/kernel/clock.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import { POSTPONE_MS } from '../domain/delivery.ts';
import type { DeliveryStore } from '../ports.ts';
import type { BatchListener, Prepared } from './attempt.ts';
import { type Batch, claims } from './claims.ts';
import { handOver, type NewDelivery } from './hand-over.ts';
import { lookOut } from './look-out.ts';
import { type SlotLimits, slots } from './slots.ts';

export interface DispatchLimits extends SlotLimits {
  /** How long a claim keeps others away, milliseconds; longer than an attempt can take. */
  readonly leaseMs: number;
  /** How long a claim waits for others to end, milliseconds, so that it is large; only beside many attempts. */
  readonly claimWindowMs: number;
}

interface Ports {
  readonly deliveries: DeliveryStore;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly limits: DispatchLimits;
  readonly prepare: (batch: Pick<Batch, 'claimed' | 'bodies'>, listener: BatchListener) => Promise<Prepared>;
  /** Runs the dispatcher, once more when it runs. */
  readonly wake: () => void;
  /** No attempt is in flight any more. */
  readonly quiet: () => void;
}

/** So many attempts in flight are many: what becomes free with one of them can wait for more. */
const MANY_ATTEMPTS = 16;

export interface Dispatcher {
  /** Takes on all that is due and fits; answers when the next delivery falls due. */
  run(): Promise<Date | null>;
  /** Inserts deliveries that are due now; those that fit are taken on at once. Resolves when they are kept. */
  enqueue(all: readonly NewDelivery[]): Promise<void>;
  /** Something may be due that this dispatcher does not know of. */
  wake(): void;
  /** Resolves when no attempt is in flight: whether there was any. */
  drained(): Promise<boolean>;
  /** Nothing more is taken on. */
  retire(): void;
  inFlight(): { readonly attempts: number; readonly saturated: number };
}

/** Work that is waited for together. */
const running = () => {
  const all = new Set<Promise<void>>();
  return {
    track(work: Promise<void>): Promise<void> {
      const tracked = work.finally(() => all.delete(tracked));
      all.add(tracked);
      return tracked;
    },
    async drained(): Promise<boolean> {
      const wasBusy = all.size > 0;
      while (all.size > 0) await Promise.allSettled(all);
      return wasBusy;
    },
  };
};

/** Claims what is due under leases and keeps one slow receiver from holding up the others. */
export function dispatcher({ prepare, wake, quiet, ...ports }: Ports): Dispatcher {
  const { deliveries, clock, limits } = ports;
  const slot = slots(limits);
  const look = lookOut({ deliveries, clock, slot });
  const claiming = claims({ ...ports, slot, look });
  const insert = handOver({ ...ports, slot, look, claims: claiming });
  const work = running();
  /** While somebody is away a few batches find out every few seconds, not the whole backlog again and again. */
  let pausedUntil = Number.NEGATIVE_INFINITY;
  let retired = false;

  const runs = runReasons(wake);
  const window = claimWindow({ clock, ms: limits.claimWindowMs, isBusy: () => slot.total() >= MANY_ATTEMPTS, end: runs.roomFreed });

  const mayBegin = (): boolean => !retired && clock.monotonic() >= pausedUntil;
  /** Null when nothing is due that fits. */
  const claim = async (everything: boolean): Promise<Batch | null> => (mayBegin() ? claiming.next(everything) : null);
  const listenerOf = ({ candidates }: Batch): BatchListener => ({
    ended: ({ subscriptionId }, result) => slot.hear(subscriptionId, result),
    done({ id }, isFinished) {
      const candidate = candidates.get(id);
      if (candidate !== undefined) slot.free(candidate);
      // It falls due again, or what waits has room now.
      if (!isFinished) runs.news();
      else if (look.hasBacklog()) window();
      if (slot.total() === 0) quiet();
    },
    away() {
      pausedUntil = clock.monotonic() + POSTPONE_MS;
    },
  });
  const prepared = (batch: Batch): Promise<Prepared> => prepare(batch, listenerOf(batch));
  const takeOn = async (everything: boolean): Promise<void> => {
    // One batch is prepared at a time: what ends meanwhile makes room for the next one to be large.
    for (let batch = await claim(everything); batch !== null; batch = await claim(everything)) {
      const attempts = await prepared(batch);
      void work.track(attempts());
    }
  };

  return {
    run: () =>
      runs.run(clock.now(), async (everything, knownDue) => {
        await takeOn(everything);
        return everything ? deliveries.nextDueAfter(clock.now()) : knownDue;
      }),
    async enqueue(all) {
      const inserted = insert(all, mayBegin());
      // Its leases are waited for, from before they are in the store.
      const begun = inserted.then(async ({ batch }) => {
        if (batch.claimed.length > 0) await (await prepared(batch))();
      });
      work.track(begun).catch(runs.news);
      const { waiting, isRepeated } = await inserted;
      waiting.forEach(look.block);
      if (isRepeated) runs.news();
      else if (waiting.length > 0) runs.roomFreed();
    },
    wake: runs.news,
    drained: work.drained,
    retire() {
      retired = true;
    },
    inFlight: () => ({ attempts: slot.total(), saturated: slot.saturated() }),
  };
}

type Run = (everything: boolean, knownDue: Date | null) => Promise<Date | null>;

/** Why the dispatcher runs. When it is only because there is room again, nothing can be due that it does not know of. */
const runReasons = (wake: () => void) => {
  let mayBeMore = true;
  let isForRoom = false;
  let nextDue: Date | null = null;
  return {
    news() {
      mayBeMore = true;
      wake();
    },
    roomFreed() {
      isForRoom = true;
      wake();
    },
    async run(now: Date, run: Run): Promise<Date | null> {
      const everything = mayBeMore || !isForRoom || (nextDue !== null && nextDue <= now);
      [mayBeMore, isForRoom] = [false, false];
      try {
        nextDue = await run(everything, nextDue);
        return nextDue;
      } catch (error) {
        mayBeMore = true;
        throw error;
      }
    },
  };
};

interface ClaimWindow {
  readonly clock: Clock;
  readonly ms: number;
  readonly isBusy: () => boolean;
  readonly end: () => void;
}

/** Answers what is called for each slot that becomes free: `end` follows at once, or once for all of a window while there is enough to do. */
const claimWindow = ({ clock, ms, isBusy, end }: ClaimWindow) => {
  let isOpen = false;
  const wait = async () => {
    isOpen = true;
    await clock.sleepUntil(new Date(clock.now().getTime() + ms), 'poll');
    isOpen = false;
    end();
  };
  return (): void => {
    if (ms === 0 || !isBusy()) end();
    else if (!isOpen) void wait();
  };
};
