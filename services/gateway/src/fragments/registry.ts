import type { Clock } from '@bubbles/kernel/clock.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import type { Fault, Fragment } from '../documents/fragment.ts';
import type { OwnedPrefixes } from '../documents/ownership.ts';
import { type RoutingTable, routingTable } from '../documents/routing-table.ts';
import { acceptFragments, newestOf, type Sighting } from '../documents/sightings.ts';
import { sightingBook } from './sighting-book.ts';

export interface FragmentReport {
  readonly service: string;
  readonly hash: string;
  readonly source: Sighting['source'];
  readonly accepted: boolean;
  readonly ageSeconds: number;
}

/** What the services serve, as far as it is accepted. */
export interface FragmentRegistry {
  /** One reference, swapped whole: a request keeps the one that it began with. */
  table(): RoutingTable;
  /** Does anything tell what the service serves? */
  knows(service: string): boolean;
  /** A replica has shown this fragment; `text` is null when it is the one that it had shown before. */
  shown(service: string, hash: string, text: string | null): void;
  /** Brings table and document up to date with what was shown. */
  rebuild(): void;
  report(): readonly FragmentReport[];
}

export interface RegistryOptions {
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

export const fragmentRegistry = (options: RegistryOptions): FragmentRegistry => {
  const { own, baked, prefixes, clock, onChange } = options;
  const book = sightingBook(clock);
  const complain = complaints(options);
  let accepted: readonly Sighting[] = [];
  let table = routingTable(own.operations);
  let newest = '';

  const shown = (service: string, { hash, text, source }: { hash: string; text: string | null; source: Sighting['source'] }) => {
    if (book.saw(service, hash) || text === null) return;
    const fault = book.add(service, { hash, text, source });
    if (fault !== null) complain(service, hash, fault);
  };
  const rebuild = () => {
    const result = acceptFragments({ own, candidates: book.candidates(), before: accepted, prefixes });
    for (const { sighting, fault } of result.refused) complain(sighting.fragment.service, sighting.hash, fault);
    accepted = result.accepted;
    table = routingTable([...accepted.flatMap(({ fragment }) => fragment.operations), ...own.operations]);
    book.prune(accepted);
    const current = newestOf(accepted);
    const key = current.map(keyOf).toSorted().join();
    if (key !== newest) onChange([own, ...current.map(({ fragment }) => fragment)]);
    newest = key;
  };

  for (const [service, text] of baked) shown(service, { hash: 'baked', text, source: 'baked' });
  rebuild();
  return {
    table: () => table,
    knows: (service) => accepted.some(({ fragment }) => fragment.service === service),
    shown: (service, hash, text) => shown(service, { hash, text, source: 'live' }),
    rebuild,
    report: () => {
      const keys = new Set(accepted.map(keyOf));
      return book.all().map((sighting) => describeSighting(sighting, keys.has(keyOf(sighting)), clock.monotonic()));
    },
  };
};

const keyOf = ({ hash, fragment }: Sighting): string => `${fragment.service} ${hash}`;

const describeSighting = ({ fragment, hash, source, lastSeen }: Sighting, accepted: boolean, now: number): FragmentReport => ({
  service: fragment.service,
  hash,
  source,
  accepted,
  ageSeconds: Math.round((now - lastSeen) / 1000),
});

/** A fragment that is refused is refused again with every poll; it is told once. */
const complaints = ({ log, onRejected }: Pick<RegistryOptions, 'log' | 'onRejected'>) => {
  const told = new Set<string>();
  return (service: string, hash: string, { code, detail }: Fault): void => {
    const key = `${service} ${hash} ${code}`;
    if (told.has(key)) return;
    told.add(key);
    onRejected(service, code);
    log.error('fragment refused', { fragment_of: service, code, detail });
  };
};
