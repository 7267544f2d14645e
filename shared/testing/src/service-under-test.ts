import { generateKeyPairSync } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Authenticator } from '@bubbles/auth/guards.ts';
import type { Bus, EventDefinition } from '@bubbles/bus/bus.ts';
import type { Caller } from '@bubbles/contracts/access.ts';
import { type Infra, openService, type Service, type ServiceDefinition } from '@bubbles/host/service.ts';
import { hostService, INSTANT_DRAIN } from '@bubbles/host/service-host.ts';
import { type LocalMachine, localEnvironment, readServiceConfig, type ServiceConfig } from '@bubbles/host/variables.ts';
import type { InternalClient } from '@bubbles/http/client/internal-client.ts';
import { type Metrics, unshownMetrics } from '@bubbles/http/ops/metrics.ts';
import { NO_SHEDDING } from '@bubbles/http/wire/overload.ts';
import type { Clock } from '@bubbles/kernel/clock.ts';
import type { Environment } from '@bubbles/kernel/config.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import { systemIds } from '@bubbles/kernel/ids.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import type { Database } from '@bubbles/store/collection.ts';
import { type FakeClock, fakeClock } from './fake-clock.ts';
import { aCaller, fakeAuthenticator, fakeInternalAuth, SILENT_LOG } from './http.ts';
import { memoryDatabase } from './memory-database.ts';
import { recordingBus } from './recording-bus.ts';

const away = () => Promise.reject(new DomainError('unavailable', 'Nobody is there.'));
/** Another service that is away. */
export const ABSENT_PEER: InternalClient = { get: away, post: away, send: away, close: () => Promise.resolve() };

/** The bytes of a secret of a test. */
export const testSecret = (name: string, bytes: number): Buffer => Buffer.alloc(bytes, name);

const pair = generateKeyPairSync('ed25519');
const machine: LocalMachine = {
  publicBaseUrl: 'https://api.test',
  keyId: 'k1',
  secret: testSecret,
  folder: (name) => join(tmpdir(), `test-${process.pid}`, name),
  callerKeys: () => `nobody=${pair.publicKey.export({ format: 'der', type: 'spki' }).toString('base64')}`,
  serviceKey: () => ({ SERVICE_KEY: pair.privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64') }),
  urls: () => 'http://127.0.0.1:9',
};

/** What a definition is told in a test; `given` wins. */
export const testConfig = (definition: ServiceDefinition, given: Environment = {}): ServiceConfig =>
  readServiceConfig(definition, { ...localEnvironment(definition, machine, {}), ...given });

interface TestServiceOptions {
  /** Database of another replica, to share its data. */
  readonly database?: Database;
  readonly clock?: FakeClock;
  readonly bus?: Bus;
  readonly log?: Log;
  /** Stand-ins for those that it asks; the others are away. */
  readonly peers?: Readonly<Record<string, InternalClient>>;
  readonly events?: readonly EventDefinition[];
  /** Variables that are not to have the value of a test. */
  readonly environment?: Environment;
  /** `await` leaves the steps of the service to the test; else the start runs them. */
  readonly migrations?: 'await' | 'run';
}

/** A service as its definition composes it, not started: what it serves and consumes can be read off. */
export const openTestService = (
  definition: ServiceDefinition,
  {
    peers = {},
    environment,
    events,
    migrations = 'run',
    clock = fakeClock(),
    ...given
  }: Omit<TestServiceOptions, 'clock'> & { readonly clock?: Clock } = {},
  authenticator?: Authenticator,
) => {
  const infra: Infra = {
    ids: systemIds(),
    bus: recordingBus(),
    log: SILENT_LOG,
    database: given.database ?? memoryDatabase(),
    ...given,
    clock,
  };
  const metrics = unshownMetrics();
  const absent = Object.fromEntries(definition.asks.map((callee) => [callee, ABSENT_PEER]));
  const service = openService(definition, {
    ...infra,
    metrics,
    migrations,
    config: testConfig(definition, environment),
    peers: { ...absent, ...peers },
    ...(events && { events }),
    ...(authenticator && { authenticator }),
  });
  return { infra, metrics, service };
};

export interface TestService {
  readonly service: Service;
  readonly infra: Infra;
  readonly clock: FakeClock;
  readonly database: Database;
  readonly metrics: Metrics;
  readonly url: string;
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** Sets the caller of the following requests, for services that do not read credentials themselves; null for an anonymous one. */
  actAs(caller: Caller | null): void;
  runJob(name: string): Promise<void>;
  stop(): Promise<void>;
}

/** The service over a real socket, on a store in memory, with a clock that stands still; its jobs run when they are told to. */
export const startTestService = async (
  definition: ServiceDefinition,
  { clock = fakeClock(), ...options }: TestServiceOptions = {},
): Promise<TestService> => {
  let caller: Caller | null = aCaller();
  const opened = openTestService(
    definition,
    { ...options, clock },
    fakeAuthenticator(() => caller),
  );
  const { service, infra, metrics } = opened;
  const host = await hostService({
    service,
    infra,
    metrics,
    listen: { host: '127.0.0.1', port: 0 },
    ops: null,
    publicBaseUrl: machine.publicBaseUrl,
    internalAuth: fakeInternalAuth(),
    shedder: NO_SHEDDING,
    drain: INSTANT_DRAIN,
    startJobs: () => ({ idle: () => Promise.resolve(), stop: () => Promise.resolve() }),
  });
  const stop = async () => {
    await host.stop();
  };
  await host.started.catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  return {
    ...opened,
    clock,
    database: infra.database,
    url: host.url,
    stop,
    fetch: (path, init) => fetch(`${host.url}${path}`, init),
    actAs(next) {
      caller = next;
    },
    async runJob(name) {
      const job = service.jobs.find((one) => one.name === name);
      if (job === undefined) throw new Error(`${service.name} has no job ${name}`);
      await job.run();
    },
  };
};
