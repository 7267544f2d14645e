import { assertedCallers } from '@bubbles/auth/assertions.ts';
import type { Authenticator, AuthPorts } from '@bubbles/auth/guards.ts';
import { serviceTokens } from '@bubbles/auth/service-tokens.ts';
import type { Bus, EventDefinition, EventHandler } from '@bubbles/bus/bus.ts';
import { CREDENTIAL_REFUSALS } from '@bubbles/contracts/access.ts';
import { EVENTS } from '@bubbles/contracts/events/catalog.ts';
import { createInternalClient, type InternalClient } from '@bubbles/http/client/internal-client.ts';
import type { WebhookSpec } from '@bubbles/http/document/webhook-spec.ts';
import type { Metrics } from '@bubbles/http/ops/metrics.ts';
import type { IdempotencyStore } from '@bubbles/http/routes/idempotency.ts';
import type { Route } from '@bubbles/http/routes/route.ts';
import type { Clock } from '@bubbles/kernel/clock.ts';
import { refusal } from '@bubbles/kernel/errors.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import type { Loop, LoopContext } from '@bubbles/kernel/loop.ts';
import type { createSeal } from '@bubbles/kernel/seal.ts';
import type { OutboxDoc } from '@bubbles/store/aggregates.ts';
import type { Collection, Database } from '@bubbles/store/collection.ts';
import type { Migration } from '@bubbles/store/migration-step.ts';
import { type Migrations, openMigrations } from '@bubbles/store/migrations.ts';
import { createOutboxRelay, releaseOutboxes } from '@bubbles/store/outbox-relay.ts';
import type { Job } from '@bubbles/store/work/run-jobs.ts';
import type { z } from 'zod';
import { idempotencyStore } from './idempotency-store.ts';
import { type SealedFields, sealsRoute } from './seals.ts';
import { watchOutboxes } from './service-metrics.ts';
import type { Needs, ServiceConfig } from './variables.ts';

/** The adapters that differ between production, sandbox and tests. */
export interface Infra {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly database: Database;
  readonly bus: Bus;
}

/** `facts`: what was said in here has arrived everywhere in here. `all`: what is due to others, such as deliveries, has been attempted too. */
export type SettleScope = 'facts' | 'all';

/** What the stores of a service are opened with. */
export interface StoreContext extends Pick<Infra, 'database' | 'clock' | 'ids'> {
  /** The name under which events are published. */
  readonly source: string;
  /** There may be events to relay. */
  readonly onCommit: () => void;
}

/** What a service is composed from. */
export interface ServiceContext<V extends Needs['variables']> extends Infra, StoreContext {
  /** The values of its variables, by their names. */
  readonly config: { readonly [N in keyof V]: z.output<V[N]> };
  readonly publicBaseUrl: string;
  /** For figures of its own; those of HTTP are kept by the host. */
  readonly metrics: Metrics;
  /** How it asks another service, one of `asks`. */
  client(callee: string): InternalClient;
  /** True when a step of `migrations` is done. */
  hasMigrated(step: number): Promise<boolean>;
}

/** What the host runs for a service. */
export interface Composition {
  readonly routes: readonly Route<AuthPorts>[];
  /** Requests that it sends to receivers of its callers, for its OpenAPI document. */
  readonly webhooks?: readonly WebhookSpec[];
  /** Seals with the service's master keys; routes marked `idempotent` need it too. */
  readonly seal?: ReturnType<typeof createSeal>;
  /** Stored fields with sealed values, for re-sealing with a newer key. */
  readonly sealed?: readonly SealedFields[];
  /** Longest life, in milliseconds, of sealed values that live only in links and cookies. */
  readonly sealedElsewhereMs?: number;
  readonly eventHandlers?: readonly EventHandler[];
  readonly jobs?: readonly Job[];
  readonly loops?: readonly ServiceLoop[];
  /** Collections whose documents carry events; the host relays them. */
  readonly outboxes?: readonly Collection<OutboxDoc>[];
  /** Frees the leases of its own work queues. The sandbox calls it before the start, since no other process is at work on its store. */
  releaseLeases?(): Promise<void>;
  ensureIndexes(): Promise<void>;
  /** Proves what must hold before the first request, such as that its keys open what is stored. */
  check?(): Promise<void>;
  /** Flushes and lets go, when no loop runs any more. */
  close?(): Promise<void>;
}

type Outside = 'internet' | 'mail server';

