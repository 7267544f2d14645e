import { createFairQueue } from '../balancing/fair-queue.ts';

/** Tells when the one who waits has left. */
export interface Leaving {
  once(event: 'close', listener: () => void): unknown;
  off(event: 'close', listener: () => void): unknown;
}

/** The requests that an address serves at once, shared by callers who take turns. */
export interface Places {
  /** Those that are taken or waited for. */
  demand(): number;
  /** True with a place taken; false when none came free in time, or the caller left. */
  take(caller: string, leaving: Leaving): true | Promise<boolean>;
  giveBack(caller: string): void;
}

export interface PlacesOptions {
  readonly places: number;
  /** The longest that a request of a burst waits. */
  readonly burstWaitMs: number;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

/** Somebody has waited all this time: this is no burst but more than can be served. */
const STANDING_MS = 3000;
/** The longest wait behind such a queue, so that what is served is served soon. */
const STANDING_WAIT_MS = 200;

interface Waiting {
  readonly caller: string;
  /** Has the place. */
  admit(): void;
}

/** No caller holds more places than are left free: one alone has half of them, and whoever comes next finds some. */
export const createPlaces = ({ places, burstWaitMs, now }: PlacesOptions): Places => {
  const held = new Map<string, number>();
  const queue = createFairQueue<Waiting>();
  let taken = 0;
  let standingSince = 0;
  const mayTake = (caller: string): boolean => (held.get(caller) ?? 0) < places - taken;
  const hold = (caller: string): void => {
    taken += 1;
    held.set(caller, (held.get(caller) ?? 0) + 1);
  };
  const release = (caller: string): void => {
    const rest = (held.get(caller) ?? 0) - 1;
    taken -= 1;
    if (rest > 0) held.set(caller, rest);
    else held.delete(caller);
  };
  const admitNext = (): void => {
    while (taken < places) {
      const next = queue.shift(mayTake);
      if (next === null) return;
      hold(next.caller);
      next.admit();
    }
  };
  const wait = (caller: string, leaving: Leaving): Promise<boolean> => {
    if (queue.size() === 0) standingSince = now();
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const end = (admitted: boolean) => {
      clearTimeout(timer);
      leaving.off('close', giveUp);
      resolve(admitted);
    };
    const giveUp = () => {
      queue.remove(caller, waiting);
      end(false);
    };
    const waiting: Waiting = { caller, admit: () => end(true) };
    const timer = setTimeout(giveUp, now() - standingSince > STANDING_MS ? STANDING_WAIT_MS : burstWaitMs);
    leaving.once('close', giveUp);
    queue.push(caller, waiting);
    return promise;
  };
  return {
    demand: () => taken + queue.size(),
    take: (caller, leaving) => {
      if (!mayTake(caller)) return wait(caller, leaving);
      hold(caller);
      return true;
    },
    giveBack: (caller) => {
      release(caller);
      admitNext();
    },
  };
};
