import type { Authenticator } from '@bubbles/auth/guards.ts';
import { CREDENTIAL_REFUSALS } from '@bubbles/contracts/access.ts';
import { publishedBy } from '@bubbles/contracts/events/catalog.ts';
import { idempotencyStore } from '@bubbles/host/idempotency-store.ts';
import type { Infra, Service } from '@bubbles/host/service.ts';
import type { IdempotencyStore } from '@bubbles/http/routes/idempotency.ts';
import { refusal } from '@bubbles/kernel/errors.ts';
import { startLoop } from '@bubbles/kernel/loop.ts';
import { createSeal } from '@bubbles/kernel/seal.ts';
import { createOutboxRelay, releaseOutboxes } from '@bubbles/store/outbox-relay.ts';
import type { Job } from '@bubbles/store/work/run-jobs.ts';
import { createAssertionIssuer } from './adapters/assertions/assertion-issuer.ts';
import { createKeyRing } from './adapters/assertions/key-ring.ts';
import { accountChanged } from './adapters/bus/events.ts';
import { accountRoutes } from './adapters/http/account.ts';
import { adminAccountRoutes } from './adapters/http/admin-accounts.ts';
import { adminTeamRoutes } from './adapters/http/admin-teams.ts';
import { discoveryRoutes } from './adapters/http/discovery.ts';
import { ownGuards } from './adapters/http/guards.ts';
import { internalRoutes } from './adapters/http/internal.ts';
import { createRateWindows } from './adapters/memory/rate-windows.ts';
import { openStores, type Stores } from './adapters/store/stores.ts';
import { noIssuer } from './adapters/tokens/no-issuer.ts';
import { type App, createApp } from './app.ts';
import type { Config } from './config.ts';

export const NAME = 'identity-and-oauth';
/** Half of the minute within which a use of a key shows. */
const FLUSH_MS = 30_000;

/** Identity reads credentials itself and takes no assertion. */
export interface IdentityService extends Service {
  readonly authenticator: Authenticator;
  readonly idempotency: IdempotencyStore;
}

export function createIdentity({ publicBaseUrl, sealKeys, releaseLeasesAtStart }: Config, infra: Infra): IdentityService {
  const { clock, ids } = infra;
  let loops: ReturnType<typeof startLoops> | null = null;
  const stores = openStores({ ...infra, source: NAME, onCommit: () => loops?.relay.poke() });
  const seal = createSeal(sealKeys, ids.bytes);
  const ring = createKeyRing({ keys: stores.assertionKeys, seal, clock, ids });
  const app = createApp({
    ...stores,
    clock,
    ids,
    accountChanged,
    accessTokens: noIssuer,
    rateWindows: createRateWindows(),
    assertions: createAssertionIssuer({ ring, clock }),
    assertionKeys: ring,
  });
  return {
    name: NAME,
    authenticator: { callerOf: () => Promise.reject(refusal(CREDENTIAL_REFUSALS.unauthorized)) },
    routes: [
      ...accountRoutes(app, ownGuards(app)),
      ...discoveryRoutes(publicBaseUrl),
      ...internalRoutes(app),
      ...adminAccountRoutes(app),
      ...adminTeamRoutes(app),
    ],
    idempotency: idempotencyStore({ ...infra, seal }),
    eventHandlers: [],
    jobs: jobs(app),
    start: async () => {
      await stores.ensureIndexes();
      // A key that signs, opened with our master key: else no request could be vouched for.
      await ring.current();
      if (releaseLeasesAtStart) await releaseOutboxes(stores.relayed, clock.now());
      loops = startLoops(stores, infra);
    },
    settle: async () => {
      loops?.flusher.poke();
      await Promise.all([loops?.relay.idle(), loops?.flusher.idle()]);
    },
    stop: async () => {
      await Promise.all([loops?.relay.stop(), loops?.flusher.stop()]);
      await stores.keyUses.flush();
    },
  };
}

const startLoops = ({ relayed, keyUses }: Stores, infra: Infra) => ({
  relay: createOutboxRelay({ ...infra, collections: relayed, definitions: publishedBy(NAME) }),
  flusher: startLoop({
    name: 'key-uses',
    clock: infra.clock,
    log: infra.log,
    pollMs: FLUSH_MS,
    run: async () => {
      await keyUses.flush();
      return null;
    },
  }),
});

const jobs = (app: App): readonly Job[] => [
  { name: 'rotate-assertion-keys', cron: '17 * * * *', run: app.rotateAssertionKeys },
  { name: 'sweep-sessions', cron: '43 3 * * *', run: app.sweepSessions },
  { name: 'sweep-revoked-keys', cron: '53 3 * * *', run: app.sweepRevokedKeys },
];
