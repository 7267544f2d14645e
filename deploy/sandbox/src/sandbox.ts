import { createMemoryBus } from '@bubbles/bus/memory/memory.ts';
import { GATEWAY } from '@bubbles/contracts/services.ts';
import { COMMITTED_FRAGMENTS, GATEWAY_LIMITS, type GatewayConfig, prefixesOf } from '@bubbles/gateway/config.ts';
import { prefixesIn } from '@bubbles/gateway/documents/ownership.ts';
import { type Gateway, startGateway } from '@bubbles/gateway/gateway.ts';
import type { ServiceDefinition } from '@bubbles/host/service.ts';
import { type Address, type HeldPort, holdPort } from '@bubbles/http/wire/listen.ts';
import { identityAndOauthWith } from '@bubbles/identity-and-oauth/service.ts';
import { keyedMutex } from '@bubbles/kernel/concurrency.ts';
import { errorCode } from '@bubbles/kernel/errors.ts';
import { systemIds } from '@bubbles/kernel/ids.ts';
import { isAddressFault, StartupError } from '@bubbles/kernel/run-process.ts';
import { meetingsWith } from '@bubbles/meetings-bot-gateway/service.ts';
import { PRODUCT, type Product } from '@bubbles/services/product.ts';
import { signupWith } from '@bubbles/signup/service.ts';
import type { EmbeddedStore } from '@bubbles/store-embedded/open-embedded.ts';
import { webhooksDispatcherWith } from '@bubbles/webhooks-dispatcher/service.ts';
import { type CallerKeys, createCallerKeys } from './caller-keys.ts';
import { type SteppingClock, steppingClock } from './clock/stepping-clock.ts';
import type { SandboxConfig } from './config.ts';
import { controlApp } from './control/control-app.ts';
import type { SandboxControl } from './control/routes.ts';
import { type Mailbox, openMailbox } from './mailbox.ts';
import { openFiles, openStore, type SandboxFiles } from './open-store.ts';
import { type LogOf, type SandboxServices, sandboxServices } from './sandbox-services.ts';
import { SANDBOX_DRAIN } from './service-slot.ts';
import { type SettingDoc, settings } from './settings.ts';
import { countedBus, createOutboxWatch, type Settle, settling } from './settle.ts';
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

/** Reason why it cannot listen, for the person who chose the address. */
function refusedAddress(error: unknown, { host, port }: Pick<SandboxConfig, 'host' | 'port'>): unknown {
  const code = errorCode(error);
  if (code === 'EADDRINUSE')
    return new StartupError(`Port ${port} is in use already. PORT chooses another one, PORT=0 any that is free.`, error);
  if (code === 'EACCES') return new StartupError(`Port ${port} may not be used. PORT chooses another one.`, error);
  return isAddressFault(error) ? new StartupError(`HOST: ${host} is not a local address.`, error) : error;
}

/** The services must know where they are reached before the gateway listens there; a port that is taken is told before anything is touched. */
async function holdAddress(address: Address): Promise<HeldPort> {
  try {
    return await holdPort(address);
  } catch (error) {
    throw refusedAddress(error, address);
  }
}

interface ListenAddress {
  readonly host: string;
  readonly port: number;
  readonly url: string;
  /** When the gateway listens there, or will not. */
  release(): void;
}

async function listenAddress({ host, port }: SandboxConfig): Promise<ListenAddress> {
  const listening = host === 'localhost' ? LOOPBACK : host;
  const held = await holdAddress({ host: listening, port });
  const shown = ANY_ADDRESS.includes(host) ? 'localhost' : host;
  return { ...held, host: listening, url: `http://${shown.includes(':') ? `[${shown}]` : shown}:${held.port}` };
}

interface GatewayParts {
  readonly services: SandboxServices;
  readonly keys: CallerKeys;
  readonly product: Product;
}

const gatewayConfig = ({ host, port }: ListenAddress, { services, keys, product }: GatewayParts): GatewayConfig => {
  const upstreams = Object.fromEntries([...services.urls()].map(([name, url]) => [name, [url]]));
  return {
    listen: { host, port },
    ops: null,
    drain: SANDBOX_DRAIN,
    publicBaseUrl: null,
    allowedHosts: [],
    trustedProxies: { has: () => false },
    upstreams,
    prefixes: prefixesOf(upstreams, prefixesIn(product.services)),
    serviceKey: keys.privateKey(GATEWAY),
    bakedFragments: COMMITTED_FRAGMENTS,
    shedding: false,
    limits: GATEWAY_LIMITS,
  };
};

interface ControlParts extends Pick<StartContext, 'store' | 'files'> {
  readonly address: ListenAddress;
  readonly clock: SteppingClock;
  readonly settle: Settle;
  readonly services: SandboxServices;
  readonly mailbox: Mailbox;
  readonly gateway: () => Gateway;
}

