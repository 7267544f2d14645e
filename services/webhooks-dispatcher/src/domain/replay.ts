import type { Delivery } from './delivery.ts';
import type { Subscription } from './subscription.ts';

/** Sends the failed deliveries of a time span again, from the newest to the oldest. A subscription has at most one at a time. */
export interface Replay {
  /** `rpl_…` */
  readonly id: string;
  readonly subscriptionId: string;
  /** The epoch of the subscription when it was requested: the replay ends with it. */
  readonly epoch: number;
  readonly since: Date;
  readonly until: Date;
  /** True sends received deliveries again too. Replays of older releases, which only owners could request, have no such field. */
  readonly includesReceived?: boolean;
  /** Deliveries that were created later have been handled. */
  readonly position: { readonly createdAt: Date; readonly id: string };
  /** When it falls due; under a lease, when the lease ends. */
  readonly dueAt: Date;
  readonly leaseToken: string | null;
}

/** True when the replay includes the delivery: test deliveries never, received ones only when requested. */
export const isReplayable = (
  { type, status, epoch }: Pick<Delivery, 'type' | 'status' | 'epoch'>,
  current: Pick<Subscription, 'epoch'>,
  { includesReceived = false }: Pick<Replay, 'includesReceived'>,
): boolean => {
  if (type === 'webhook.test') return false;
  if (status === 'pending') return epoch !== current.epoch;
  return status !== 'succeeded' || includesReceived;
};
