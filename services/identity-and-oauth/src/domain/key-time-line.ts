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

/** The time line of the key that has to be made now, or null. Without a key that signs, the new one signs at once. */
export const nextTimeLine = (existing: readonly KeyTimeLine[], now: Date): KeyTimeLine | null => {
  const last = existing.reduce<KeyTimeLine | null>((latest, one) => (latest && latest.slot > one.slot ? latest : one), null);
  if (!last) return timeLine(0, now, now);
  if (last.signUntil <= now) return timeLine(last.slot + 1, now, now);
  if (last.signUntil.getTime() - PUBLISH_AHEAD_MS > now.getTime()) return null;
  return timeLine(last.slot + 1, new Date(last.signUntil.getTime() - PUBLISH_AHEAD_MS), last.signUntil);
};

export const signsAt = (line: KeyTimeLine, now: Date): boolean => line.signFrom <= now && now < line.signUntil;
export const isShownAt = (line: KeyTimeLine, now: Date): boolean => line.publishAt <= now && now < line.dropAt;