export interface ServiceDefinition<V extends Needs['variables'] = Needs['variables']> extends Needs {
  readonly name: string;
  /** Destinations outside the deployment that it connects to. */
  readonly reaches?: readonly Outside[];
  /** Those beyond what every service is told; every fault of them is reported at once. */
  readonly variables: V;
  /** Schema changes that the migration job runs instead of the start of a process, in order of number. */
  readonly migrations?: readonly Migration[];
  /** The only place that knows the adapters of the service. Connects, listens and starts nothing. */
  compose(context: ServiceContext<V>): Composition;
}

/** All that process, sandbox, stack and tests know of a service. */
export const defineService = <V extends Needs['variables']>(definition: ServiceDefinition<V>): ServiceDefinition =>
  // A method's argument may be narrower: `openService` gives the values that the same variables were read to.
  definition;

/** How a loop differs from one whose work ends with its run. */
interface LoopHooks {
  /** `all` for work whose effect is outside of the product; `facts` when absent. */
  readonly scope?: SettleScope;
  /** What a settling begins with; pokes the loop when absent. */
  readonly lookAgain?: () => void;
  /** Resolves when nothing that its runs began is in flight any more: whether its end may have made more due. */
  readonly drained?: () => Promise<boolean>;
  /** From now on its runs begin nothing. */
  readonly stopClaiming?: () => void;
  /** Ends what is in flight; it is done again later. */
  readonly cut?: () => void;
}

/** A background worker of a service; the host starts, settles and stops it. */
interface ServiceLoop extends LoopHooks, Loop {
  start(context: LoopContext): void;
}

/** `start` begins it; before that there is nothing to poke. */
export const createLoop = (start: (context: LoopContext) => Loop, hooks: LoopHooks = {}): ServiceLoop => {
  let running: Loop | null = null;
  return {
    ...hooks,
    start(context) {
      running ??= start(context);
    },
    poke: () => running?.poke(),
    idle: async () => running?.idle(),
    stop: async () => running?.stop(),
  };
};

/** A service as it was composed; `service-host.ts` puts it on the wire. */
export interface Service {
  readonly name: string;
  readonly routes: readonly Route<AuthPorts>[];
  readonly webhooks: readonly WebhookSpec[];
  readonly authenticator: Authenticator;
  readonly sealed: readonly SealedFields[];
  /** Undefined where no route needs it. */
  readonly idempotency: IdempotencyStore | undefined;
  readonly eventHandlers: readonly EventHandler[];
  /** Definitions of the events that it publishes. */
  readonly publishes: readonly EventDefinition[];
  readonly jobs: readonly Job[];
  /** Before the start: frees every lease. Only where no other process can be at work. */
  releaseLeases(): Promise<void>;
  /** Indexes, checks, loops. Before the first request is admitted; again when it failed. */
  start(): Promise<void>;
  /** Resolves when outboxes are empty and all work that is due, of everything unless a scope is given, has been attempted. */
  settle(scope?: SettleScope): Promise<void>;
  /** Ends loops, flushes and closes clients; database and bus are closed by who opened them. What others keep waiting longer than `cutAfterMs` is done again later. */
  stop(cutAfterMs?: number): Promise<void>;
}

const IDENTITY = 'identity-and-oauth';

interface OpenServiceOptions extends Infra {
  readonly config: ServiceConfig;
  readonly metrics: Metrics;
  /** `await`: the start fails until the migration job has run. `run`: the start runs all steps itself, where no other process uses the store. */
  readonly migrations: 'await' | 'run';
  /** In place of the events of contracts, when a test adds to them. */
  readonly events?: readonly EventDefinition[];
  /** Stand-ins for those that it asks. */
  readonly peers?: Readonly<Record<string, InternalClient>>;
  /** Stands in for the assertions of identity. */
  readonly authenticator?: Authenticator;
}

