import type { Clock } from '@bubbles/kernel/clock.ts';
import type { Position } from '../domain/ranking.ts';
import type { ParsedQuery } from '../domain/search-query.ts';
import type { BubbleStore, ListFilters, ListRow, SearchIndex } from '../ports.ts';

interface Ports {
  readonly bubbles: BubbleStore;
  readonly index: SearchIndex;
  readonly clock: Clock;
}

interface Search {
  readonly userId: string;
  readonly words: ParsedQuery;
  readonly filters: ListFilters;
  readonly after: Position | null;
  readonly limit: number;
}
interface Hit {
  readonly position: Position;
  readonly row: ListRow;
}

/** Hits that turn out to be unreadable are replaced; at least this many are verified at once. */
const MIN_VERIFIED_AT_ONCE = 25;

const pull = async (hits: AsyncIterator<Position>, count: number): Promise<Position[]> => {
  const pulled: Position[] = [];
  while (pulled.length < count) {
    const next = await hits.next();
    if (next.done === true) break;
    pulled.push(next.value);
  }
  return pulled;
};

/** Hits of the index that are rows of this caller now, in the index's order. */
const verifier =
  ({ bubbles, clock }: Pick<Ports, 'bubbles' | 'clock'>, { userId, filters }: Search) =>
  async (positions: readonly Position[]): Promise<Hit[]> => {
    const ids = positions.map(({ id }) => id);
    const rows = new Map((await bubbles.rowsAmong(ids, { userId, filters, now: clock.now() })).map((row) => [row.id, row]));
    return positions.flatMap((position) => {
      const row = rows.get(position.id);
      return row === undefined ? [] : [{ position, row }];
    });
  };

/** No row leaves that the bubbles themselves do not give to this caller, whatever the index says. */
export const searchBubbles =
  ({ bubbles, index, clock }: Ports) =>
  async (search: Search): Promise<Hit[]> => {
    const { userId, words: query, filters, after, limit } = search;
    const verified = verifier({ bubbles, clock }, search);
    const positions = index.search(userId, { query, filters, after, nowMs: clock.now().getTime() });
    const hits: Hit[] = [];
    while (hits.length < limit) {
      const pulled = await pull(positions, Math.max(limit - hits.length, MIN_VERIFIED_AT_ONCE));
      if (pulled.length === 0) break;
      for (const one of await verified(pulled)) hits.push(one);
    }
    await positions.return(undefined);
    return hits.slice(0, limit);
  };
