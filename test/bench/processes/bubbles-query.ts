import { assertedCallers } from '@bubbles/auth/assertions.ts';
import { serviceTokens } from '@bubbles/auth/service-tokens.ts';
import { SEARCH_DEFAULTS } from '@bubbles/bubbles-query/config.ts';
import { createBubblesQuery, NAME } from '@bubbles/bubbles-query/service.ts';
import { internalClient } from '@bubbles/http/client/internal-client.ts';
import { signingKey } from '@bubbles/kernel/config-values.ts';
import { settings } from '../harness/in-child.ts';
import { type SeedPlan, seedBubbles } from './seed-bubbles.ts';
import { serveService } from './serve-service.ts';

export interface BubblesSettings {
  readonly seed: SeedPlan;
  readonly identityUrl: string;
  readonly serviceKey: string;
}

const { seed, identityUrl, serviceKey } = settings<BubblesSettings>();
const KEY = Buffer.alloc(32, 7);

await serveService({
  name: NAME,
  seed: (infra) => seedBubbles(infra, seed),
  compose: (infra) => {
    const tokens = serviceTokens({ caller: NAME, key: signingKey().parse(serviceKey), clock: infra.clock });
    const identity = internalClient({ callee: 'identity-and-oauth', baseUrls: [identityUrl], tokens });
    const config = {
      appBaseUrl: 'https://app.test',
      cursorKeys: { current: KEY, previous: null },
      personKey: KEY,
      search: SEARCH_DEFAULTS,
      releaseLeasesAtStart: false,
    };
    return {
      service: createBubblesQuery(config, infra, { identity }),
      authenticator: assertedCallers({ audience: NAME, identity, clock: infra.clock }),
      close: () => identity.close(),
    };
  },
});
