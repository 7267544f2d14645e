import type { Infra, SettleScope } from '@bubbles/host/service.ts';
import { internalClient } from '@bubbles/http/client/internal-client.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import type { EmbeddedStore } from '@bubbles/store-embedded/open-embedded.ts';
import type { ReceiverSettings } from '@bubbles/webhooks-dispatcher/config.ts';
import { type Actions, actions } from './control/actions.ts';
import { identityAdmin } from './control/identity-http.ts';
import type { ServiceState } from './control/routes.ts';
import { soleJobs } from './jobs.ts';
import type { Outboxes } from './outboxes.ts';
import { type Pipeline, startPipeline } from './pipeline/pipeline.ts';
import type { ServiceKeys } from './service-keys.ts';
import { builders, SERVICE_NAMES, type ServiceName } from './services.ts';
import type { Settings } from './settings.ts';
import type { CountedBus, Settle } from './settle.ts';
import { type Slot, slot } from './slot.ts';
import { seedWorld, type World } from './world.ts';

/** The log of a service, under its own name. */
export type LogOf = (name: string) => Log;

export interface HouseOptions {
  readonly store: EmbeddedStore;
  readonly bus: CountedBus;
  readonly infra: Omit<Infra, 'bus' | 'database'>;
  readonly settings: Settings;
  readonly keys: ServiceKeys;
  readonly publicBaseUrl: string;
  readonly publicPort: number;
  readonly webhooks: ReceiverSettings;
  readonly settle: Settle;
  readonly outboxes: Outboxes;
  readonly logOf: LogOf;
}

/** Everything behind the gateway: the services, the recording pipeline and the world that was made with them. */
export interface House {
  /** On what the store holds; on an empty store, or one whose seeding was cut short, the seeded world is made. */
  start(): Promise<void>;
  stop(): Promise<void>;
  urlOf(name: ServiceName): string;
  setService(name: string, state: ServiceState): Promise<void>;
  actions(): Actions;
  world(): World;
  /** What must be quiet for everything to be settled, in the order in which work flows. */
  parts(): readonly ((scope: SettleScope) => Promise<void>)[];
  /** A service is down, or nothing has been started. */
  isPartial(): boolean;
}

interface Open {
  readonly slots: ReadonlyMap<ServiceName, Slot>;
  readonly pipeline: Pipeline;
  readonly actions: Actions;
  readonly close: () => Promise<void>;
}

/** Where each service was served; it is there again after a reset, as the gateway expects it. */
type Ports = Map<ServiceName, number>;

async function openSlots(options: HouseOptions, ports: Ports): Promise<ReadonlyMap<ServiceName, Slot>> {
  const { bus, infra, keys, logOf, outboxes, publicBaseUrl, publicPort, store, webhooks, settings } = options;
  const slots = new Map<ServiceName, Slot>();
  const build = builders({
    publicBaseUrl,
    keys,
    webhooks: { ...webhooks, receivers: { ...webhooks.receivers, ownPorts: () => new Set([publicPort, ...ports.values()]) } },
    secrets: await settings.secrets(),
    urlOf: (name) => slots.get(name)?.url ?? '',
  });
  for (const name of SERVICE_NAMES) {
    const own = { ...infra, log: logOf(name), database: outboxes.watched(name, store.database(name)) };
    const place = slot({
      name,
      port: ports.get(name) ?? 0,
      bus,
      infra: own,
      internalAuth: keys.auth(name),
      publicBaseUrl,
      build: build[name],
      startJobs: soleJobs(own),
    });
    slots.set(name, place);
    await place.start();
    ports.set(name, place.port);
  }
  return slots;
}

const PIPELINE = 'recording-pipeline';

async function open(options: HouseOptions, ports: Ports): Promise<Open> {
  const { bus, infra, keys, outboxes, store } = options;
  const slots = await openSlots(options, ports);
  const operator = internalClient({
    callee: 'identity-and-oauth',
    baseUrls: [slots.get('identity-and-oauth')?.url ?? ''],
    tokens: keys.tokens('operator'),
  });
  const identity = identityAdmin(operator);
  const database = outboxes.watched(PIPELINE, store.database(PIPELINE));
  const pipeline = await startPipeline({ ...infra, bus: bus.connect(), database }, identity);
  return {
    slots,
    pipeline,
    actions: actions({ ...pipeline, identity, ids: infra.ids }),
    async close() {
      await pipeline.stop();
      for (const place of [...slots.values()].toReversed()) await place.stop();
      await operator.close();
    },
  };
}

export function house(options: HouseOptions): House {
  const { settings, store, settle } = options;
  const ports: Ports = new Map();
  let opened: Open | null = null;
  let world: World | null = null;
  const inside = (): Open => {
    if (opened === null) throw new DomainError('unavailable', 'The sandbox is starting.', { retryAfterSeconds: 1 });
    return opened;
  };

  const start = async () => {
    world = await settings.world();
    if (world === null) store.clear();
    opened = await open(options, ports);
    if (world !== null) return;
    world = await seedWorld(opened.actions, options.infra.clock.now());
    await settle('facts');
    await settings.keepWorld(world);
  };
  const stop = async () => {
    const closing = opened;
    opened = null;
    await closing?.close();
  };

  return {
    start,
    stop,
    urlOf: (name) => inside().slots.get(name)?.url ?? '',
    async setService(name, state) {
      const place = inside()
        .slots.values()
        .find((candidate) => candidate.name === name);
      if (place === undefined) throw new DomainError('not_found', `No such service. There are ${SERVICE_NAMES.join(', ')}.`);
      await place.setState(state);
    },
    actions: () => inside().actions,
    world() {
      if (world === null) throw new DomainError('unavailable', 'The sandbox is starting.', { retryAfterSeconds: 1 });
      return world;
    },
    isPartial: () => opened === null || opened.slots.values().some((place) => place.isDown()),
    parts: () => {
      const { slots, pipeline } = inside();
      return [pipeline.settle, ...slots.values().map((place) => place.settle)];
    },
  };
}
