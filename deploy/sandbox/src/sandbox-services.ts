import { serviceTokens } from '@bubbles/auth/service-tokens.ts';
import type { EventDefinition } from '@bubbles/bus/bus.ts';
import { OPERATOR } from '@bubbles/contracts/services.ts';
import type { Infra, ServiceDefinition, SettleScope } from '@bubbles/host/service.ts';
import { type LocalMachine, localEnvironment, secretsOf } from '@bubbles/host/variables.ts';
import { createInternalClient } from '@bubbles/http/client/internal-client.ts';
import { type HeldPort, holdPort } from '@bubbles/http/wire/listen.ts';
import type { Environment } from '@bubbles/kernel/config.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import type { EmbeddedStore } from '@bubbles/store-embedded/open-embedded.ts';
import type { CallerKeys } from './caller-keys.ts';
import { type Actions, actions } from './control/actions.ts';
import { identityAdmin } from './control/identity-http.ts';
import { meetingsAdmin } from './control/meetings-http.ts';
import type { ServiceState } from './control/routes.ts';
import { type Pipeline, startPipeline } from './pipeline/pipeline.ts';
import { LOOPBACK, type ServiceSlot, serviceSlot } from './service-slot.ts';
import type { Settings } from './settings.ts';
import type { CountedBus, Outboxes, Settle } from './settle.ts';
import { seedWorld, type World } from './world.ts';

/** The log of a service, under its own name. */
export type LogOf = (name: string) => Log;

interface SandboxServicesOptions {
  readonly definitions: readonly ServiceDefinition[];
  readonly events: readonly EventDefinition[];
  readonly keys: CallerKeys;
  /** Values of the services' own variables. */
  readonly environment: Environment;
  readonly store: EmbeddedStore;
  readonly bus: CountedBus;
  readonly infra: Omit<Infra, 'bus' | 'database'>;
  readonly settings: Settings;
  readonly publicBaseUrl: string;
  /** The path of a folder for files, which need not be there yet. */
  readonly folder: (name: string) => string;
  readonly settle: Settle;
  readonly outboxes: Outboxes;
  readonly logOf: LogOf;
}

/** Everything behind the gateway: the services, the recording pipeline and the world that was made with them. */
export interface SandboxServices {
  /** On what the store holds; on an empty store, or one whose seeding was cut short, the seeded world is made. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** By name, in the order of their start. */
  urls(): ReadonlyMap<string, string>;
  ports(): ReadonlySet<number>;
  setService(name: string, state: ServiceState): Promise<void>;
  actions(): Actions;
  world(): World;
  /** What must be quiet for everything to be settled, in the order in which work flows. */
  parts(): readonly ((scope: SettleScope) => Promise<void>)[];
  /** A service is down, or nothing has been started. */
  isPartial(): boolean;
}

interface Open {
  readonly slots: ReadonlyMap<string, ServiceSlot>;
  readonly pipeline: Pipeline;
  readonly actions: Actions;
  readonly close: () => Promise<void>;
}

/** Where each service was served; it is there again after a reset, as the gateway expects it. */
type Ports = Map<string, number>;

/** What the services are told here instead of by a deployment. */
async function openMachine({
  definitions,
  folder,
  keys,
  publicBaseUrl,
  settings,
}: SandboxServicesOptions): Promise<Omit<LocalMachine, 'urls'>> {
  const secrets = new Map<string, Buffer>();
  for (const { name, bytes } of definitions.flatMap(secretsOf)) secrets.set(name, await settings.secret(name, bytes));
  return {
    publicBaseUrl,
    keyId: 'sandbox',
    folder,
    callerKeys: keys.callersOf,
    serviceKey: (caller) => ({ SERVICE_KEY: keys.privateKey(caller).export({ format: 'der', type: 'pkcs8' }).toString('base64') }),
    secret(name) {
      const secret = secrets.get(name);
      if (secret === undefined) throw new Error(`the data folder has no secret ${name}`);
      return secret;
    },
  };
}

/** Each has its address before the first one starts: they ask each other in a ring. */
async function holdPorts(definitions: readonly ServiceDefinition[], ports: Ports): Promise<readonly HeldPort[]> {
  const held: HeldPort[] = [];
  for (const { name } of definitions) {
    if (ports.has(name)) continue;
    const one = await holdPort({ host: LOOPBACK, port: 0 });
    held.push(one);
    ports.set(name, one.port);
  }
  return held;
}

async function openSlots(options: SandboxServicesOptions, ports: Ports): Promise<ReadonlyMap<string, ServiceSlot>> {
  const { definitions, events, bus, infra, logOf, outboxes, store, environment } = options;
  const slots = new Map<string, ServiceSlot>();
  const portOf = (name: string): number => ports.get(name) ?? 0;
  const machine = { ...(await openMachine(options)), urls: (name: string) => `http://${LOOPBACK}:${portOf(name)}` };
  const held = await holdPorts(definitions, ports);
  try {
    for (const definition of definitions) {
      const { name } = definition;
      const slot = serviceSlot({
        definition,
        environment: localEnvironment(definition, machine, environment),
        events,
        port: portOf(name),
        bus,
        infra: { ...infra, log: logOf(name), database: outboxes.watched(name, store.database(name)) },
      });
      slots.set(name, slot);
      await slot.start();
    }
  } finally {
    for (const { release } of held) release();
  }
  return slots;
}

const PIPELINE = 'recording-pipeline';

async function open(options: SandboxServicesOptions, ports: Ports): Promise<Open> {
  const { bus, infra, keys, outboxes, store } = options;
  const slots = await openSlots(options, ports);
  const tokens = serviceTokens({ caller: OPERATOR, key: keys.privateKey(OPERATOR), clock: infra.clock });
  const operatorAt = (callee: string) => createInternalClient({ callee, baseUrls: [slots.get(callee)?.url ?? ''], tokens });
  const [atIdentity, atMeetings] = [operatorAt('identity-and-oauth'), operatorAt('meetings-bot-gateway')];
  const [identity, meetings] = [identityAdmin(atIdentity), meetingsAdmin(atMeetings)];
  const database = outboxes.watched(PIPELINE, store.database(PIPELINE));
  const pipeline = await startPipeline({ ...infra, bus: bus.connect(), database }, identity);
  return {
    slots,
    pipeline,
    actions: actions({ ...pipeline, identity, meetings, ids: infra.ids }),
    async close() {
      await pipeline.stop();
      for (const slot of [...slots.values()].toReversed()) await slot.stop();
      await Promise.all([atIdentity.close(), atMeetings.close()]);
    },
  };
}

export function sandboxServices(options: SandboxServicesOptions): SandboxServices {
  const { settings, store, settle, definitions } = options;
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
    urls: () => new Map([...inside().slots].map(([name, { url }]) => [name, url])),
    ports: () => new Set(ports.values()),
    async setService(name, state) {
      const slot = inside().slots.get(name);
      if (slot === undefined)
        throw new DomainError('not_found', `No such service. There are ${definitions.map((definition) => definition.name).join(', ')}.`);
      await slot.setState(state);
    },
    actions: () => inside().actions,
    world() {
      if (world === null) throw new DomainError('unavailable', 'The sandbox is starting.', { retryAfterSeconds: 1 });
      return world;
    },
    isPartial: () => opened === null || opened.slots.values().some((slot) => slot.isDown()),
    parts: () => {
      const { slots, pipeline } = inside();
      return [pipeline.settle, ...slots.values().map((slot) => slot.settle)];
    },
  };
}
