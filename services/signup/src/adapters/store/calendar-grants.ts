import type { Clock } from '@bubbles/kernel/clock.ts';
import type { Doc } from '@bubbles/store/collection.ts';
import type { OpenCollection } from '@bubbles/store/indexed-collections.ts';
import { createWorkQueue, type Lease } from '@bubbles/store/work/work-queue.ts';
import type { CalendarGrantStore, LeasedGrant } from '../../calendar-ports.ts';
import type { CalendarGrant } from '../../domain/calendar.ts';

interface CalendarGrantDoc extends Doc, Omit<CalendarGrant, 'id'> {
  /** False: it is to be looked at. */
  readonly isChecked: boolean;
  readonly dueAt: Date;
  readonly leaseToken: string | null;
}

/** A claimed document as its use case takes it. */
export const leasedGrant = (
  { _id, isChecked: _, dueAt: __, leaseToken: ___, ...grant }: CalendarGrantDoc,
  { token }: Lease,
): LeasedGrant => ({
  grant: { id: _id, ...grant },
  lease: token,
});

/** The grants, and the queue of those that are to be checked. */
export const openCalendarGrants = (open: OpenCollection, clock: Clock) => {
  const grants = open<CalendarGrantDoc>('calendar_grants', [
    { name: 'user_id', keys: { userId: 1 } },
    { name: 'flow_provider', keys: { flowId: 1, provider: 1 } },
    { name: 'checked_due_at', keys: { isChecked: 1, dueAt: 1 } },
  ]);
  const grantChecks = createWorkQueue<CalendarGrantDoc>({
    collection: grants,
    fields: { claimableAt: 'dueAt', leaseToken: 'leaseToken' },
    pending: { isChecked: false },
  });
  const unchecked = () => ({ isChecked: false, dueAt: clock.now(), leaseToken: null });
  const calendarGrants: CalendarGrantStore = {
    async put({ id, ...grant }) {
      // False when another consent of the same account was stored at that moment; the later one stays.
      while (!(await grants.replaceOne({ _id: id }, { _id: id, ...grant, ...unchecked() }, { upsert: true })));
    },
    isConnected: async (flowId, provider) => (await grants.findOne({ flowId, provider }, { projection: { _id: 1 } })) !== null,
    async checkAllOf(userId) {
      await grants.updateMany({ userId }, { $set: unchecked() });
    },
    async settle({ grant: { id }, lease: token }, life) {
      await grantChecks.end({ id, token, update: { $set: { isChecked: true, life, tries: 0 } } });
    },
    async postpone({ grant: { id }, lease: token }, until) {
      await grantChecks.end({ id, token, claimableAt: until, update: { $inc: { tries: 1 } } });
    },
    async erase({ grant: { id }, lease: token }) {
      await grantChecks.remove(id, token);
    },
  };
  return { calendarGrants, grantChecks };
};
