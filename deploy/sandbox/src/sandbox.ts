import { memoryBus } from '@bubbles/bus/memory/memory.ts';
import { COMMITTED_FRAGMENTS, GATEWAY_LIMITS, type GatewayConfig, prefixesOf } from '@bubbles/gateway/config.ts';
import { createGateway, type Gateway } from '@bubbles/gateway/gateway.ts';
import { type Address, type HeldPort, holdPort } from '@bubbles/http/wire/listen.ts';
import { errorCode } from '@bubbles/kernel/errors.ts';
import { systemIds } from '@bubbles/kernel/ids.ts';
import { isAddressFault, StartupError } from '@bubbles/kernel/run-process.ts';
import type { EmbeddedStore } from '@bubbles/store-embedded/open-embedded.ts';
import { type SteppingClock, steppingClock } from './clock/stepping-clock.ts';
import type { SandboxConfig } from './config.ts';
import { controlApp } from './control/control-app.ts';
import { gate } from './control/gate.ts';
import type { Stage } from './control/routes.ts';
import { type House, house, type LogOf } from './house.ts';
import { openStore } from './open-store.ts';
import { outboxes as openOutboxes } from './outboxes.ts';
import { type ServiceKeys, serviceKeys } from './service-keys.ts';
import { SERVICE_NAMES } from './services.ts';
import { type SettingDoc, settings } from './settings.ts';
import { countedBus, type Settle, settling } from './settle.ts';
import { SANDBOX_DRAIN } from './slot.ts';
import type { World } from './world.ts';

export interface Sandbox {
  readonly url: string;
  world(): World;
  /** The folder that holds the data of before; null when nothing was set aside. */
  readonly setAside: string | null;
  /** True when nothing had to be cut. */
  stop(): Promise<boolean>;
}

const LOOPBACK = '127.0.0.1';
const STEP_LIMIT_MS = 10 * 60_000;
const ANY_ADDRESS = ['0.0.0.0', '::', ''];

/** What keeps it from listening, said to who chose the place. */
function refusedPlace(error: unknown, { host, port }: Pick<SandboxConfig, 'host' | 'port'>): unknown {
  const code = errorCode(error);
  if (code === 'EADDRINUSE')
    return new StartupError(`Port ${port} is in use already. PORT chooses another one, PORT=0 any that is free.`, error);
  if (code === 'EACCES') return new StartupError(`Port ${port} may not be used. PORT chooses another one.`, error);
  return isAddressFault(error) ? new StartupError(`HOST: ${host} is not a local address.`, error) : error;
}

/** The services must know where they are reached before the gateway listens there; a port that is taken is told before anything is touched. */
async function holdPlace(address: Address): Promise<HeldPort> {
  try {
    return await holdPort(address);
  } catch (error) {
    throw refusedPlace(error, address);
  }
}

interface Place {
  readonly host: string;
  readonly port: number;
  readonly url: string;
  /** When the gateway listens there, or will not. */
  release(): void;
}

async function placeOf({ host, port }: SandboxConfig): Promise<Place> {
  const listening = host === 'localhost' ? LOOPBACK : host;
  const held = await holdPlace({ host: listening, port });
  const shown = ANY_ADDRESS.includes(host) ? 'localhost' : host;
  return { ...held, host: listening, url: `http://${shown.includes(':') ? `[${shown}]` : shown}:${held.port}` };
}

const gatewayConfig = ({ host, port }: Place, behind: House, keys: ServiceKeys): GatewayConfig => {
  const upstreams = Object.fromEntries(SERVICE_NAMES.map((name) => [name, [behind.urlOf(name)]]));
  return {
    listen: { host, port },
    ops: null,
    drain: SANDBOX_DRAIN,
    publicBaseUrl: null,
    allowedHosts: [],
    trustedProxies: { has: () => false },
    upstreams,
    prefixes: prefixesOf(upstreams),
    serviceKey: keys.privateKey('gateway'),
    bakedFragments: COMMITTED_FRAGMENTS,
    shedding: false,
    limits: GATEWAY_LIMITS,
  };
};

