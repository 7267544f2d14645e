import { assertedCallers } from '@bubbles/auth/assertions.ts';
import { SEARCH_DEFAULTS } from '@bubbles/bubbles-query/config.ts';
import { createBubblesQuery } from '@bubbles/bubbles-query/service.ts';
import type { Infra } from '@bubbles/host/service.ts';
import type { ServiceParts } from '@bubbles/host/service-process.ts';
import { internalClient } from '@bubbles/http/client/internal-client.ts';
import { createIdentity } from '@bubbles/identity-and-oauth/service.ts';
import { PRODUCTION_LIMITS, PRODUCTION_TIMING, type ReceiverSettings } from '@bubbles/webhooks-dispatcher/config.ts';
import { createWebhooksDispatcher } from '@bubbles/webhooks-dispatcher/service.ts';
import type { Registry } from 'prom-client';
import type { CallerName, ServiceKeys } from './service-keys.ts';
import type { SandboxSecrets } from './settings.ts';

export const SERVICE_NAMES = ['identity-and-oauth', 'bubbles-query', 'webhooks-dispatcher'] as const;
export type ServiceName = (typeof SERVICE_NAMES)[number];

export interface Surroundings {
  readonly publicBaseUrl: string;
  readonly secrets: SandboxSecrets;
  readonly keys: ServiceKeys;
  readonly webhooks: ReceiverSettings;
  /** Where a service is served; known once it has been started. */
  readonly urlOf: (name: ServiceName) => string;
}

/** Deep links of the world; nothing of the app is served here. */
const APP_BASE_URL = 'https://app.example.com';

type Build = (infra: Infra, registry: Registry) => ServiceParts;

/** The services as the sandbox composes them: the code of production, told where it is by values instead of an environment. */
export function builders(surroundings: Surroundings): Readonly<Record<ServiceName, Build>> {
  const { secrets, publicBaseUrl, keys, urlOf } = surroundings;
  const sealKeys = [{ id: 'sandbox', key: secrets.sealKey }];
  const cursorKeys = { current: secrets.cursorKey, previous: null };
  const client = (caller: CallerName, callee: ServiceName) =>
    internalClient({ callee, baseUrls: [urlOf(callee)], tokens: keys.tokens(caller) });

  return {
    'identity-and-oauth': (infra) => {
      const service = createIdentity({ publicBaseUrl, sealKeys, releaseLeasesAtStart: true }, infra);
      return { service, authenticator: service.authenticator, close: () => Promise.resolve() };
    },
    'bubbles-query': (infra) => {
      const identity = client('bubbles-query', 'identity-and-oauth');
      const config = {
        appBaseUrl: APP_BASE_URL,
        cursorKeys,
        personKey: secrets.personKey,
        search: SEARCH_DEFAULTS,
        releaseLeasesAtStart: true,
      };
      const service = createBubblesQuery(config, infra, { identity });
      return {
        service,
        authenticator: assertedCallers({ audience: 'bubbles-query', identity, clock: infra.clock }),
        close: () => identity.close(),
      };
    },
    'webhooks-dispatcher': (infra, registry) => {
      const identity = client('webhooks-dispatcher', 'identity-and-oauth');
      const bubblesQuery = client('webhooks-dispatcher', 'bubbles-query');
      const config = {
        ...surroundings.webhooks,
        appBaseUrl: APP_BASE_URL,
        sealKeys,
        cursorKeys,
        timing: PRODUCTION_TIMING,
        limits: PRODUCTION_LIMITS,
        releaseLeasesAtStart: true,
      };
      const service = createWebhooksDispatcher(config, infra, { identity, bubblesQuery, registry });
      const close = async () => {
        await Promise.all([identity.close(), bubblesQuery.close()]);
      };
      return { service, authenticator: assertedCallers({ audience: 'webhooks-dispatcher', identity, clock: infra.clock }), close };
    },
  };
}
