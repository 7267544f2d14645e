import type { Clock } from '@bubbles/kernel/clock.ts';
import { inFlight } from '@bubbles/kernel/concurrency.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import { type Delivery, POSTPONE_MS } from '../domain/delivery.ts';
import type { AttemptReport, DeliveryStore, NewDelivery, PrepareAttempts } from '../ports.ts';
import { createClaims, type SlottedBatch } from './claims.ts';
import { createDueDeliveryFinder } from './due-delivery-finder.ts';
import { createSlots, type SlotLimits } from './slots.ts';

export interface DeliveryLoopLimits extends SlotLimits {
  /** How long a claim keeps others away, milliseconds; longer than an attempt can take. */
  readonly leaseMs: number;
  /** How long a claim waits for others to end, milliseconds, so that it is large; only beside many attempts. */
  readonly claimWindowMs: number;
}

interface Ports {
  readonly deliveries: DeliveryStore;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly limits: DeliveryLoopLimits;
  /** How often to search everything that is due. */
  readonly timing: { readonly pollMs: number };
  readonly prepare: PrepareAttempts;
  /** Runs the loop; once more when it is running. */
  readonly wake: () => void;
  /** Called when no attempt is in flight any more. */
  readonly quiet: () => void;
}

/** With this many attempts in flight, a slot that becomes free can wait for more of them, so that the next claim is large. */
const MANY_ATTEMPTS = 16;

/** Claims what is due under leases, makes the attempts, and keeps one slow receiver from holding up the others. */
export function createDeliveryLoop({ prepare, wake, quiet, timing, ...ports }: Ports) {
  const { deliveries, clock, limits } = ports;
  const slots = createSlots(limits);
  const finder = createDueDeliveryFinder({ deliveries, clock, slots });
  const claiming = createClaims({ ...ports, slots, finder });
  const attempting = inFlight();
  const runs = runReasons({ clock, wake, ...timing });
  const window = claimWindow({ clock, ms: limits.claimWindowMs, isBusy: () => slots.total() >= MANY_ATTEMPTS, end: runs.roomFreed });
  /** While a service is away, only a few batches every few seconds are tried, not the whole backlog again and again. */
  let pausedUntil = Number.NEGATIVE_INFINITY;
  let isStopped = false;

  const mayBegin = (): boolean => !isStopped && clock.monotonic() >= pausedUntil;
  const claim = async (everything: boolean): Promise<SlottedBatch | null> => (mayBegin() ? claiming.next(everything) : null);
  const prepared = (batch: SlottedBatch) =>
    prepare(batch, () => {
      pausedUntil = clock.monotonic() + POSTPONE_MS;
    });
  const onEnd = ({ slotted }: SlottedBatch, { id, subscriptionId }: Delivery, { outcome, isFinished }: AttemptReport) => {
    if (outcome !== null) slots.noteOutcome(subscriptionId, outcome);
    const due = slotted.get(id);
    if (due !== undefined) slots.free(due);
    // It falls due again, or there is room now for what waits.
    if (!isFinished) runs.news();
    else if (finder.hasBacklog()) window();
    if (slots.total() === 0) quiet();
  };
  const makeAttempts = async (batch: SlottedBatch, attempt: Awaited<ReturnType<PrepareAttempts>>): Promise<void> => {
    await Promise.all(batch.claimed.map(async (delivery) => onEnd(batch, delivery, await attempt(delivery))));
  };
  const takeOn = async (everything: boolean): Promise<void> => {
    // One batch is prepared at a time: attempts that end meanwhile make room for a large next one.
    for (let batch = await claim(everything); batch !== null; batch = await claim(everything)) {
      const attempt = await prepared(batch);
      void attempting.track(makeAttempts(batch, attempt));
      // Room that becomes free again and again must not hide what else is due: the next run searches everything.
      if (!everything && runs.isOutdated()) return runs.news();
    }
  };

  return {
    /** Takes on all that is due and fits; answers when the next delivery falls due. */
    run: () =>
      runs.run(mayBegin(), async (everything, knownDue) => {
        await takeOn(everything);
        return everything ? deliveries.nextDueAfter(clock.now()) : knownDue;
      }),
    /** Inserts deliveries that are due now; those that fit are taken on at once. Resolves when they are kept. */
    async enqueue(all: readonly NewDelivery[]): Promise<void> {
      const inserted = claiming.insert(all, mayBegin());
      // `drained` waits for its leases from before they are in the store.
      const begun = inserted.then(async ({ batch }) => {
        if (batch.claimed.length > 0) await makeAttempts(batch, await prepared(batch));
      }, runs.news);
      void attempting.track(begun);
      const { waiting, isRepeated } = await inserted;
      waiting.forEach(finder.block);
      if (isRepeated) runs.news();
      else if (waiting.length > 0) runs.roomFreed();
    },
    /** Something may be due that this loop does not know about. */
    wake: runs.news,
    /** Resolves when no attempt is in flight, with whether one was. */
    async drained(): Promise<boolean> {
      const wasBusy = attempting.size() > 0;
      await attempting.idle();
      return wasBusy;
    },
    stopClaiming() {
      isStopped = true;
    },
    inFlight: () => ({ attempts: slots.total(), saturated: slots.saturated() }),
  };
}

type Run = (everything: boolean, knownDue: Date | null) => Promise<Date | null>;

/** Remembers why the loop runs. When it runs only because there is room again, everything that is due is known. */
const runReasons = ({ clock, wake, pollMs }: Pick<Ports, 'clock' | 'wake'> & Ports['timing']) => {
  let mayBeMore = true;
  let isForRoom = false;
  let nextDue: Date | null = null;
  let searchedAt = Number.NEGATIVE_INFINITY;
  /** Whether something may be due that is not known. A loop that is always woken for room never polls, so the time since the last search counts too. */
  const isOutdated = (): boolean => mayBeMore || (nextDue !== null && nextDue <= clock.now()) || clock.monotonic() - searchedAt >= pollMs;
  /** A run for room is followed by the poll that was to come without it, which finds what was postponed. */
  const nextRunAt = (): Date => {
    const pollAt = new Date(clock.now().getTime() + searchedAt + pollMs - clock.monotonic());
    return nextDue !== null && nextDue < pollAt ? nextDue : pollAt;
  };
  return {
    isOutdated,
    news() {
      mayBeMore = true;
      wake();
    },
    roomFreed() {
      isForRoom = true;
      wake();
    },
    async run(maySearch: boolean, run: Run): Promise<Date | null> {
      const everything = !isForRoom || (maySearch && isOutdated());
      // A run that may not search leaves that to the first one that may.
      [mayBeMore, isForRoom] = [!maySearch && (mayBeMore || everything), false];
      try {
        nextDue = await run(everything, nextDue);
        if (everything && maySearch) searchedAt = clock.monotonic();
        return everything || !Number.isFinite(searchedAt) ? nextDue : nextRunAt();
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

/** Called for each slot that becomes free. Calls `end` at once, or, while many attempts are in flight, once for all slots of a window. */
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
