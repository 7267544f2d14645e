import { type Composition, defineService, type ServiceContext } from '@bubbles/host/service.ts';
import { createSeal } from '@bubbles/kernel/seal.ts';
import { createMailer } from '@bubbles/mail/mailer.ts';
import { createDomainLists } from './adapters/domains/domain-lists.ts';
import { stepRoutes } from './adapters/http/steps.ts';
import { codeMails } from './adapters/mail/code-mails.ts';
import { createIdentity } from './adapters/services/identity.ts';
import { openStores } from './adapters/store/stores.ts';
import { createApp } from './app.ts';
import { type Config, configOf, VARIABLES } from './config.ts';

const compose = (context: ServiceContext<typeof VARIABLES>, { mailTransport }: Config): Composition => {
  const { config, clock, ids, log, metrics, publicBaseUrl, client } = context;
  const { mails, ensureIndexes, ...stores } = openStores(context);
  const seal = createSeal(config.SEAL_KEYS, ids.bytes);
  const transport = mailTransport({ clock, ids });
  const mailer = createMailer({ mails, transport, seal, clock, ids, log, registry: metrics.registry });
  const app = createApp({
    ...stores,
    clock,
    ids,
    mailCode: codeMails(mailer),
    startsPerClient: config.SIGNUP_STARTS_PER_CLIENT,
    domainLists: createDomainLists({ allowed: new Set(), denied: new Set(), company: new Set(), consumer: new Set() }),
    mailServers: null,
    identity: createIdentity(client('identity-and-oauth')),
    calendarLinks: {
      linksFor: () =>
        Promise.resolve({
          google: `${publicBaseUrl}/connect/calendar/google`,
          microsoft: `${publicBaseUrl}/connect/calendar/microsoft`,
        }),
    },
  });
  return {
    routes: stepRoutes(app, { publicBaseUrl, isInstalled: config.ASSISTANT_CONNECTOR }),
    jobs: [
      { name: 'sweep-signups', cron: '3-59/10 * * * *', run: app.sweepFlows },
      { name: 'sweep-signup-creations', cron: '37 * * * *', run: app.sweepCreations },
      { name: 'sweep-mailed-codes', cron: '47 * * * *', run: stores.mailedCodes.sweep },
      { name: 'sweep-throttles', cron: '57 * * * *', run: stores.throttle.sweep },
    ],
    loops: [mailer.loop],
    ensureIndexes,
    releaseLeases: mailer.releaseLeases,
    close: mailer.close,
  };
};

/** `change` sets what has no variable, such as the mailbox of the sandbox. */
export const signupWith = (change: (config: Config) => Config) =>
  defineService({
    name: 'signup',
    variables: VARIABLES,
    asks: ['identity-and-oauth'],
    compose: (context) => compose(context, change(configOf(context.config))),
  });

export const signup = signupWith((config) => config);
