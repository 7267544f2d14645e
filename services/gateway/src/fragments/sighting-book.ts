import type { Clock } from '@bubbles/kernel/clock.ts';
import { type Fault, readFragment } from '../documents/fragment.ts';
import { counting, type Sighting } from '../documents/sightings.ts';
import { parsedJson } from '../messages/json.ts';

export interface Shown {
  readonly hash: string;
  readonly text: string;
  readonly source: Sighting['source'];
}

/** Which fragments were seen, and when. */
export interface SightingBook {
  /** True when this fragment is known already; its time is noted. */
  saw(service: string, hash: string): boolean;
  /** Null, or why the text cannot be used. */
  add(service: string, shown: Shown): Fault | null;
  candidates(): readonly Sighting[];
  /** Forgets what counts no more. */
  prune(accepted: readonly Sighting[]): void;
  all(): readonly Sighting[];
}

export const sightingBook = (clock: Clock): SightingBook => {
  const pages = new Map<string, readonly Sighting[]>();
  const candidates = () => [...pages.values()].flatMap((seen) => counting(seen, clock.monotonic()));
  return {
    saw: (service, hash) => {
      const seen = pages.get(service) ?? [];
      const lastSeen = clock.monotonic();
      pages.set(
        service,
        seen.map((sighting) => (sighting.hash === hash ? { ...sighting, lastSeen } : sighting)),
      );
      return seen.some((sighting) => sighting.hash === hash);
    },
    add: (service, { hash, text, source }) => {
      const fragment = readFragment(service, parsedJson(text));
      if ('code' in fragment) return fragment;
      const now = clock.monotonic();
      pages.set(service, [...(pages.get(service) ?? []), { hash, fragment, source, firstSeen: now, lastSeen: now }]);
      return null;
    },
    candidates,
    prune: (accepted) => {
      const kept = new Set([...candidates(), ...accepted].map(({ hash, fragment }) => `${fragment.service} ${hash}`));
      for (const [service, seen] of pages)
        pages.set(
          service,
          seen.filter(({ hash, source }) => source === 'baked' || kept.has(`${service} ${hash}`)),
        );
    },
    all: () => [...pages.values()].flat(),
  };
};
