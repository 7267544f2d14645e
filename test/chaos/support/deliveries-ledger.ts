import type { Standing } from './dispatcher-orders.ts';
import type { Arrival } from './verifying-receiver.ts';

export interface LedgerOptions {
  readonly arrivals: readonly Arrival[];
  readonly standing: Standing;
  /** The processes that were ended where they stood. */
  readonly killed: ReadonlySet<string>;
  /** How often the store went away under all processes. */
  readonly storeRestarts: number;
}

/** What came, beside what is recorded of it. */
export interface Ledger {
  /** Pairs of a bubble and a subscription that something came of. */
  readonly arrived: number;
  /** Those of them that came under more than one delivery id, or under the id of another. */
  readonly confused: readonly string[];
  /** Deliveries that are recorded and of which nothing came. */
  readonly unsent: readonly string[];
  /** Deliveries that came and are not recorded, or with fewer POSTs than are recorded. */
  readonly unrecorded: readonly string[];
  /** POSTs beyond the recorded attempts. */
  readonly repeated: number;
  /** Deliveries that came more often than recorded attempts and crashes under them explain. */
  readonly unexplained: readonly string[];
}

/** An attempt that was given up for lost was none. */
const wasSent = (outcome: string): boolean => outcome !== 'worker_lost';

export const ledgerOf = ({ arrivals, standing, killed, storeRestarts }: LedgerOptions): Ledger => {
  const pairOf = ({ bubbleId, subscriptionId }: Arrival) => `${bubbleId} ${subscriptionId}`;
  const byPair = Map.groupBy(arrivals, pairOf);
  const byId = Map.groupBy(arrivals, ({ deliveryId }) => deliveryId);
  const recorded = new Map(standing.deliveries.map(({ id, outcomes }) => [id, outcomes.filter(wasSent).length]));
  const posts = (id: string) => byId.get(id) ?? [];
  const extra = (id: string) => posts(id).length - (recorded.get(id) ?? 0);
  const crashesUnder = (id: string) =>
    new Set(posts(id).flatMap(({ sender }) => (killed.has(sender) ? [sender] : []))).size + storeRestarts;
  const of = (key: (arrival: Arrival) => string, those: readonly Arrival[]) => new Set(those.map(key)).size;
  return {
    arrived: byPair.size,
    confused: [
      ...[...byPair].flatMap(([pair, those]) => (of(({ deliveryId }) => deliveryId, those) === 1 ? [] : [pair])),
      ...[...byId].flatMap(([id, those]) => (of(pairOf, those) === 1 ? [] : [id])),
    ],
    unsent: standing.deliveries.flatMap(({ id }) => (byId.has(id) ? [] : [id])),
    unrecorded: [...byId.keys()].filter((id) => !recorded.has(id) || extra(id) < 0),
    repeated: [...byId.keys()].reduce((sum, id) => sum + extra(id), 0),
    unexplained: [...byId.keys()].filter((id) => extra(id) > crashesUnder(id)),
  };
};
