import { setTimeout as pause } from 'node:timers/promises';
import { systemClock } from '@bubbles/kernel/clock.ts';
import { openMongo } from '@bubbles/store/mongo.ts';
import { SILENT_LOG } from '@bubbles/testing/http.ts';
import { PRODUCTION_LIMITS } from '@bubbles/webhooks-dispatcher/config.ts';
import { type CrashLoad, crashLoad } from './crash-load.ts';
import { type Ledger, ledgerOf } from './deliveries-ledger.ts';
import type { DispatcherSettings, Standing } from './dispatcher-orders.ts';
import { type Dispatchers, openDispatchers } from './dispatchers.ts';
import { report } from './scale.ts';
import { startVerifyingReceiver, type VerifyingReceiver } from './verifying-receiver.ts';
import { untilSo, within } from './within.ts';

export interface TrialOptions extends Pick<DispatcherSettings, 'store' | 'amqpUrl' | 'leaseMs' | 'subscriptions'> {
  readonly bubbles: number;
  readonly processes: number;
}

/** Dispatchers before one receiver, and all that comes of some bubbles. */
export interface Trial {
  readonly receiver: VerifyingReceiver;
  readonly dispatchers: Dispatchers;
  readonly bubbles: readonly string[];
  /** Of all bubbles. */
  readonly deliveries: number;
  /** All that one process can have sent and not recorded. */
  readonly inFlight: number;
  /** Hands out bubbles under these crashes. */
  load(
    crashes: readonly ((sender: string) => Promise<void>)[],
    hand?: (bubble: string, signal: AbortSignal) => Promise<void>,
  ): Promise<void>;
  /** Kills the sender before it has its answer, or this number of milliseconds after it. Another takes its place. */
  killSender(afterAnswerMs: number | null): (sender: string) => Promise<void>;
  /** Looks until it is so; refuses when that takes longer than is reasonable, and says how things stand. */
  until(what: string, isSo: () => Promise<boolean>): Promise<void>;
  /** Until every delivery came and was finished. */
  done(): Promise<void>;
  result(crashes?: { readonly storeRestarts: number }): Promise<TrialResult>;
  close(): Promise<void>;
}
export interface TrialResult {
  readonly ledger: Ledger;
  readonly standing: Standing;
}

const SECRET = `whsec_${Buffer.alloc(32, 3).toString('base64')}`;

/** An engine that others use as well does not keep what is of no use any more; a data file goes with its folder. */
const forget = async (store: DispatcherSettings['store']): Promise<void> => {
  if ('file' in store) return;
  const database = openMongo({ ...store, clock: systemClock(), log: SILENT_LOG });
  for (const name of ['subscriptions', 'events', 'deliveries']) await database.collection(name).deleteMany({});
  await database.close();
};

const arrivedOf = ({ arrivals, deliveries, held }: VerifyingReceiver, wanted: number): string =>
  `deliveries that came: ${deliveries} of ${wanted} in ${arrivals.length} POSTs, of which ${held} have no answer`;

export const openTrial = async ({ processes, bubbles: count, ...options }: TrialOptions): Promise<Trial> => {
  const receiver = await startVerifyingReceiver(() => SECRET);
  const dispatchers = openDispatchers({ ...options, receiverUrl: receiver.url, secret: SECRET });
  const bubbles = Array.from({ length: count }, (_, n) => `bubble-${n}`);
  const deliveries = count * options.subscriptions;
  const over = new AbortController();
  const { signal } = over;
  const close = async () => {
    over.abort();
    await dispatchers.stop();
    await receiver.close();
    await forget(options.store);
  };
  let load: CrashLoad | null = null;
  const state = () => [load?.state() ?? 'nothing was handed over', arrivedOf(receiver, deliveries), ...dispatchers.state()];
  const until = (what: string, isSo: () => Promise<boolean>) => untilSo({ what, state }, isSo);
  try {
    for (let n = 0; n < processes; n += 1) await dispatchers.start();
  } catch (error) {
    await close();
    throw error;
  }
  const began = performance.now();
  return {
    receiver,
    dispatchers,
    bubbles,
    deliveries,
    inFlight: Math.min(options.subscriptions * PRODUCTION_LIMITS.perSubscription, PRODUCTION_LIMITS.perOrigin / 2),
    load(crashes, hand = dispatchers.tell) {
      const { subscriptions } = options;
      load = crashLoad({ receiver, bubbles, subscriptions, hand: (bubble) => hand(bubble, signal), crashes, signal });
      return within({ what: 'the load and its crashes', state }, load.run);
    },
    killSender: (afterAnswerMs) => async (sender) => {
      if (afterAnswerMs !== null) {
        receiver.release();
        await pause(afterAnswerMs);
      }
      await dispatchers.kill(sender);
      receiver.release();
      await dispatchers.start();
    },
    until,
    done: () =>
      until('every delivery came and is finished', async () => receiver.deliveries >= deliveries && (await dispatchers.open()) === 0),
    async result({ storeRestarts } = { storeRestarts: 0 }) {
      await within({ what: 'nobody has a POST on the wire', state }, dispatchers.settle);
      // A process gives a slot back when it hears that its claim came too late or failed, which may be after the last delivery has ended.
      await until('every slot was given back', async () => (await dispatchers.slotsTaken()) === 0);
      const standing = await dispatchers.standing();
      const { arrivals } = receiver;
      const ledger = ledgerOf({ arrivals, standing, killed: dispatchers.killed, storeRestarts });
      const seconds = (performance.now() - began) / 1000;
      const figures = {
        arrived: ledger.arrived,
        posts: arrivals.length,
        repeated: ledger.repeated,
        killed: dispatchers.killed.size,
        seconds,
      };
      report(`${processes} dispatchers`, figures);
      return { ledger, standing };
    },
    close,
  };
};
