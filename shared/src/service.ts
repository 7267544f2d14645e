import type { Bus, Subscription } from './bus/bus.ts';
import type { Clock } from './clock.ts';
import type { IdempotencyStore } from './http/idempotency.ts';
import type { Route } from './http/route.ts';
import type { WebhookSpec } from './http/webhook-spec.ts';
import type { Ids } from './ids.ts';
import type { Log } from './log.ts';
import type { Database } from './store/collection.ts';

/** What a composition gives a service: the adapters that differ between production, sandbox and tests. */
export interface Infra {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly database: Database;
  readonly bus: Bus;
}

/** Periodic work that one replica does at a time, under a lease. UTC cron expression of five fields. */
export interface Job {
  readonly name: string;
  readonly cron: string;
  run(): Promise<void>;
}

/** `facts`: what was said in here has arrived everywhere in here. `all`: what is due to others, such as deliveries, has been attempted too. */
export type SettleScope = 'facts' | 'all';

/** A service as its composition root returns it; `service-host.ts` puts it on the wire. */
export interface Service {
  readonly name: string;
  readonly routes: readonly Route[];
  /** Where its routes that are marked `idempotent` keep keys and answers; the host makes its index and sweeps it. */
  readonly idempotency?: IdempotencyStore;
  /** Requests that it sends to receivers of its callers. */
  readonly webhooks?: readonly WebhookSpec[];
  readonly subscriptions: readonly Subscription[];
  readonly jobs: readonly Job[];
  /** Indexes, keys, loops. Called once before the first request is admitted. */
  start(): Promise<void>;
  /** Resolves when outboxes are empty and all work that is due, of everything unless a scope is given, has been attempted. */
  settle(scope?: SettleScope): Promise<void>;
  /** Ends loops and flushes; the composition closes database and bus afterwards. What others keep waiting longer than `cutAfterMs` is done again later. */
  stop(cutAfterMs?: number): Promise<void>;
}
