import { runServiceProcess } from '@bubbles/host/service-process.ts';
import { readIdentityConfig } from './config.ts';
import { createIdentity, NAME } from './service.ts';

await runServiceProcess({
  name: NAME,
  database: 'bubbles_identity',
  readConfig: () => readIdentityConfig(process.env),
  compose: (config, infra) => {
    const service = createIdentity(config.identity, infra);
    return { service, authenticator: service.authenticator, close: () => Promise.resolve() };
  },
});
