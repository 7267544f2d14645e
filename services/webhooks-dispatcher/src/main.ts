import { assertedCallers } from '@bubbles/auth/assertions.ts';
import { serviceTokens } from '@bubbles/auth/service-tokens.ts';
import { runServiceProcess } from '@bubbles/host/service-process.ts';
import { internalClient } from '@bubbles/http/client/internal-client.ts';
import { readWebhooksConfig } from './config.ts';
import { createWebhooksDispatcher, NAME } from './service.ts';

await runServiceProcess({
  name: NAME,
  database: 'bubbles_webhooks',
  readConfig: () => readWebhooksConfig(process.env),
  compose: (config, infra, { registry }) => {
    const { clock } = infra;
    const tokens = serviceTokens({ caller: NAME, key: config.serviceKey, clock });
    const identity = internalClient({ callee: 'identity-and-oauth', baseUrls: config.identityUrls, tokens });
    const bubblesQuery = internalClient({ callee: 'bubbles-query', baseUrls: config.bubblesQueryUrls, tokens });
    return {
      service: createWebhooksDispatcher(config.webhooks, infra, { identity, bubblesQuery, registry }),
      authenticator: assertedCallers({ audience: NAME, identity, clock }),
      close: async () => {
        await Promise.all([identity.close(), bubblesQuery.close()]);
      },
    };
  },
});
