import type { Fault, Fragment } from './fragment.ts';
import { claimFault, type OwnedPrefixes } from './ownership.ts';

/** A fragment that a replica has shown, or that came with the image. Times are monotonic milliseconds. */
export interface Sighting {
  readonly hash: string;
  readonly fragment: Fragment;
  readonly source: 'baked' | 'live';
  readonly firstSeen: number;
  readonly lastSeen: number;
}

/** How long a version of a service that no replica shows any more still counts: a rollout has two at once. */
export const COUNTS_MS = 60_000;

/** What counts of one service's fragments: all that were shown lately; when none was, the one shown last, for as long as it takes. */
export const counting = (sightings: readonly Sighting[], now: number): readonly Sighting[] => {
  const live = sightings.filter(({ source }) => source === 'live');
  const known = live.length > 0 ? live : sightings;
  const recent = known.filter(({ lastSeen }) => now - lastSeen <= COUNTS_MS);
  return recent.length > 0 ? recent : known.toSorted((a, b) => b.lastSeen - a.lastSeen).slice(0, 1);
};

export interface Accepted {
  /** In the order in which they were first seen. */
  readonly accepted: readonly Sighting[];
  readonly refused: readonly { readonly sighting: Sighting; readonly fault: Fault }[];
}

interface Claims {
  /** The gateway's own, which nobody can claim. */
  readonly own: Fragment;
  readonly candidates: readonly Sighting[];
  /** Accepted before: who was there first stays, and is what remains of a service whose newer fragments are refused. */
  readonly before: readonly Sighting[];
  readonly prefixes: OwnedPrefixes;
}

export const acceptFragments = ({ own, candidates, before, prefixes }: Claims): Accepted => {
  const accepted: Sighting[] = [];
  const refused: { sighting: Sighting; fault: Fault }[] = [];
  const consider = (sighting: Sighting) => {
    const fault = claimFault(sighting.fragment, [own, ...accepted.map(({ fragment }) => fragment)], prefixes);
    if (fault === null) accepted.push(sighting);
    else refused.push({ sighting, fault });
  };
  const wasAccepted = new Set(before.map(keyOf));
  const [known, unknown] = [true, false].map((wanted) => candidates.filter((sighting) => wasAccepted.has(keyOf(sighting)) === wanted));
  for (const sighting of [...(known ?? []), ...(unknown ?? []).toSorted(byFirstSeen)]) consider(sighting);
  for (const last of before.toReversed()) if (!accepted.some(({ fragment }) => fragment.service === last.fragment.service)) consider(last);
  return { accepted: accepted.toSorted(byFirstSeen), refused };
};

const keyOf = ({ hash, fragment }: Sighting): string => `${fragment.service} ${hash}`;
const byFirstSeen = (a: Sighting, b: Sighting): number => a.firstSeen - b.firstSeen;

/** The newest fragment of each service: what the document shows. */
export const newestOf = (accepted: readonly Sighting[]): readonly Sighting[] => [
  ...new Map(accepted.map((sighting) => [sighting.fragment.service, sighting])).values(),
];
