import { currentTraceparent } from '@bubbles/kernel/trace.ts';
import {
  type AggregateStore,
  type AggregateStoreOptions,
  createAggregateStore,
  OUTBOX_INDEX,
  type Stored,
  stateOf,
} from '@bubbles/store/aggregates.ts';
import type { Collection, IndexSpec } from '@bubbles/store/collection.ts';
import type { OpenCollection } from '@bubbles/store/indexed-collections.ts';
import { createWorkQueue } from '@bubbles/store/work/work-queue.ts';
import type { Join } from '../../domain/join.ts';
import type { JoinStore } from '../../ports.ts';

/** With the `traceparent` of what asked for its present work; joins of earlier releases have none. */
type TracedJoin = Join & { readonly traceparent?: string | null };
export type JoinDoc = Stored<TracedJoin>;

const INDEXES: readonly IndexSpec[] = [
  OUTBOX_INDEX,
  { name: 'running_key', keys: { runningKey: 1 }, unique: true, sparse: true },
  { name: 'requester_created_at', keys: { requesterIds: 1, createdAt: -1, _id: -1 } },
  { name: 'requester_status_created_at', keys: { requesterIds: 1, status: 1, createdAt: -1, _id: -1 } },
  { name: 'bubble_id', keys: { bubbleId: 1 } },
  { name: 'link_until', keys: { linkUntil: 1 }, sparse: true },
  { name: 'work_due_at', keys: { work: 1, dueAt: 1 } },
  { name: 'work_provider_urgency_due_at', keys: { work: 1, provider: 1, urgency: 1, dueAt: 1 } },
  { name: 'provider_ref', keys: { provider: 1, providerRef: 1 } },
  { name: 'work_updated_at', keys: { work: 1, updatedAt: 1 } },
];
const WORKS = ['dispatch', 'watch', 'leave', 'capture', 'erase', 'refund'] as const satisfies readonly Join['work'][];
const STUCK = { tries: 3, overdueMs: 300_000 } as const;

const openQueues = (documents: Collection<JoinDoc>) => {
  const queueOf = (work: (typeof WORKS)[number], claimed: Partial<Join> = {}) =>
    createWorkQueue({
      collection: documents,
      fields: { claimableAt: 'dueAt', leaseToken: 'leaseToken' },
      pending: { work },
      // Without a new version, a write that began before the claim would remove the lease.
      onClaim: { $inc: { version: 1 }, $set: claimed },
    });
  return {
    // From its claim on a notetaker may be on its way, whether or not an answer comes.
    dispatch: queueOf('dispatch', { isAsked: true }),
    watch: queueOf('watch'),
    leave: queueOf('leave'),
    // What the provider told before is known by what it answers from now on.
    capture: queueOf('capture', { hintedAt: null }),
    erase: queueOf('erase'),
    refund: queueOf('refund'),
  };
};

const withTraces = ({ insert, get, update }: AggregateStore<TracedJoin>): AggregateStore<Join> => ({
  insert: (join, events) => insert({ ...join, traceparent: currentTraceparent() }, events),
  get,
  update: (id, change) =>
    update(id, (join) => {
      const changed = change(join);
      if (changed === null || changed.state.work === join.work) return changed;
      return { ...changed, state: { ...changed.state, traceparent: currentTraceparent() } };
    }),
});

/** The store, the collection whose documents carry events, and the queues of what is to be done with joins. */
export const openJoins = (open: OpenCollection, options: AggregateStoreOptions) => {
  const documents = open<JoinDoc>('joins', INDEXES);
  const found = (doc: JoinDoc | null) => doc && stateOf<Join>(doc);
  const joins: JoinStore = {
    ...withTraces(createAggregateStore<TracedJoin>(documents, options)),
    byIds: async (ids) => new Map((await documents.find({ _id: { $in: [...ids] } })).map((doc) => [doc._id, stateOf<Join>(doc)])),
    ofRequester: async (requesterId, id) => found(await documents.findOne({ _id: id, requesterIds: requesterId })),
    async listOf(requesterIds, { status, position, limit }) {
      const after =
        position === null
          ? {}
          : { $or: [{ createdAt: { $lt: position.createdAt } }, { createdAt: position.createdAt, _id: { $lt: position.id } }] };
      const filter = { requesterIds: { $in: [...requesterIds] }, ...(status === null ? {} : { status }), ...after };
      return (await documents.find(filter, { sort: { createdAt: -1, _id: -1 }, limit })).map((doc) => stateOf<Join>(doc));
    },
    async byRefs(refs) {
      const found = [...Map.groupBy(refs, ({ provider }) => provider)].map(([provider, ofProvider]) =>
        documents.find({ provider, providerRef: { $in: ofProvider.map(({ ref }) => ref) } }),
      );
      return (await Promise.all(found)).flat().map((doc) => stateOf<Join>(doc));
    },
    ofBubble: async (bubbleId) => found(await documents.findOne({ bubbleId })),
    running: async (runningKey) => found(await documents.findOne({ runningKey })),
    async eraseLinks(now) {
      await documents.updateMany(
        { linkUntil: { $lte: now } },
        { $set: { linkSealed: null }, $unset: { linkUntil: '' }, $inc: { version: 1 } },
      );
    },
    async stuck(now, limit) {
      const overdue = { $lte: new Date(now.getTime() - STUCK.overdueMs) };
      const conditions = WORKS.flatMap((work) => [
        { work, tries: { $gte: STUCK.tries } },
        { work, dueAt: overdue },
      ]);
      const sort = { updatedAt: 1 } as const;
      const pages = await Promise.all(conditions.map((filter) => documents.find(filter, { sort, limit })));
      const joins = new Map(pages.flat().map((doc) => [doc._id, stateOf<Join>(doc)]));
      return [...joins.values()].sort((a, b) => a.updatedAt.getTime() - b.updatedAt.getTime()).slice(0, limit);
    },
    async backlog(now) {
      const uncaptured = { work: 'capture' } as const;
      const [silent, count, oldest] = await Promise.all([
        documents.count({ work: 'watch', dueAt: { $lte: now } }),
        documents.count(uncaptured),
        documents.findOne(uncaptured, { sort: { updatedAt: 1 }, projection: { updatedAt: 1 } }),
      ]);
      return { silent, uncaptured: count, oldestUncaptured: oldest?.updatedAt ?? null };
    },
    async hasten(latest, dueAt) {
      await documents.updateMany({ work: { $in: [...WORKS] }, dueAt: { $gt: latest } }, { $set: { dueAt }, $inc: { version: 1 } });
    },
    runningOf: async (requesterIds) =>
      (await documents.find({ requesterIds: { $in: [...requesterIds] }, runningKey: { $exists: true } })).map((doc) => stateOf<Join>(doc)),
  };
  return {
    joins,
    documents,
    queues: openQueues(documents),
  };
};
