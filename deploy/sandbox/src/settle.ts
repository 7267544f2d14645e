import type { Bus, EventDefinition } from '@bubbles/bus/bus.ts';
import type { MemoryBus } from '@bubbles/bus/memory/memory.ts';
import type { SettleScope } from '@bubbles/host/service.ts';
import { withTimeout } from '@bubbles/kernel/concurrency.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import { OUTBOX_INDEX, type OutboxDoc, UNCLAIMED } from '@bubbles/store/aggregates.ts';
import type { Collection, Database, Doc } from '@bubbles/store/collection.ts';

/** The outboxes of all services, seen from outside: whatever relays there are, or are not. */
export interface Outboxes {
  /** The same database, whose collections of aggregates are watched from the moment that they declare the index of outboxes. */
  watched(name: string, database: Database): Database;
  /** Events that wait, by their ids: where each lies, and its type. */
  waiting(): Promise<ReadonlyMap<string, string>>;
}

/** Aggregates looked at in one collection; one is enough to know that something waits. */
const AGGREGATES_LOOKED_AT = 100;

export const createOutboxWatch = (): Outboxes => {
  const collections = new Map<string, Collection<OutboxDoc>>();
  const watch = <T extends Doc>(place: string, collection: Collection<T>): Collection<T> => ({
    ...collection,
    ensureIndexes: (indexes, dropped) => {
      // A collection with the index of outboxes holds documents with outboxes.
      if (indexes.some(({ name }) => name === OUTBOX_INDEX.name)) collections.set(place, collection as unknown as Collection<OutboxDoc>);
      return collection.ensureIndexes(indexes, dropped);
    },
  });
  return {
    watched: (name, database) => ({
      ...database,
      collection: <T extends Doc>(collection: string) => watch(`${name}/${collection}`, database.collection<T>(collection)),
    }),
    async waiting() {
      const found = new Map<string, string>();
      for (const [place, collection] of collections) {
        const documents = await collection.find({ outboxAt: { $gt: UNCLAIMED.relayUntil } }, { limit: AGGREGATES_LOOKED_AT });
        for (const { id, type } of documents.flatMap(({ outbox }) => outbox)) found.set(id, `${type} in ${place}`);
      }
      return found;
    },
  };
};

/** The same bus, with a count of what was handed to it and not given back: work that made other work. What a consumer that is down refuses makes none. */
export interface CountedBus extends MemoryBus {
  published(): number;
}

export function countedBus(bus: MemoryBus): CountedBus {
  let count = 0;
  const counting = (end: Bus): Bus => ({
    ...end,
    async publish(definition: EventDefinition, event) {
      count += 1;
      try {
        await end.publish(definition, event);
      } catch (error) {
        count -= 1;
        throw error;
      }
    },
  });
  return { ...bus, ...counting(bus), connect: () => counting(bus.connect()), published: () => count };
}

interface Settling {
  readonly bus: CountedBus;
  /** Each resolves when its part has done all that is due. In the order in which work flows, so that one round mostly suffices. */
  readonly parts: () => readonly ((scope: SettleScope) => Promise<void>)[];
  /** Events that wait in outboxes, by their ids: what and where. */
  readonly waiting: () => Promise<ReadonlyMap<string, string>>;
  /** Something was taken down, for which events may wait as long as it is. */
  readonly isPartial: () => boolean;
}

/** Resolves when a whole round made no new work; rejects when an event does not leave its outbox though everybody is up, and after the limit. */
export type Settle = (scope: SettleScope, limitMs?: number) => Promise<void>;

const LIMIT_MS = 30_000;

export const settling = ({ bus, parts, waiting, isPartial }: Settling): Settle => {
  const round = async (scope: SettleScope) => {
    bus.retryNow();
    for (const settle of parts()) {
      await settle(scope);
      await bus.idle();
    }
  };
  const rounds = async (scope: SettleScope) => {
    for (let before = -1; before !== bus.published(); ) {
      before = bus.published();
      await round(scope);
    }
  };
  /** What another call has just written is no longer there after one more round. */
  const checkOutboxes = async () => {
    const before = isPartial() ? new Map<string, string>() : await waiting();
    if (before.size === 0) return;
    await round('facts');
    const after = await waiting();
    const stuck = [...before].filter(([id]) => after.has(id)).map(([, event]) => event);
    if (stuck.length === 0 || isPartial()) return;
    throw new DomainError(
      'internal',
      `An event stays in its outbox: no relay sends it, or no consumer takes it: ${[...new Set(stuck)].join('; ')}.`,
    );
  };

  return (scope, limitMs = LIMIT_MS) => {
    const error = () => new DomainError('internal', `Something is still in flight after ${Math.round(limitMs / 1000)} seconds.`);
    return withTimeout(limitMs, () => rounds(scope).then(checkOutboxes), { error });
  };
};