/** Composes a service and gives it what every service has; nothing runs before `start`. */
export const openService = (definition: ServiceDefinition, options: OpenServiceOptions): Service => {
  const { name } = definition;
  const { config, clock, ids, log, bus, metrics } = options;
  const migrations = openMigrations({ ...options, service: name, steps: definition.migrations ?? [] });
  const { database } = migrations;
  const infra = { clock, ids, log, bus, database };
  const clients = openClients(definition, options);
  const composed = definition.compose({
    ...infra,
    metrics,
    config: config.values,
    publicBaseUrl: config.publicBaseUrl,
    client: clients.to,
    hasMigrated: migrations.hasRun,
    source: name,
    onCommit: () => relay.poke(),
  });
  const { outboxes = [], jobs = [], seal } = composed;
  const published = (options.events ?? EVENTS).filter(({ publisher }) => publisher === name);
  const relay = createLoop((own) => createOutboxRelay({ ...infra, ...own, collections: outboxes, definitions: published }));
  const loops = [...(outboxes.length === 0 ? [] : [relay]), ...(composed.loops ?? [])];
  if (outboxes.length > 0) watchOutboxes(metrics, { outboxes, clock });
  const idempotency =
    seal !== undefined && composed.routes.some(({ spec }) => spec.idempotent) ? idempotencyStore({ ...infra, seal }) : undefined;
  const sealed = [...(composed.sealed ?? []), ...(idempotency?.sealed ?? [])];
  return {
    name,
    idempotency,
    routes: [...composed.routes, ...ownRoutes(composed, { service: name, database, sealed })],
    sealed,
    webhooks: composed.webhooks ?? [],
    authenticator: options.authenticator ?? clients.authenticator(),
    eventHandlers: composed.eventHandlers ?? [],
    publishes: published,
    jobs: idempotency === undefined ? jobs : [...jobs, { name: 'sweep-idempotency-keys', cron: '29 * * * *', run: idempotency.sweep }],
    async releaseLeases() {
      // Releasing leases without indexes would scan whole collections.
      await prepare({ ...options, steps: migrations, composed });
      await releaseOutboxes(outboxes, clock.now());
      await composed.releaseLeases?.();
    },
    async start() {
      await prepare({ ...options, steps: migrations, composed });
      await idempotency?.ensureIndexes();
      await composed.check?.();
      for (const loop of loops) loop.start({ clock, log, onFailure: metrics.loopFailed });
    },
    settle: (scope = 'all') => settle(loops.filter((loop) => scope === 'all' || loop.scope !== 'all')),
    async stop(cutAfterMs) {
      await stopLoops(loops, cutAfterMs);
      await composed.close?.();
      await clients.close();
    },
  };
};

const ownRoutes = (
  { seal, sealedElsewhereMs = 0 }: Composition,
  parts: Pick<Parameters<typeof sealsRoute>[0], 'service' | 'database' | 'sealed'>,
): readonly Route<AuthPorts>[] => (seal === undefined ? [] : [sealsRoute({ ...parts, seal, carriedMs: sealedElsewhereMs })]);

interface PreparationOptions extends Pick<OpenServiceOptions, 'migrations'> {
  readonly steps: Migrations;
  readonly composed: Composition;
}

const prepare = async ({ steps, migrations, composed }: PreparationOptions): Promise<void> => {
  if (migrations === 'await') await steps.check();
  else await steps.run({ contract: true, stopping: new AbortController().signal });
  await composed.ensureIndexes();
};

const openClients = ({ name, asks }: ServiceDefinition, { config, clock, peers = {} }: OpenServiceOptions) => {
  const { serviceKey, urls } = config;
  const opened = new Map<string, InternalClient>();
  const open = (callee: string): InternalClient => {
    const baseUrls = urls.get(callee);
    if (serviceKey === null || baseUrls === undefined) throw new TypeError(`${name} does not say that it asks ${callee}.`);
    const client = createInternalClient({ callee, baseUrls, tokens: serviceTokens({ caller: name, key: serviceKey, clock }) });
    opened.set(callee, client);
    return client;
  };
  const to = (callee: string): InternalClient => peers[callee] ?? opened.get(callee) ?? open(callee);
  return {
    to,
    /** A service that does not ask identity has no routes that take its assertions. */
    authenticator: (): Authenticator =>
      asks.includes(IDENTITY)
        ? assertedCallers({ audience: name, identity: to(IDENTITY), clock })
        : { callerOf: () => Promise.reject(refusal(CREDENTIAL_REFUSALS.unauthorized)) },
    close: () => Promise.all([...opened.values()].map((client) => client.close())),
  };
};

/** What one loop ends may be work for another one: until a whole round has found nothing. */
const settle = async (loops: readonly ServiceLoop[]): Promise<void> => {
  do {
    for (const { lookAgain, poke, idle } of loops) {
      (lookAgain ?? poke)();
      await idle();
    }
  } while (await mayHaveMore(loops));
};

const mayHaveMore = async (loops: readonly ServiceLoop[]): Promise<boolean> => {
  for (const { drained } of loops) if (await drained?.()) return true;
  return false;
};

const stopLoops = async (loops: readonly ServiceLoop[], cutAfterMs: number | undefined): Promise<void> => {
  for (const { stopClaiming } of loops) stopClaiming?.();
  const cut = () => {
    for (const loop of loops) loop.cut?.();
  };
  // Before the stops: a loop may end no sooner than what it began.
  const timer = cutAfterMs === undefined ? undefined : setTimeout(cut, cutAfterMs);
  await Promise.all(loops.map(({ stop }) => stop()));
  for (const { drained } of loops) await drained?.();
  clearTimeout(timer);
};
