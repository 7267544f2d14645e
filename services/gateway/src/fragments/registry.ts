import type { Clock } from '@bubbles/kernel/clock.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import { type Fault, type Fragment, readFragment } from '../documents/fragment.ts';
import { acceptFragments, effective, newestOf, type OwnedPrefixes, type SeenFragment } from '../documents/ownership.ts';
import { RoutingTable } from '../documents/routing-table.ts';
import { parsedJson } from '../messages/json.ts';

export interface FragmentReport {
  readonly service: string;
  readonly hash: string;
  readonly source: SeenFragment['source'];
  readonly accepted: boolean;
  readonly ageSeconds: number;
}

/** What the services serve, as far as it is accepted. */
export interface FragmentRegistry {
  readonly table: RoutingTable;
  /** Does anything tell what the service serves? */
  knows(service: string): boolean;
  /** A replica has shown this fragment; `text` is null when it is the one that it had shown before. */
  shown(service: string, hash: string, text: string | null): void;
  /** Brings table and document up to date with what was shown. */
  rebuild(): void;
  report(): readonly FragmentReport[];
}

interface RegistryOptions {
  readonly own: Fragment;
  /** Text of the fragments that came with the image, by service. */
  readonly baked: ReadonlyMap<string, string>;
  readonly prefixes: OwnedPrefixes;
  readonly clock: Clock;
  readonly log: Log;
  /** The newest fragments are others than before: the document may have to follow. */
  readonly onChange: (fragments: readonly Fragment[]) => void;
  readonly onRejected: (service: string, code: string) => void;
}

export const createFragmentRegistry = (options: RegistryOptions): FragmentRegistry => {
  const { own, baked, prefixes, clock, onChange } = options;
  const seen = fragmentLog(clock);
  const reportFault = reportOnce(options);
  let accepted: readonly SeenFragment[] = [];
  const table = new RoutingTable(own.operations);
  let newest = '';

  const shown = (service: string, { hash, text, source }: { hash: string; text: string | null; source: SeenFragment['source'] }) => {
    if (seen.recordSeen(service, hash) || text === null) return;
    const fragment = readFragment(service, parsedJson(text));
    if ('code' in fragment) reportFault(service, hash, fragment);
    else seen.add({ hash, fragment, source });
  };
  const rebuild = () => {
    const result = acceptFragments({ own, candidates: seen.effective(), before: accepted, prefixes });
    for (const { seen: refused, fault } of result.refused) reportFault(refused.fragment.service, refused.hash, fault);
    accepted = result.accepted;
    table.replace([...accepted.flatMap(({ fragment }) => fragment.operations), ...own.operations]);
    seen.prune(accepted);
    const current = newestOf(accepted);
    const key = current.map(keyOf).toSorted().join();
    if (key !== newest) onChange([own, ...current.map(({ fragment }) => fragment)]);
    newest = key;
  };

  for (const [service, text] of baked) shown(service, { hash: 'baked', text, source: 'baked' });
  rebuild();
  return {
    table,
    knows: (service) => accepted.some(({ fragment }) => fragment.service === service),
    shown: (service, hash, text) => shown(service, { hash, text, source: 'live' }),
    rebuild,
    report: () => {
      const keys = new Set(accepted.map(keyOf));
      const now = clock.monotonic();
      return seen.all().map((one) => ({
        service: one.fragment.service,
        hash: one.hash,
        source: one.source,
        accepted: keys.has(keyOf(one)),
        ageSeconds: Math.round((now - one.lastSeen) / 1000),
      }));
    },
  };
};

const keyOf = ({ hash, fragment }: Pick<SeenFragment, 'hash' | 'fragment'>): string => `${fragment.service} ${hash}`;

/** Which fragments were seen, and when. */
const fragmentLog = (clock: Clock) => {
  const byService = new Map<string, readonly SeenFragment[]>();
  const effectiveNow = () => [...byService.values()].flatMap((seen) => effective(seen, clock.monotonic()));
  return {
    /** True when this fragment is known already; its time is noted. */
    recordSeen: (service: string, hash: string): boolean => {
      const seen = byService.get(service) ?? [];
      const lastSeen = clock.monotonic();
      byService.set(
        service,
        seen.map((one) => (one.hash === hash ? { ...one, lastSeen } : one)),
      );
      return seen.some((one) => one.hash === hash);
    },
    add: (added: Pick<SeenFragment, 'hash' | 'fragment' | 'source'>): void => {
      const { service } = added.fragment;
      const now = clock.monotonic();
      byService.set(service, [...(byService.get(service) ?? []), { ...added, firstSeen: now, lastSeen: now }]);
    },
    effective: effectiveNow,
    /** Forgets what counts no more. */
    prune: (accepted: readonly SeenFragment[]): void => {
      const kept = new Set([...effectiveNow(), ...accepted].map(keyOf));
      for (const [service, seen] of byService)
        byService.set(
          service,
          seen.filter((one) => one.source === 'baked' || kept.has(keyOf(one))),
        );
    },
    all: (): readonly SeenFragment[] => [...byService.values()].flat(),
  };
};

/** A fragment that is refused is refused again with every poll; it is reported once. */
const reportOnce = ({ log, onRejected }: Pick<RegistryOptions, 'log' | 'onRejected'>) => {
  const reported = new Set<string>();
  return (service: string, hash: string, { code, detail }: Fault): void => {
    const key = `${service} ${hash} ${code}`;
    if (reported.has(key)) return;
    reported.add(key);
    onRejected(service, code);
    log.error('fragment refused', { fragmentOf: service, code, detail });
  };
};
