import type { Bus, EventDefinition } from '@bubbles/bus/bus.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import type { Loop, LoopContext } from '@bubbles/kernel/loop.ts';
import { type OutboxDoc, UNCLAIMED } from './aggregates.ts';
import type { Collection } from './collection.ts';
import { createWorkQueue, type Lease, type WorkQueue } from './work/work-queue.ts';
import { createWorker } from './work/worker.ts';

interface OutboxRelayOptions extends LoopContext {
  readonly collections: readonly Collection<OutboxDoc>[];
  /** Every event that the collections may hold. */
  readonly definitions: readonly EventDefinition[];
  readonly bus: Bus;
  readonly ids: Ids;
}

const LEASE_MS = 10_000;
const POLL_MS = 500;
/** Aggregates relayed at the same time. */
const CONCURRENCY = 16;

const outboxQueue = (collection: Collection<OutboxDoc>): WorkQueue<OutboxDoc> =>
  createWorkQueue({ collection, fields: { claimableAt: 'relayUntil', leaseToken: 'relayBy', dueAt: 'outboxAt' } });

/** Ends the leases of relays that are gone. Call it only where no other relay can be at work. */
export const releaseOutboxes = async (collections: readonly Collection<OutboxDoc>[], now: Date): Promise<void> => {
  for (const collection of collections) await outboxQueue(collection).releaseAll(now);
};

interface WaitingEvents {
  readonly count: number;
  /** Time of the oldest waiting event; null when none waits. */
  readonly oldest: Date | null;
}

const COUNTED_DOCUMENTS = 1000;
const COUNTED_AT_MOST = 10_000;

/**
 * Counts the events of a collection that the broker has not confirmed: exactly in the 1,000 documents that have waited longest, and one per document
 * for up to 10,000 documents. Reads only the index of waiting documents.
 */
export const waitingEvents = async (collection: Collection<OutboxDoc>): Promise<WaitingEvents> => {
  const waiting = { outboxAt: { $gt: UNCLAIMED.relayUntil } };
  const projection = { outboxAt: 1, 'outbox.id': 1 } as const;
  const first = await collection.find(waiting, { sort: { outboxAt: 1 }, limit: COUNTED_DOCUMENTS, projection });
  const events = first.reduce((sum, { outbox }) => sum + outbox.length, 0);
  const isAll = first.length < COUNTED_DOCUMENTS;
  const others = isAll ? 0 : (await collection.count(waiting, { limit: COUNTED_AT_MOST })) - first.length;
  return { count: events + others, oldest: first[0]?.outboxAt ?? null };
};

/** Publishes the events of an aggregate in their order, under a lease. Those that could not be published stay. */
const relayOf = (options: OutboxRelayOptions, collection: Collection<OutboxDoc>): Loop => {
  const { definitions, bus, clock, ids, log, onFailure } = options;
  const definitionOf = new Map(definitions.map((definition) => [definition.type, definition]));
  const queue = outboxQueue(collection);

  const publishInOrder = async ({ outbox }: OutboxDoc, { until }: Lease, done: string[]) => {
    for (const event of outbox) {
      if (clock.now() >= until) return;
      const definition = definitionOf.get(event.type);
      if (!definition) throw new Error(`The outbox of ${collection.name} holds an event that is not known: ${event.type}.`);
      await bus.publish(definition, event);
      done.push(event.id);
    }
  };
  const release = async ({ _id: id, outbox }: OutboxDoc, { token }: Lease, done: readonly string[]) => {
    const end = { id, token, claimableAt: UNCLAIMED.relayUntil };
    // Only the owner of the lease removes events, so an outbox of the same size is the one that was published.
    const emptied = { where: { outbox: { $size: done.length } }, update: { $set: { outbox: [] }, $unset: { outboxAt: '' } } } as const;
    if (done.length === outbox.length && (await queue.end({ ...end, ...emptied }))) return;
    await queue.end({ ...end, update: { $pull: { outbox: { id: { $in: [...done] } } } } });
    // A writer may have added to it meanwhile.
    if (done.length === outbox.length) worker.poke();
  };
  const worker = createWorker({
    name: `outbox-relay of ${collection.name}`,
    queue,
    clock,
    ids,
    log,
    onFailure,
    leaseMs: LEASE_MS,
    pollMs: POLL_MS,
    concurrency: CONCURRENCY,
    causedBy: ({ outbox }) => outbox[0]?.traceparent,
    async work(doc, lease) {
      const done: string[] = [];
      try {
        await publishInOrder(doc, lease, done);
      } finally {
        await release(doc, lease, done);
      }
    },
  });
  return worker;
};

/** Publishes the events of outboxes: at once when poked. Polls find what a process that died had left. */
export function createOutboxRelay(options: OutboxRelayOptions): Loop {
  const relays = options.collections.map((collection) => relayOf(options, collection));
  const all = async (act: (relay: Loop) => Promise<void>) => {
    await Promise.all(relays.map(act));
  };
  return {
    poke() {
      for (const relay of relays) relay.poke();
    },
    idle: () => all((relay) => relay.idle()),
    stop: () => all((relay) => relay.stop()),
  };
}
