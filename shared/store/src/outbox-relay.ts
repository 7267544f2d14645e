import type { Bus, EventDefinition } from '@bubbles/bus/bus.ts';
import type { Clock } from '@bubbles/kernel/clock.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import type { Loop } from '@bubbles/kernel/loop.ts';
import { type OutboxDoc, UNCLAIMED } from './aggregates.ts';
import type { Collection } from './collection.ts';
import { createWorkQueue, type Lease, type WorkQueue } from './work/work-queue.ts';
import { createWorker } from './work/worker.ts';

interface OutboxRelayOptions {
  readonly collections: readonly Collection<OutboxDoc>[];
  /** Every event that the collections may hold. */
  readonly definitions: readonly EventDefinition[];
  readonly bus: Bus;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
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

/** Publishes the events of an aggregate in their order, under a lease. Those that could not be published stay. */
const relayOf = (options: OutboxRelayOptions, collection: Collection<OutboxDoc>): Loop => {
  const { definitions, bus, clock, ids, log } = options;
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
    leaseMs: LEASE_MS,
    pollMs: POLL_MS,
    concurrency: CONCURRENCY,
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
