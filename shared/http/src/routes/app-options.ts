import type { Clock } from '@bubbles/kernel/clock.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import type { WebhookSpec } from '../document/webhook-spec.ts';
import type { LoadShedder } from '../wire/overload.ts';
import type { Authenticator } from './authenticator.ts';
import type { ErrorCatalog } from './http-errors.ts';
import type { HttpMetrics } from './http-metrics.ts';
import type { IdempotencyStore } from './idempotency.ts';
import type { InternalAuth } from './internal-auth.ts';
import type { Route } from './route.ts';

/** What serving HTTP takes, whatever is served. */
export interface HttpPorts {
  readonly log: Log;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly metrics: HttpMetrics;
  readonly shedder: LoadShedder;
}

/** What a service's HTTP needs besides its routes. */
export interface AppSettings extends HttpPorts {
  /** The service's name. */
  readonly name: string;
  readonly authenticator: Authenticator;
  readonly internalAuth: InternalAuth;
  /** Origin under which clients reach the product, without a trailing slash. */
  readonly publicBaseUrl: string;
  /** How long a handler may take, in real time. */
  readonly budgetMs: number;
  /** Answers say what failed on our side, and what there is not: where the caller is the operator. */
  readonly tellsFaults?: boolean;
}

export interface HttpAppOptions extends AppSettings {
  readonly routes: readonly Route[];
  /** For routes that are marked `idempotent`. */
  readonly idempotency?: IdempotencyStore | undefined;
  /** For its OpenAPI fragment. */
  readonly errors: ErrorCatalog;
  /** What it sends, for its OpenAPI fragment. */
  readonly webhooks?: readonly WebhookSpec[] | undefined;
}
