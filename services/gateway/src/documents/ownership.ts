import { GATEWAY, SERVICES, type ServiceTable } from '@bubbles/contracts/services.ts';
import { type Fault, type Fragment, isWithin, shapeOf } from './fragment.ts';

/** Service → the prefixes that are its own. */
export type OwnedPrefixes = Readonly<Record<string, readonly string[]>>;

/** Which service owns which paths; operations below a prefix come from the services themselves. */
export const prefixesIn = (services: ServiceTable): OwnedPrefixes => ({
  ...Object.fromEntries(Object.entries(services).map(([name, { prefixes }]) => [name, prefixes])),
  // The longest prefix decides: the last one is for what nobody else has.
  [GATEWAY]: ['/v1/openapi.json', '/docs', '/'],
});
export const OWNED_PREFIXES = prefixesIn(SERVICES);

/** The service whose prefix holds the path; the longest prefix wins. */
export const ownerOf = (path: string, prefixes: OwnedPrefixes): string | null => {
  let owner: string | null = null;
  let length = -1;
  for (const [service, owned] of Object.entries(prefixes)) {
    for (const prefix of owned) {
      if (prefix.length <= length || !isWithin(path, prefix)) continue;
      owner = service;
      length = prefix.length;
    }
  }
  return owner;
};

/** Why a fragment may not join those that are accepted: a service cannot claim what another owns. Routing refuses such a fragment whole. */
export const claimFault = (candidate: Fragment, accepted: readonly Fragment[], prefixes: OwnedPrefixes): Fault | null => {
  for (const { template, service } of candidate.operations)
    if (ownerOf(template, prefixes) !== service)
      return { code: 'foreign_prefix', detail: `${template} is not within the prefixes of ${service}` };
  return overlapFault(candidate, accepted);
};

const overlapFault = (candidate: Fragment, accepted: readonly Fragment[]): Fault | null => {
  const others = accepted.filter(({ service }) => service !== candidate.service).flatMap(({ operations }) => operations);
  const claimed = new Map(others.map(({ method, template, service }) => [`${method} ${template}`, service]));
  const templates = new Map([...others, ...candidate.operations].map(({ template }) => [shapeOf(template), template]));
  for (const { method, template } of candidate.operations) {
    const owner = claimed.get(`${method} ${template}`);
    if (owner !== undefined) return { code: 'claimed_operation', detail: `${method} ${template} belongs to ${owner}` };
    const twin = templates.get(shapeOf(template));
    if (twin !== template) return { code: 'ambiguous_path', detail: `${template} matches the same paths as ${twin}` };
  }
  return null;
};

/** A fragment that a replica has shown, or that came with the image. Times are monotonic milliseconds. */
export interface SeenFragment {
  readonly hash: string;
  readonly fragment: Fragment;
  readonly source: 'baked' | 'live';
  readonly firstSeen: number;
  readonly lastSeen: number;
}

/** How long a fragment still counts that no replica shows any more: during a rollout a service has two at once. */
const FRAGMENT_TTL_MS = 60_000;

/** The fragments of one service that count: all that were shown lately; when none was, the one shown last, for as long as it takes. */
export const effective = (fragments: readonly SeenFragment[], now: number): readonly SeenFragment[] => {
  const live = fragments.filter(({ source }) => source === 'live');
  const known = live.length > 0 ? live : fragments;
  const recent = known.filter(({ lastSeen }) => now - lastSeen <= FRAGMENT_TTL_MS);
  return recent.length > 0 ? recent : known.toSorted((a, b) => b.lastSeen - a.lastSeen).slice(0, 1);
};

interface Accepted {
  /** In the order in which they were first seen. */
  readonly accepted: readonly SeenFragment[];
  readonly refused: readonly { readonly seen: SeenFragment; readonly fault: Fault }[];
}

interface Claims {
  /** The gateway's own, which nobody can claim. */
  readonly own: Fragment;
  readonly candidates: readonly SeenFragment[];
  /** Fragments accepted before. They stay when another fragment claims the same operation, or when newer fragments of the service are refused. */
  readonly before: readonly SeenFragment[];
  readonly prefixes: OwnedPrefixes;
}

export const acceptFragments = ({ own, candidates, before, prefixes }: Claims): Accepted => {
  const accepted: SeenFragment[] = [];
  const refused: { seen: SeenFragment; fault: Fault }[] = [];
  const consider = (seen: SeenFragment) => {
    const fault = claimFault(seen.fragment, [own, ...accepted.map(({ fragment }) => fragment)], prefixes);
    if (fault === null) accepted.push(seen);
    else refused.push({ seen, fault });
  };
  const wasAccepted = new Set(before.map(keyOf));
  const [known, unknown] = [true, false].map((wanted) => candidates.filter((seen) => wasAccepted.has(keyOf(seen)) === wanted));
  for (const seen of [...(known ?? []), ...(unknown ?? []).toSorted(byFirstSeen)]) consider(seen);
  for (const last of before.toReversed()) if (!accepted.some(({ fragment }) => fragment.service === last.fragment.service)) consider(last);
  return { accepted: accepted.toSorted(byFirstSeen), refused };
};

const keyOf = ({ hash, fragment }: SeenFragment): string => `${fragment.service} ${hash}`;
const byFirstSeen = (a: SeenFragment, b: SeenFragment): number => a.firstSeen - b.firstSeen;

/** The newest fragment of each service: what the document shows. */
export const newestOf = (accepted: readonly SeenFragment[]): readonly SeenFragment[] => [
  ...new Map(accepted.map((seen) => [seen.fragment.service, seen])).values(),
];
