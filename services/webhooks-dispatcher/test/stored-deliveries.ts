import type { AttemptOutcome } from '../src/domain/delivery.ts';
import { afterAttempt, type Delivery } from '../src/domain/delivery.ts';
import type { DeliveryStore, LeaseRelease } from '../src/ports.ts';
import { aDelivery, NOON } from './builders.ts';

export type Make = () => Promise<DeliveryStore>;

export const later = (seconds: number) => new Date(NOON.getTime() + seconds * 1000);
export const FAILED: AttemptOutcome = { outcome: '5xx', status: 500, tookMs: 5, preview: 'no', detail: null };
export const numbers = (count: number) => Array.from({ length: count }, (_, n) => n + 1);

export const numbered = (n: number, overrides: Partial<Delivery> = {}) =>
  aDelivery({ id: `dlv_${n}`, eventId: `evt_${n}`, claimCount: 0, ...overrides });
export const filled = async (make: Make, ...deliveries: readonly Delivery[]): Promise<DeliveryStore> => {
  const store = await make();
  for (const delivery of deliveries) await store.insert(delivery);
  return store;
};
export const dueAt = async (store: DeliveryStore, query: Partial<Parameters<DeliveryStore['due']>[0]> = {}) =>
  (await store.due({ since: new Date(0), now: later(0), firstOnly: false, not: [], limit: 10, ...query })).map(({ id }) => id);
export const claim = (store: DeliveryStore, ids: readonly string[], leaseToken = 'lease', now = later(0)) =>
  store.claim(now, { token: leaseToken, until: new Date(now.getTime() + 60_000) }, ids);
/** Whether there was such a lease. */
export const release = async (store: DeliveryStore, id: string, leaseToken: string, as: LeaseRelease['as']) =>
  (await store.release([{ id, leaseToken, as }])) === 1;
export const recorded = (delivery: Delivery, result = FAILED): Delivery =>
  afterAttempt(delivery, result, { startedAt: later(1), endedAt: later(2) });
export const logOf = async (store: DeliveryStore, query: Partial<Parameters<DeliveryStore['page']>[0]> = {}) =>
  (await store.page({ subscriptionId: 'wh_1', status: null, position: null, limit: 10, ...query })).map(({ id }) => id);
