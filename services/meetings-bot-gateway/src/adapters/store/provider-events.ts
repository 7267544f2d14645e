import type { Doc } from '@bubbles/store/collection.ts';
import { sweepExpired } from '@bubbles/store/collection.ts';
import type { OpenCollection } from '@bubbles/store/indexed-collections.ts';
import { createWorkQueue, type Lease } from '@bubbles/store/work/work-queue.ts';
import type { ProviderEventStore, ProviderHint } from '../../ports.ts';

/** `_id` is `<provider>:<id of the event>`. */
interface ProviderEventDoc extends Doc, Omit<ProviderHint, 'id'> {
  readonly expiresAt: Date;
  /** When it is due, or when the lease of its worker ends; absent once processed. */
  readonly dueAt?: Date;
  readonly leaseToken: string | null;
}

/** Longer than any provider sends an event again. */
const KEPT_MS = 48 * 3_600_000;
const HINTS_PER_CLAIM = 200;

const toHint = ({ _id, provider, joinId, ref, receivedAt }: ProviderEventDoc): ProviderHint => ({
  id: _id,
  provider,
  joinId,
  ref,
  receivedAt,
});

/** The store, and the hints in it that are still to be followed. */
export const openProviderEvents = (open: OpenCollection) => {
  const events = open<ProviderEventDoc>('provider_events', [
    { name: 'due_at', keys: { dueAt: 1 }, sparse: true },
    { name: 'expires_at', keys: { expiresAt: 1 } },
  ]);
  const queue = createWorkQueue({ collection: events, fields: { claimableAt: 'dueAt', leaseToken: 'leaseToken' } });
  const providerEvents: ProviderEventStore = {
    insert: ({ id, ...event }) =>
      events.insert({
        ...event,
        _id: `${event.provider}:${id}`,
        expiresAt: new Date(event.receivedAt.getTime() + KEPT_MS),
        dueAt: event.receivedAt,
        leaseToken: null,
      }),
    sweep: (now) => sweepExpired(events, now),
  };
  const hints = {
    /** Those that have waited longest. */
    async claim(now: Date, lease: Lease): Promise<readonly ProviderHint[]> {
      const due = await events.find(queue.claimable(now), { sort: { dueAt: 1 }, limit: HINTS_PER_CLAIM, projection: { _id: 1 } });
      if (due.length === 0) return [];
      const claimed = await queue.claimEach(
        now,
        lease,
        due.map(({ _id }) => _id),
      );
      return claimed.map(toHint);
    },
    /** `waiting`: those that are to be followed again, and when. */
    async end(claimed: readonly ProviderHint[], token: string, waiting: ReadonlyMap<string, Date>): Promise<void> {
      await queue.endEach(
        claimed.map(({ id }) => {
          const claimableAt = waiting.get(id);
          return { id, token, ...(claimableAt === undefined ? { update: { $unset: { dueAt: '' } } } : { claimableAt }) };
        }),
      );
    },
    nextAfter: (after: Date) => queue.nextAfter(after),
    releaseAll: (now: Date) => queue.releaseAll(now),
  };
  return { providerEvents, hints };
};