const controlOf = ({ store, files, address, clock, settle, services, mailbox, gateway }: ControlParts): SandboxControl => ({
  lock: keyedMutex(),
  actions: () => services.actions(),
  world: () => services.world(),
  baseUrl: () => address.url,
  now: () => clock.now(),
  mails: mailbox.read,
  settle,
  async advance(ms) {
    await gateway().idle();
    return clock.advance(ms);
  },
  async reset() {
    await services.stop();
    store.clear();
    files.clear();
    await clock.reset();
    await services.start();
    await gateway().refresh();
  },
  async setService(name, state) {
    await services.setService(name, state);
    if (state.state === 'down') return;
    await gateway().refresh();
    await settle('facts');
  },
});

interface SandboxRules {
  readonly strictReceivers: boolean;
  readonly ownPorts: () => ReadonlySet<number>;
  readonly mailbox: Mailbox;
}

/** What the sandbox alone admits: receivers and client metadata documents on this machine, and none of them one of ours. Its mails go into its mailbox. */
const definitionsOf = (product: Product, { strictReceivers, ownPorts, mailbox }: SandboxRules): readonly ServiceDefinition[] => {
  const local = { loopback: !strictReceivers, offline: true, ownPorts };
  const changed: readonly ServiceDefinition[] = [
    webhooksDispatcherWith(({ receivers, ...config }) => ({ ...config, receivers: { ...receivers, ...local } })),
    signupWith((config) => ({ ...config, mailTransport: () => mailbox })),
    meetingsWith({ mayBePlain: true }),
    identityAndOauthWith(({ documents }) => ({ documents: documents && { ...documents, ...local }, mailTransport: () => mailbox })),
  ];
  return product.definitions.map((definition) => changed.find(({ name }) => name === definition.name) ?? definition);
};

interface StartContext {
  readonly store: EmbeddedStore;
  readonly files: SandboxFiles;
  readonly address: ListenAddress;
  readonly logOf: LogOf;
  readonly product: Product;
}

async function startOn({ store, files, address, logOf, product }: StartContext, config: SandboxConfig): Promise<Omit<Sandbox, 'setAside'>> {
  const log = logOf('sandbox');
  const ids = systemIds();
  const kept = settings(store.database('sandbox').collection<SettingDoc>('settings'), ids);
  const outboxes = createOutboxWatch();
  // Each attempt at a receiver has its own deadline; how many fall due in a step is the caller's affair.
  const settleStep = () => settle('all', STEP_LIMIT_MS);
  const clock = steppingClock({ aheadMs: await kept.ahead(), keep: kept.keepAhead, settle: settleStep });
  const mailbox = await openMailbox(store.database('sandbox'), clock);
  const bus = countedBus(createMemoryBus({ clock, log }));
  const settle = settling({
    bus,
    parts: () => services.parts(),
    waiting: outboxes.waiting,
    isPartial: () => services.isPartial(),
  });
  const keys = createCallerKeys(product.services);
  const infra = { clock, ids, log };
  const services = sandboxServices({
    definitions: definitionsOf(product, { ...config, mailbox, ownPorts: () => new Set([address.port, ...services.ports()]) }),
    events: product.events,
    environment: config.settings,
    store,
    bus,
    infra,
    settings: kept,
    keys,
    settle,
    outboxes,
    logOf,
    publicBaseUrl: address.url,
    folder: files.folder,
  });
  await services.start();
  const control = controlOf({ store, files, address, clock, settle, services, mailbox, gateway: () => gateway });
  const gateway = await startGateway(gatewayConfig(address, { services, keys, product }), {
    ...infra,
    log: logOf('gateway'),
    wrapHandler: controlApp(control, { ...infra, callers: config.callers }),
  }).catch(async (error: unknown) => {
    await services.stop();
    throw refusedAddress(error, address);
  });
  return {
    url: address.url,
    world: () => services.world(),
    async stop() {
      const drained = await gateway.stop();
      await services.stop();
      // What was answered is kept already.
      const unkept = await faultOf(store.close());
      files.close();
      if (unkept !== null) log.error('the last changes could not be kept', { reason: fileFault(unkept) ?? String(unkept) });
      return drained && unkept === null;
    },
  };
}

async function startAt(config: SandboxConfig, context: Omit<StartContext, 'store' | 'files'>): Promise<Sandbox> {
  const log = context.logOf('sandbox');
  let isUp = false;
  const onFault = (fault: unknown) => {
    // A start that fails says why itself.
    if (isUp && fault === null) log.info('data file is written again');
    else if (isUp) log.error('data file cannot be written', { reason: fileFault(fault) ?? String(fault) });
  };
  const { store, setAside } = openStore(config, { log, onFault });
  const files = openFiles(config);
  try {
    const sandbox = await startOn({ ...context, store, files }, config);
    isUp = true;
    return { ...sandbox, setAside };
  } catch (error) {
    files.close();
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
export async function startSandbox(config: SandboxConfig, logOf: LogOf, product: Product = PRODUCT): Promise<Sandbox> {
  const address = await listenAddress(config);
  try {
    return await startAt(config, { address, logOf, product });
  } finally {
    address.release();
  }
}
