const HOUR_MS = 60 * 60 * 1000;
const SIGN_MS = 30 * 24 * HOUR_MS;
const PUBLISH_AHEAD_MS = 24 * HOUR_MS;
/** Life of a token, caches of the key set and skew of clocks together. */
const KEEP_AFTER_MS = 2 * HOUR_MS;

/** When a signing key is shown, signs and is forgotten: set once, so that every replica decides by the clock alone. */
export interface KeyTimeLine {
  /** Rises by one a key; unique, so that replicas which make a key at the same time agree on one. */
  readonly slot: number;
  readonly publishAt: Date;
  readonly signFrom: Date;
  readonly signUntil: Date;
  readonly dropAt: Date;
}

const timeLine = (slot: number, publishAt: Date, signFrom: Date): KeyTimeLine => {
  const signUntil = new Date(signFrom.getTime() + SIGN_MS);
  return { slot, publishAt, signFrom, signUntil, dropAt: new Date(signUntil.getTime() + KEEP_AFTER_MS) };
};

const successorOf = ({ slot, signUntil }: KeyTimeLine): KeyTimeLine =>
  timeLine(slot + 1, new Date(signUntil.getTime() - PUBLISH_AHEAD_MS), signUntil);

const bySlot = <L extends KeyTimeLine>(lines: readonly L[]): L[] => lines.toSorted((a, b) => a.slot - b.slot);

/** The time line of the key that has to be made now, or null. Without a key that signs, the new one signs at once. */
export const nextTimeLine = (existing: readonly KeyTimeLine[], now: Date): KeyTimeLine | null => {
  const last = bySlot(existing).at(-1);
  if (!last) return timeLine(0, now, now);
  if (!hasNotEnded(last, now)) return timeLine(last.slot + 1, now, now);
  const successor = successorOf(last);
  return successor.publishAt <= now ? successor : null;
};

/** Whether it may still sign. */
export const hasNotEnded = ({ signUntil }: KeyTimeLine, now: Date): boolean => now < signUntil;

/** The first key that has not ended signs, also for a replica whose clock is behind that of the one which made it. */
export const signingKeyOf = <L extends KeyTimeLine>(lines: readonly L[], now: Date): L | null =>
  bySlot(lines).find((line) => hasNotEnded(line, now)) ?? null;

/** Keys are made when they have to be shown, and are shown until the last of what they signed is over. */
export const isShownAt = ({ dropAt }: KeyTimeLine, now: Date): boolean => now < dropAt;
