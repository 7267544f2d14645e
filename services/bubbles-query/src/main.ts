import { assertedCallers } from '@bubbles/auth/assertions.ts';
import { serviceTokens } from '@bubbles/auth/service-tokens.ts';
import { runServiceProcess } from '@bubbles/host/service-process.ts';
import { internalClient } from '@bubbles/http/client/internal-client.ts';
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
