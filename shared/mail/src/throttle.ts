import { createHash } from 'node:crypto';
import type { Clock } from '@bubbles/kernel/clock.ts';
import { type Doc, sweepExpired } from '@bubbles/store/collection.ts';
import type { OpenCollection } from '@bubbles/store/indexed-collections.ts';

/** `_id` is a hash of the key, since keys name people. */
interface ThrottleDoc extends Doc {
  /** When it was taken, newest first; no more than the limit of its last use. */
  readonly takenAt: readonly Date[];
  readonly expiresAt: Date;
}

interface ThrottleLimit {
  readonly limit: number;
  readonly windowMs: number;
}

/** A limit on the codes that are mailed to one mailbox, of which a single client gets a part. */
interface MailboxWindow extends ThrottleLimit {
  readonly perClient: number;
}

const DAY_MS = 24 * 60 * 60 * 1000;
/**
 * Codes for a mailbox whose windows are full, so that strangers who have filled them from a few sites do not keep its owner out. It has a limit too, since
 * strangers must not flood the mailbox either: from 30 sites they use it up.
 */
const RESERVE = { all: 60, perSite: 2, windowMs: DAY_MS } as const;

type Throttled = { readonly allowed: true } | { readonly allowed: false; readonly retryAfterSeconds: number };

interface MailboxUse {
  /** With what the codes are for: each purpose has limits of its own. */
  readonly mailbox: string;
  readonly client: string;
  /** The customer of a provider that the client is of, who may be many clients. Without one there is no reserve. */
  readonly site?: string;
}

interface ThrottleOptions {
  readonly open: OpenCollection;
  readonly clock: Clock;
}

/** Sliding windows that hold over all replicas. */
export const createThrottle = ({ open, clock }: ThrottleOptions) => {
  const throttles = open<ThrottleDoc>('throttles', [{ name: 'expires_at', keys: { expiresAt: 1 } }]);

  /** One conditional write: there is room when the one that is `limit` back lies outside of the window, or is missing. */
  const takeOnce = (id: string, { limit, windowMs }: ThrottleLimit, now: Date) =>
    throttles.updateOne(
      { _id: id, [`takenAt.${limit - 1}`]: { $not: { $gt: new Date(now.getTime() - windowMs) } } },
      {
        $push: { takenAt: { $each: [now], $position: 0, $slice: limit } },
        $max: { expiresAt: new Date(now.getTime() + windowMs) },
      },
      { upsert: true },
    );

  const take = async (key: string, limits: ThrottleLimit): Promise<Throttled> => {
    const id = createHash('sha256').update(key).digest('hex');
    for (;;) {
      const now = clock.now();
      const result = await takeOnce(id, limits, now);
      if (result === 'updated' || result === 'inserted') return { allowed: true };
      // A duplicate: it is full, or another one inserted it first.
      const blocking = (await throttles.findOne({ _id: id }))?.takenAt[limits.limit - 1];
      const waitMs = blocking === undefined ? 0 : blocking.getTime() + limits.windowMs - now.getTime();
      if (waitMs > 0) return { allowed: false, retryAfterSeconds: Math.ceil(waitMs / 1000) };
    }
  };

  const takeEach = async (limits: readonly (ThrottleLimit & { readonly key: string })[]): Promise<Throttled> => {
    for (const { key, ...limit } of limits) {
      const taken = await take(key, limit);
      if (!taken.allowed) return taken;
    }
    return { allowed: true };
  };

  return {
    /** Counts one use of the key, unless `limit` of them lie within the window already. */
    take,
    /** Counts a code for the mailbox that a client asks for, in each window, or else in the reserve if there is one. */
    async takeForMailbox({ mailbox, client, site }: MailboxUse, windows: readonly MailboxWindow[]): Promise<Throttled> {
      const ofClient = await takeEach(
        windows.map(({ perClient, windowMs }) => ({ key: `${mailbox} from ${client} in ${windowMs}`, limit: perClient, windowMs })),
      );
      if (!ofClient.allowed) return ofClient;
      const ofAll = await takeEach(windows.map(({ limit, windowMs }) => ({ key: `${mailbox} in ${windowMs}`, limit, windowMs })));
      if (ofAll.allowed || site === undefined) return ofAll;
      const { all, perSite, windowMs } = RESERVE;
      const ofReserve = await takeEach([
        { key: `reserve of ${mailbox} for ${site}`, limit: perSite, windowMs },
        { key: `reserve of ${mailbox}`, limit: all, windowMs },
      ]);
      return ofReserve.allowed ? ofReserve : ofAll;
    },
    sweep: () => sweepExpired(throttles, clock.now()),
  };
};
