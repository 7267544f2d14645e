import type { Authenticator, AuthPorts, InternalAuth } from '@bubbles/auth/guards.ts';
import { internal } from '@bubbles/auth/guards.ts';
import type { Caller } from '@bubbles/contracts/access.ts';
import { fragmentRoute } from '@bubbles/http/document/fragment-route.ts';
import { createHttpApp } from '@bubbles/http/routes/app.ts';
import type { HttpAppOptions } from '@bubbles/http/routes/serve-route.ts';
import { NO_SHEDDING } from '@bubbles/http/wire/overload.ts';
import { SERVICE_LIMITS, startServer } from '@bubbles/http/wire/server.ts';
import { systemClock } from '@bubbles/kernel/clock.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import { systemIds } from '@bubbles/kernel/ids.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import { SAMPLE_ERRORS } from './sample-routes.ts';

export const SILENT_LOG: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => SILENT_LOG,
};

/** A caller with every scope; override what the test is about. */
export const aCaller = (overrides: Partial<Caller> = {}): Caller => ({
  userId: 'user-1',
  life: 1,
  credentialId: 'credential-1',
  kind: 'pat',
  scopes: ['bubbles:read', 'webhooks:manage', 'meetings:join'],
  ...overrides,
});

/** Everybody is `caller`; nobody when null. */
export const fakeAuthenticator = (caller: () => Caller | null): Authenticator => ({
  callerOf: () => {
    const current = caller();
    return current === null ? Promise.reject(new DomainError('unauthorized', 'A valid credential is required.')) : Promise.resolve(current);
  },
});

/** Takes `Bearer service:<name>` for a service token. */
export const fakeInternalAuth = (): InternalAuth => ({
  verify: ([first = '', ...others]) => {
    const name = /^Bearer service:(.+)$/.exec(first)?.[1];
    if (name === undefined || others.length > 0) return Promise.reject(new DomainError('unauthorized', 'A service token is required.'));
    return Promise.resolve(name);
  },
});

export const asService = (name: string): { readonly authorization: string } => ({ authorization: `Bearer service:${name}` });

export interface TestHttpOptions extends Partial<Omit<HttpAppOptions<AuthPorts>, 'guardPorts'>>, Partial<AuthPorts> {
  readonly routes: HttpAppOptions<AuthPorts>['routes'];
  /** The caller; null for an anonymous one, `aCaller()` by default. */
  readonly caller?: Caller | null;
}

export interface TestHttp {
  readonly url: string;
  /** Sets the caller of the following requests. */
  actAs(caller: Caller | null): void;
  fetch(path: string, init?: RequestInit): Promise<Response>;
  stop(): Promise<void>;
}

/** The routes of a service over a real socket on a free port. */
export const startTestHttp = async ({ routes, idempotency, caller = aCaller(), ...given }: TestHttpOptions): Promise<TestHttp> => {
  let current = caller;
  const ids = systemIds();
  const { authenticator = fakeAuthenticator(() => current), internalAuth = fakeInternalAuth(), ...settings } = given;
  const name = 'tested-service';
  const app = createHttpApp({
    name,
    log: SILENT_LOG,
    clock: systemClock(),
    ids,
    metrics: { observe: () => undefined, shed: () => undefined },
    shedder: NO_SHEDDING,
    publicBaseUrl: 'https://api.test',
    budgetMs: 20_000,
    ...settings,
    guardPorts: { authenticator, internalAuth },
    idempotency,
    routes: [...routes, fragmentRoute({ name, routes, errors: SAMPLE_ERRORS }, internal(['gateway']))],
  });
  const server = await startServer({ handler: app.callback(), address: { host: '127.0.0.1', port: 0 }, limits: SERVICE_LIMITS, ids });
  return {
    url: server.url,
    actAs: (next) => {
      current = next;
    },
    fetch: (path, init) => fetch(`${server.url}${path}`, init),
    stop: () => server.cut(),
  };
};
