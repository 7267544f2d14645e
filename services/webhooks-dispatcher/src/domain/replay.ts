import type { Delivery } from './delivery.ts';
import type { Subscription } from './subscription.ts';

/** Deliveries of a span that are to be sent again. A subscription has at most one at a time; it goes from the newest to the oldest. */
export interface Replay {
  /** `rpl_…` */
  readonly id: string;
  readonly subscriptionId: string;
  /** Of the subscription when it was asked for: it ends with that life. */
  readonly epoch: number;
  readonly since: Date;
  readonly until: Date;
  /** Everything that was made later is done. */
  readonly position: { readonly createdAt: Date; readonly id: string };
  /** When there is more to do, or when the lease of the one who works on it ends: the same thing. */
  readonly dueAt: Date;
  readonly leaseToken: string | null;
}

/** A delivery that reached nobody. Tests are not sent again. */
export const isReplayable = ({ type, status, epoch }: Pick<Delivery, 'type' | 'status' | 'epoch'>, current: Pick<Subscription, 'epoch'>) =>
  type !== 'webhook.test' && (status === 'exhausted' || status === 'cancelled' || (status === 'pending' && epoch !== current.epoch));
