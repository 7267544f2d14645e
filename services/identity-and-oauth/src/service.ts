import { createLoop, defineService } from '@bubbles/host/service.ts';
import { sealKeys } from '@bubbles/kernel/config-values.ts';
import { startLoop } from '@bubbles/kernel/loop.ts';
import { createSeal } from '@bubbles/kernel/seal.ts';
import type { Job } from '@bubbles/store/work/run-jobs.ts';
import { createAssertionIssuer, createKeyRing } from './adapters/assertions/assertions.ts';
import { accountChanged } from './adapters/bus/events.ts';
import { accountRoutes } from './adapters/http/account.ts';
import { adminAccountRoutes } from './adapters/http/admin-accounts.ts';
import { adminTeamRoutes } from './adapters/http/admin-teams.ts';
import { apiKeyRoutes } from './adapters/http/api-keys.ts';
import { discoveryRoutes } from './adapters/http/discovery.ts';
import { ownGuards } from './adapters/http/guards.ts';
import { internalRoutes } from './adapters/http/internal.ts';
import { createRateWindows } from './adapters/memory/rate-windows.ts';
import { openStores } from './adapters/store/stores.ts';
import { type App, createApp } from './app.ts';

/** Half of the minute within which a use of a key shows. */
const FLUSH_MS = 30_000;

export const identityAndOauth = defineService({
  name: 'identity-and-oauth',
  // They seal the keys that sign assertions; the first one seals.
  variables: { SEAL_KEYS: sealKeys() },
  asks: [],
  compose: (context) => {
    const { config, publicBaseUrl, clock, ids, log } = context;
    const stores = openStores(context);
    const seal = createSeal(config.SEAL_KEYS, ids.bytes);
    const ring = createKeyRing({ keys: stores.assertionKeys, seal, clock, ids });
    const app = createApp({
      ...stores,
      clock,
      ids,
      accountChanged,
      // Nobody has signed an access token for this API yet.
      accessTokens: { verify: () => Promise.resolve(null) },
      rateWindows: createRateWindows(),
      assertions: createAssertionIssuer({ ring, clock }),
      assertionKeys: ring,
    });
    const flush = () => stores.keyUses.flush();
    const flusher = () => startLoop({ name: 'key-uses', clock, log, pollMs: FLUSH_MS, run: () => flush().then(() => null) });
    const guards = ownGuards(app);
    return {
      seal,
      routes: [
        ...accountRoutes(app, guards),
        ...apiKeyRoutes(app, guards),
        ...discoveryRoutes(publicBaseUrl),
        ...internalRoutes(app),
        ...adminAccountRoutes(app),
        ...adminTeamRoutes(app),
      ],
      outboxes: stores.relayed,
      jobs: jobs(app),
      loops: [createLoop(flusher)],
      ensureIndexes: stores.ensureIndexes,
      // A key that signs, opened with our master key: else no request could be vouched for.
      check: async () => {
        await ring.current();
      },
      close: flush,
    };
  },
});

const jobs = (app: App): readonly Job[] => [
  { name: 'rotate-assertion-keys', cron: '17 * * * *', run: app.rotateAssertionKeys },
  { name: 'sweep-sessions', cron: '43 3 * * *', run: app.sweepSessions },
  { name: 'sweep-revoked-keys', cron: '53 3 * * *', run: app.sweepRevokedKeys },
];
