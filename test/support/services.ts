import { SEARCH_DEFAULTS } from '@bubbles/bubbles-query/config.ts';
import { createBubblesQuery } from '@bubbles/bubbles-query/service.ts';
import { API_ERRORS } from '@bubbles/contracts/access.ts';
import type { Infra, Service } from '@bubbles/host/service.ts';
import type { InternalClient } from '@bubbles/http/client/internal-client.ts';
import { openApiFragment } from '@bubbles/http/document/openapi.ts';
import { createIdentity, type IdentityService } from '@bubbles/identity-and-oauth/service.ts';
import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { recordingBus } from '@bubbles/testing/recording-bus.ts';
import { DEFAULT_QUOTA, PRODUCTION_LIMITS, PRODUCTION_TIMING } from '@bubbles/webhooks-dispatcher/config.ts';
import { createWebhooksDispatcher } from '@bubbles/webhooks-dispatcher/service.ts';
import { Registry } from 'prom-client';
import { memoryInfra } from './memory-infra.ts';

const KEY = Buffer.alloc(32, 7);
const SEAL_KEYS = [{ id: 'k1', key: KEY }];
const CURSOR_KEYS = { current: KEY, previous: null };

const nobodyIsThere = () => Promise.reject(new Error('nobody is there'));
const nobody: InternalClient = { get: nobodyIsThere, post: nobodyIsThere, send: nobodyIsThere, close: () => Promise.resolve() };

export const identity = (infra: Infra): IdentityService =>
  createIdentity({ publicBaseUrl: 'https://api.test', sealKeys: SEAL_KEYS, releaseLeasesAtStart: false }, infra);

export const bubblesQuery = (infra: Infra): Service =>
  createBubblesQuery(
    {
      appBaseUrl: 'https://app.test',
      cursorKeys: CURSOR_KEYS,
      personKey: KEY,
      search: SEARCH_DEFAULTS,
      releaseLeasesAtStart: false,
    },
    infra,
    { identity: nobody },
  );

export const webhooksDispatcher = (infra: Infra): Service =>
  createWebhooksDispatcher(
    {
      headerName: 'Service',
      userAgent: 'bubbles',
      appBaseUrl: 'https://app.test',
      sealKeys: SEAL_KEYS,
      cursorKeys: CURSOR_KEYS,
      receivers: { allow: [], deny: [], http: false, loopback: false, offline: false, extraCa: [] },
      timing: PRODUCTION_TIMING,
      limits: PRODUCTION_LIMITS,
      quota: DEFAULT_QUOTA,
      releaseLeasesAtStart: false,
    },
    infra,
    { identity: nobody, bubblesQuery: nobody, registry: new Registry() },
  );

export const SERVICES = [identity, bubblesQuery, webhooksDispatcher] as const;

/** Each service as its composition root makes it, not started: what it serves and consumes can be read off. */
export const everyService = (): readonly Service[] =>
  SERVICES.map((create) => create(memoryInfra('bubbles', { clock: fakeClock(), bus: recordingBus() })));

export const fragmentOf = ({ name, routes, webhooks }: Service) => openApiFragment({ name, routes, webhooks, errors: API_ERRORS });
