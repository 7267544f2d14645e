import type { CloudEvent } from '@bubbles/bus/bus.ts';
import type { Doc, IndexSpec } from './collection.ts';

/** What every aggregate carries beside its state: the events that its writes made and that the broker does not hold yet. */
export interface OutboxDoc extends Doc {
  readonly version: number;
  readonly outbox: readonly CloudEvent[];
  /** When the oldest of them was written; absent when there is none, so that a sparse index holds waiting aggregates only. */
  readonly outboxAt?: Date;
  /** The lease of the relay at work on it. */
  readonly relayUntil: Date;
  readonly relayBy: string | null;
}

/** Every collection of aggregates needs it. */
export const OUTBOX_INDEX: IndexSpec = { name: 'outbox_at', keys: { outboxAt: 1 }, sparse: true };

/** The lease of an aggregate that nobody relays. */
export const UNCLAIMED = { relayUntil: new Date(0), relayBy: null } as const;
