import type { AuthPorts } from '@bubbles/auth/guards.ts';
import type { Bus, EventHandler } from '@bubbles/bus/bus.ts';
import type { WebhookSpec } from '@bubbles/http/document/webhook-spec.ts';
import type { IdempotencyStore } from '@bubbles/http/routes/idempotency.ts';
import type { Route } from '@bubbles/http/routes/route.ts';
import type { Clock } from '@bubbles/kernel/clock.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import type { Database } from '@bubbles/store/collection.ts';
import type { Job } from '@bubbles/store/work/run-jobs.ts';

/** What a composition gives a service: the adapters that differ between production, sandbox and tests. */
export interface Infra {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly database: Database;
  readonly bus: Bus;
}

/** `facts`: what was said in here has arrived everywhere in here. `all`: what is due to others, such as deliveries, has been attempted too. */
export type SettleScope = 'facts' | 'all';

/** A service as its composition root returns it; `service-host.ts` puts it on the wire. */
export interface Service {
  readonly name: string;
  readonly routes: readonly Route<AuthPorts>[];
  /** Where its routes that are marked `idempotent` keep keys and answers; the host makes its index and sweeps it. */
  readonly idempotency?: IdempotencyStore;
  /** Requests that it sends to receivers of its callers. */
  readonly webhooks?: readonly WebhookSpec[];
  readonly eventHandlers: readonly EventHandler[];
  readonly jobs: readonly Job[];
  /** Indexes, keys, loops. Called once before the first request is admitted. */
  start(): Promise<void>;
  /** Resolves when outboxes are empty and all work that is due, of everything unless a scope is given, has been attempted. */
  settle(scope?: SettleScope): Promise<void>;
  /** Ends loops and flushes; the composition closes database and bus afterwards. What others keep waiting longer than `cutAfterMs` is done again later. */
  stop(cutAfterMs?: number): Promise<void>;
}