interface StageParts {
  readonly store: EmbeddedStore;
  readonly place: Place;
  readonly clock: SteppingClock;
  readonly settle: Settle;
  readonly behind: House;
  readonly gateway: () => Gateway;
}

const stageOf = ({ store, place, clock, settle, behind, gateway }: StageParts): Stage => ({
  gate: gate(),
  actions: () => behind.actions(),
  world: () => behind.world(),
  baseUrl: () => place.url,
  now: () => clock.now(),
  settle,
  async advance(ms) {
    await gateway().idle();
    return clock.advance(ms);
  },
  async reset() {
    await behind.stop();
    store.clear();
    await clock.reset();
    await behind.start();
    await gateway().refresh();
  },
  async setService(name, state) {
    await behind.setService(name, state);
    if (state.state === 'down') return;
    await gateway().refresh();
    await settle('facts');
  },
});

interface Ground {
  readonly store: EmbeddedStore;
  readonly place: Place;
  readonly logOf: LogOf;
}

async function startOn({ store, place, logOf }: Ground, config: SandboxConfig): Promise<Omit<Sandbox, 'setAside'>> {
  const log = logOf('sandbox');
  const ids = systemIds();
  const kept = settings(store.database('sandbox').collection<SettingDoc>('settings'), ids);
  const outboxes = openOutboxes();
  // Each attempt at a receiver has its own deadline; how many fall due in a step is the caller's affair.
  const settleStep = () => settle('all', STEP_LIMIT_MS);
  const clock = steppingClock({ aheadMs: await kept.ahead(), keep: kept.keepAhead, settle: settleStep });
  const bus = countedBus(memoryBus({ clock, log }));
  const settle = settling({
    bus,
    parts: () => behind.parts(),
    waiting: outboxes.waiting,
    isPartial: () => behind.isPartial(),
  });
  const keys = serviceKeys(clock);
  const infra = { clock, ids, log };
  const behind = house({
    store,
    bus,
    infra,
    settings: kept,
    keys,
    settle,
    outboxes,
    logOf,
    publicBaseUrl: place.url,
    publicPort: place.port,
    webhooks: config.webhooks,
  });
  await behind.start();
  const stage = stageOf({ store, place, clock, settle, behind, gateway: () => gateway });
  const gateway = createGateway(gatewayConfig(place, behind, keys), {
    ...infra,
    log: logOf('gateway'),
    before: controlApp(stage, { ...infra, callers: config.callers }),
  });
  try {
    await gateway.start();
  } catch (error) {
    await behind.stop();
    throw refusedPlace(error, place);
  }
  return {
    url: place.url,
    world: () => behind.world(),
    async stop() {
      const drained = await gateway.stop();
      await behind.stop();
      // What was answered is kept already.
      const unkept = await faultOf(store.close());
      if (unkept !== null) log.error('the last changes could not be kept', { reason: fileFault(unkept) ?? String(unkept) });
      return drained && unkept === null;
    },
  };
}

async function startAt(place: Place, config: SandboxConfig, logOf: LogOf): Promise<Sandbox> {
  const { store, setAside } = openStore(config, logOf('sandbox'));
  try {
    return { ...(await startOn({ store, place, logOf }, config)), setAside };
  } catch (error) {
    const fault = (await faultOf(store.close())) ?? error;
    const reason = fileFault(fault);
    throw reason === null ? fault : new StartupError(`The data folder ${config.data} cannot be written: ${reason}.`, fault);
  }
}

const faultOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => null,
    (error: unknown) => error,
  );

/** What SQLite says of its file, such as that the disk is full; null when it is not the file's fault. */
const fileFault = (error: unknown): string | null => {
  if (!Error.isError(error)) return null;
  return errorCode(error) === 'ERR_SQLITE_ERROR' ? error.message : fileFault(error.cause);
};

/** Every service and the gateway in one process, on one embedded store, with a control plane beside the public API. */
export async function startSandbox(config: SandboxConfig, logOf: LogOf): Promise<Sandbox> {
  const place = await placeOf(config);
  try {
    return await startAt(place, config, logOf);
  } finally {
    place.release();
  }
}
