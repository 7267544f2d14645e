import { assertedCallers } from '@bubbles/shared/http/asserted-callers.ts';
import { internalClient } from '@bubbles/shared/http/internal-client.ts';
import { serviceTokens } from '@bubbles/shared/http/service-token.ts';
import { runServiceProcess } from '@bubbles/shared/service-process.ts';
import { readBubblesConfig } from './config.ts';
import { createBubblesQuery, NAME } from './service.ts';

await runServiceProcess({
  name: NAME,
  database: 'bubbles_query',
  readConfig: () => readBubblesConfig(process.env),
  compose: (config, infra) => {
    const { clock } = infra;
    const tokens = serviceTokens({ caller: NAME, key: config.serviceKey, clock });
    const identity = internalClient({ callee: 'identity-and-oauth', baseUrls: config.identityUrls, tokens });
    return {
      service: createBubblesQuery(config.bubbles, infra, { identity }),
      authenticator: assertedCallers({ audience: NAME, identity, clock }),
      close: () => identity.close(),
    };
  },
});
