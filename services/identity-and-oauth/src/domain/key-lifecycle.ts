const HOUR_MS = 60 * 60 * 1000;
const SIGN_MS = 30 * 24 * HOUR_MS;
const PUBLISH_AHEAD_MS = 24 * HOUR_MS;

/** When it is, and for how long after the end of its signing a key stays published. */
interface Moment {
  readonly now: Date;
  readonly keepAfterMs: number;
}

/** When a signing key is published, signs and is deleted: set once, so that every replica decides by the clock alone. */
export interface KeyLifecycle {
  /** Rises by one per key; unique, so that replicas which make a key at the same time agree on one. */
  readonly slot: number;
  readonly publishAt: Date;
  readonly signFrom: Date;
  readonly signUntil: Date;
  readonly deleteAt: Date;
}

const lifecycle = ({ slot, publishAt, signFrom }: Omit<KeyLifecycle, 'signUntil' | 'deleteAt'>, keepAfterMs: number): KeyLifecycle => {
  const signUntil = new Date(signFrom.getTime() + SIGN_MS);
  return { slot, publishAt, signFrom, signUntil, deleteAt: new Date(signUntil.getTime() + keepAfterMs) };
};

const bySlot = <L extends KeyLifecycle>(keys: readonly L[]): L[] => keys.toSorted((a, b) => a.slot - b.slot);

/** The lifecycle of the key that has to be made now, or null. Without a key that signs, the new one signs at once. */
export const nextLifecycle = (existing: readonly KeyLifecycle[], { now, keepAfterMs }: Moment): KeyLifecycle | null => {
  const last = bySlot(existing).at(-1);
  const slot = last ? last.slot + 1 : 0;
  if (!last || !maySign(last, now)) return lifecycle({ slot, publishAt: now, signFrom: now }, keepAfterMs);
  const publishAt = new Date(last.signUntil.getTime() - PUBLISH_AHEAD_MS);
  return publishAt <= now ? lifecycle({ slot, publishAt, signFrom: last.signUntil }, keepAfterMs) : null;
};

export const maySign = ({ signUntil }: KeyLifecycle, now: Date): boolean => now < signUntil;

/** The first key that may still sign does, also for a replica whose clock is behind that of the one which made it. */
export const signingKeyOf = <L extends KeyLifecycle>(keys: readonly L[], now: Date): L | null =>
  bySlot(keys).find((key) => maySign(key, now)) ?? null;

/**
 * Keys are made when they have to be published, and stay published until the last token that they signed has expired: later than they were made for
 * when tokens have been given a longer life since.
 */
export const publishedKeys = <L extends KeyLifecycle>(keys: readonly L[], { now, keepAfterMs }: Moment): L[] =>
  keys.filter(({ signUntil, deleteAt }) => now < deleteAt || now.getTime() < signUntil.getTime() + keepAfterMs);
