import { type Composition, createLoop, defineService, type ServiceContext } from '@bubbles/host/service.ts';
import { createSeal } from '@bubbles/kernel/seal.ts';
import { createMailer } from '@bubbles/mail/mailer.ts';
import { createWorker } from '@bubbles/store/work/worker.ts';
import { eventHandlers } from './adapters/bus/event-handlers.ts';
import { createCalendarLinks } from './adapters/calendar/links.ts';
import { calendarAgent, createCalendarProvider } from './adapters/calendar/oauth-provider.ts';
import { createDomainLists } from './adapters/domains/domain-lists.ts';
import { createMailServers } from './adapters/domains/mail-servers.ts';
import { calendarRoutes } from './adapters/http/calendar.ts';
import { stepRoutes } from './adapters/http/steps.ts';
import { codeMails } from './adapters/mail/code-mails.ts';
import { createAccountStateOf, createIdentity } from './adapters/services/identity.ts';
import { leasedGrant } from './adapters/store/calendar-grants.ts';
import { openStores } from './adapters/store/stores.ts';
import { type App, createApp } from './app.ts';
import { type Config, calendarSettings, configOf, ownDomainsOf, VARIABLES } from './config.ts';
import { CONSENT_SECONDS } from './domain/calendar.ts';

/** Longer than identity and the provider of the calendar may take. */
const LEASE_MS = 60_000;
/** Longest life of a link to connect a calendar, and of the cookie during consent. */
const LINK_AND_CONSENT_MS = 3_600_000 + CONSENT_SECONDS * 1000;
const POLL_MS = 5000;
const CONCURRENCY = 4;

const checkGrants = (
  app: App,
  queue: ReturnType<typeof openStores>['grantChecks'],
  { ids }: Pick<ServiceContext<typeof VARIABLES>, 'ids'>,
) =>
  createLoop((own) =>
    createWorker({
      ...own,
      name: 'calendar-grants',
      queue,
      work: (doc, lease) => app.checkGrant(leasedGrant(doc, lease)),
      ids,
      leaseMs: LEASE_MS,
      pollMs: POLL_MS,
      wakesWhenDue: true,
      concurrency: CONCURRENCY,
    }),
  );

const compose = (context: ServiceContext<typeof VARIABLES>, { mailTransport }: Config): Composition => {
  const { config, clock, ids, log, metrics, publicBaseUrl, client } = context;
  const { mails, ensureIndexes, ...stores } = openStores(context);
  const seal = createSeal(config.SEAL_KEYS, ids.bytes);
  const transport = mailTransport({ clock, ids });
  const mailer = createMailer({ mails, transport, seal, clock, ids, log, registry: metrics.registry });
  const calendars = calendarSettings(config, publicBaseUrl);
  const agent = calendarAgent();
  const app = createApp({
    ...stores,
    clock,
    ids,
    mailCode: codeMails(mailer),
    startsPerClient: config.SIGNUP_STARTS_PER_CLIENT,
    domainLists: createDomainLists(ownDomainsOf(config)),
    mailServers: config.SIGNUP_MAIL_SERVER_LOOKUP ? createMailServers({ log, registry: metrics.registry }) : null,
    identity: createIdentity(client('identity-and-oauth')),
    accountStateOf: createAccountStateOf(client('identity-and-oauth')),
    calendarLinks: createCalendarLinks({ sealKeys: config.SEAL_KEYS, publicBaseUrl, clock }),
    calendarProviders: {
      google: createCalendarProvider(calendars.google, { agent, log }),
      microsoft: createCalendarProvider(calendars.microsoft, { agent, log }),
    },
    seal,
    log,
    wakeGrantChecks: () => checkingGrants.poke(),
  });
  const checkingGrants = checkGrants(app, stores.grantChecks, context);
  return {
    seal,
    sealed: [{ collection: 'calendar_grants', fields: ['sealedToken'] }, mailer.sealed],
    sealedElsewhereMs: LINK_AND_CONSENT_MS,
    routes: [...stepRoutes(app, { publicBaseUrl, isInstalled: config.ASSISTANT_CONNECTOR }), ...calendarRoutes(app, publicBaseUrl)],
    eventHandlers: eventHandlers(app),
    jobs: [
      { name: 'sweep-signups', cron: '3-59/10 * * * *', run: app.sweepFlows },
      { name: 'sweep-signup-creations', cron: '37 * * * *', run: app.sweepCreations },
      { name: 'sweep-mailed-codes', cron: '47 * * * *', run: stores.mailedCodes.sweep },
      { name: 'sweep-throttles', cron: '57 * * * *', run: stores.throttle.sweep },
    ],
    loops: [mailer.loop, checkingGrants],
    ensureIndexes,
    releaseLeases: async () => {
      await Promise.all([mailer.releaseLeases(), stores.grantChecks.releaseAll(clock.now())]);
    },
    close: async () => {
      await Promise.all([mailer.close(), agent.destroy()]);
    },
  };
};

/** `change` sets what has no variable, such as the mailbox of the sandbox. */
export const signupWith = (change: (config: Config) => Config) =>
  defineService({
    name: 'signup',
    variables: VARIABLES,
    asks: ['identity-and-oauth'],
    reaches: ['internet', 'mail server'],
    compose: (context) => compose(context, change(configOf(context.config))),
  });

export const signup = signupWith((config) => config);
