import type { Bus, EventDefinition } from '@bubbles/bus/bus.ts';
import type { Clock } from '@bubbles/kernel/clock.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import { type Loop, startLoop } from '@bubbles/kernel/loop.ts';
import type { Collection } from './collection.ts';
import { type OutboxDoc, UNCLAIMED } from './outbox.ts';

export interface OutboxRelayOptions {
  readonly collections: readonly Collection<OutboxDoc>[];
  /** Every event that the collections may hold. */
  readonly definitions: readonly EventDefinition[];
  readonly bus: Bus;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** Takes over at once what a relay that is gone had claimed: only where no other relay can be at work. */
  readonly releaseAtStart?: boolean;
}

interface Claim {
  readonly doc: OutboxDoc;
  readonly by: string;
}

const LEASE_MS = 10_000;
const POLL_MS = 500;
/** Aggregates relayed at the same time. */
const WINDOW = 16;
/** A run that failed for so many aggregates ends: the broker is away, not a consumer. */
const MAX_FAILURES = 32;

/** Events of one aggregate in their order, from one relay at a time; whatever it could not hand over stays. */
const aggregateRelay = ({ definitions, bus, clock, ids }: OutboxRelayOptions, collection: Collection<OutboxDoc>) => {
  const definitionOf = new Map(definitions.map((definition) => [definition.type, definition]));

  const publishInOrder = async ({ doc }: Claim, done: string[]) => {
    for (const event of doc.outbox) {
      if (clock.now() >= doc.relayUntil) return;
      const definition = definitionOf.get(event.type);
      if (!definition) throw new Error(`The outbox of ${collection.name} holds an event that is not known: ${event.type}.`);
      await bus.publish(definition, event);
      done.push(event.id);
    }
  };
  const release = async ({ doc, by }: Claim, done: readonly string[]) => {
    const mine = { _id: doc._id, relayBy: by };
    if (done.length > 0) await collection.updateOne(mine, { $pull: { outbox: { id: { $in: [...done] } } } });
    // A writer may have added to it meanwhile.
    const emptied = await collection.updateOne({ ...mine, outbox: { $size: 0 } }, { $unset: { outboxAt: '' }, $set: UNCLAIMED });
    if (emptied === 'none') await collection.updateOne(mine, { $set: UNCLAIMED });
  };

  return {
    async claim(except: readonly string[]): Promise<Claim | null> {
      const [now, by] = [clock.now(), ids.uuid()];
      const doc = await collection.findOneAndUpdate(
        { outboxAt: { $lte: now }, relayUntil: { $lt: now }, _id: { $nin: [...except] } },
        { $set: { relayUntil: new Date(now.getTime() + LEASE_MS), relayBy: by } },
        { sort: { outboxAt: 1 } },
      );
      return doc && { doc, by };
    },
    async relay(claim: Claim): Promise<void> {
      const done: string[] = [];
      try {
        await publishInOrder(claim, done);
      } finally {
        await release(claim, done);
      }
    },
  };
};

/** Everything that waits in one collection; answers why what is left is left. */
const relayCollection = async (options: OutboxRelayOptions, collection: Collection<OutboxDoc>): Promise<unknown[]> => {
  const { claim, relay } = aggregateRelay(options, collection);
  const failures = new Map<string, unknown>();
  const inFlight = new Set<Promise<void>>();

  const begin = (claimed: Claim) => {
    const work = relay(claimed)
      .catch((error: unknown) => {
        failures.set(claimed.doc._id, error);
      })
      .finally(() => inFlight.delete(work));
    inFlight.add(work);
  };

  try {
    while (failures.size < MAX_FAILURES) {
      if (inFlight.size >= WINDOW) await Promise.race(inFlight);
      const claimed = await claim([...failures.keys()]);
      if (claimed) begin(claimed);
      else if (inFlight.size > 0) await Promise.race(inFlight);
      else break;
    }
  } finally {
    await Promise.all(inFlight);
  }
  return [...failures.values()];
};

/** Hands the events of outboxes to the bus: at once when poked, and by a sweep what a process that died had left. */
export function outboxRelay(options: OutboxRelayOptions): Loop {
  const { collections, clock, log } = options;
  let toRelease = options.releaseAtStart ?? false;

  const releaseAll = async () => {
    for (const collection of collections) await collection.updateMany({ outboxAt: { $gt: UNCLAIMED.relayUntil } }, { $set: UNCLAIMED });
    toRelease = false;
  };
  const run = async () => {
    if (toRelease) await releaseAll();
    const relayed = await Promise.allSettled(collections.map((collection) => relayCollection(options, collection)));
    const failures = relayed.flatMap((result) => (result.status === 'fulfilled' ? result.value : [result.reason]));
    if (failures.length > 0) throw new Error('Events wait in their outboxes.', { cause: failures[0] });
    return null;
  };
  return startLoop({ name: 'outbox-relay', clock, log, run, pollMs: POLL_MS });
}
