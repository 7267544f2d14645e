import { type Composition, createLoop, defineService, type ServiceContext } from '@bubbles/host/service.ts';
import { singleFlight } from '@bubbles/kernel/concurrency.ts';
import { startLoop } from '@bubbles/kernel/loop.ts';
import { createSeal, type Seal } from '@bubbles/kernel/seal.ts';
import { createMailer } from '@bubbles/mail/mailer.ts';
import type { Job } from '@bubbles/store/work/run-jobs.ts';
import { accountChanged } from './adapters/bus/events.ts';
import { openClients } from './adapters/client-documents/clients.ts';
import { accountRoutes } from './adapters/http/account.ts';
import { adminAccountRoutes } from './adapters/http/admin-accounts.ts';
import { adminGrantRoutes } from './adapters/http/admin-grants.ts';
import { adminTeamRoutes } from './adapters/http/admin-teams.ts';
import { apiKeyRoutes } from './adapters/http/api-keys.ts';
import { connectedAppPages } from './adapters/http/app-connections.ts';
import { apiKeyPages } from './adapters/http/app-keys.ts';
import { sessionPages } from './adapters/http/app-sessions.ts';
import { webhookPages } from './adapters/http/app-webhooks.ts';
import { authorizationRoutes } from './adapters/http/authorize.ts';
import { oauthClient } from './adapters/http/client-guard.ts';
import { discoveryRoutes } from './adapters/http/discovery.ts';
import { ownGuards } from './adapters/http/guards.ts';
import { internalRoutes } from './adapters/http/internal.ts';
import { jwksRoutes } from './adapters/http/jwks.ts';
import { registrationRoutes } from './adapters/http/register.ts';
import { signInRoutes } from './adapters/http/sign-in.ts';
import { signedInGuard } from './adapters/http/signed-in.ts';
import { signupRoutes } from './adapters/http/signup.ts';
import { tokenRoutes } from './adapters/http/token.ts';
import { codeMails } from './adapters/mail/code-mails.ts';
import { createRateWindows } from './adapters/memory/rate-windows.ts';
import { createRequestLimit } from './adapters/memory/request-limits.ts';
import { createWebhooks } from './adapters/services/webhooks.ts';
import { createAccessTokenSigner, createAccessTokenVerifier } from './adapters/signing/access-tokens.ts';
import { createAssertionIssuer } from './adapters/signing/assertions.ts';
import { createKeyRing, ED25519, ES256 } from './adapters/signing/key-ring.ts';
import { EARLIER_ADDRESSES_TAKEN, MIGRATIONS, takeEarlierPage } from './adapters/store/migrations.ts';
import { openStores } from './adapters/store/stores.ts';
import { type App, createApp } from './app.ts';
import { type Config, configOf, lifetimesOf, VARIABLES } from './config.ts';
import type { OAuthLifetimes } from './domain/grant.ts';
import { takeEarlierAddresses } from './use-cases/addresses.ts';

const HOUR_MS = 3_600_000;
/** How long a signing key is published after the last token that it signed has expired. */
const CACHES_AND_SKEW_MS = HOUR_MS;
/** More than the life of an assertion, as replicas of the release before have it. */
const KEEP_ASSERTION_KEYS_MS = 2 * HOUR_MS;
/** Limit for one client from one network. */
const TOKEN_REQUESTS = { perMinute: 60, burst: 60 };
/** Half of the minute within which a use of a key shows. */
const FLUSH_MS = 30_000;

type RingOptions = Pick<ServiceContext<typeof VARIABLES>, 'clock' | 'ids'> & { readonly seal: Seal; readonly lifetimes: OAuthLifetimes };

/** Key rings for assertions and for access tokens. */
const openKeyRings = ({ assertionKeys, accessTokenKeys }: ReturnType<typeof openStores>, { lifetimes, ...sealed }: RingOptions) => ({
  assertionRing: createKeyRing({ ...sealed, keys: assertionKeys, algorithm: ED25519, keepAfterMs: KEEP_ASSERTION_KEYS_MS }),
  ring: createKeyRing({
    ...sealed,
    keys: accessTokenKeys,
    algorithm: ES256,
    keepAfterMs: lifetimes.accessTokenMs + CACHES_AND_SKEW_MS,
  }),
});

const routesOf = (app: App, { config, publicBaseUrl, clock }: ServiceContext<typeof VARIABLES>): Composition['routes'] => {
  const guards = ownGuards(app);
  return [
    ...accountRoutes(app, guards),
    ...apiKeyRoutes(app, guards),
    ...discoveryRoutes(publicBaseUrl, { takesDocuments: config.OAUTH_CLIENT_DOCUMENTS }),
    ...jwksRoutes(app),
    ...registrationRoutes(app, publicBaseUrl),
    ...authorizationRoutes(app, publicBaseUrl),
    ...signInRoutes(app, publicBaseUrl),
    ...tokenRoutes({ app, client: oauthClient({ app, limit: createRequestLimit(TOKEN_REQUESTS, clock) }), publicBaseUrl }),
    ...internalRoutes(app),
    ...signupRoutes(app),
    ...adminAccountRoutes(app),
    ...adminGrantRoutes(app),
    ...adminTeamRoutes(app),
    ...appPages(app, publicBaseUrl),
  ];
};

const compose = (context: ServiceContext<typeof VARIABLES>, { documents, mailTransport }: Config): Composition => {
  const { config, publicBaseUrl, clock, ids, log, metrics, client } = context;
  const stores = openStores(context);
  const seal = createSeal(config.SEAL_KEYS, ids.bytes);
  const lifetimes = lifetimesOf(config);
  const { assertionRing, ring } = openKeyRings(stores, { lifetimes, seal, clock, ids });
  const clients = openClients({ registered: stores.registeredClients, documents, clock, log });
  const transport = mailTransport({ clock, ids });
  const mailer = createMailer({ mails: stores.mails, transport, seal, clock, ids, log, registry: metrics.registry });
  const app = createApp({
    ...stores,
    takeEarlierAddresses: singleFlight(
      takeEarlierAddresses({
        ...stores,
        areEarlierTaken: () => context.hasMigrated(EARLIER_ADDRESSES_TAKEN),
        takeEarlierPage: (after) => takeEarlierPage(context, after),
      }),
    ),
    clients,
    clock,
    ids,
    accountChanged,
    accessTokens: createAccessTokenVerifier({ ring, issuer: publicBaseUrl, clock }),
    rateWindows: createRateWindows(),
    accessTokenSigner: createAccessTokenSigner({ ring, issuer: publicBaseUrl, ids }),
    accessTokenKeys: ring,
    assertions: createAssertionIssuer({ ring: assertionRing, clock }),
    assertionKeys: assertionRing,
    lifetimes,
    issuer: publicBaseUrl,
    mailCode: codeMails(mailer),
    codesPerClient: config.SIGN_IN_CODES_PER_CLIENT,
    trialMs: config.PRO_TRIAL,
    webhooks: createWebhooks(() => client('webhooks-dispatcher')),
  });
  const flush = async () => {
    await Promise.all([stores.keyUses.flush(), stores.grantUses.flush()]);
  };
  const flusher = createLoop((own) => startLoop({ ...own, name: 'uses', pollMs: FLUSH_MS, run: () => flush().then(() => null) }));
  return {
    seal,
    sealed: [{ collection: 'assertion_keys', fields: ['sealed'] }, { collection: 'oauth_signing_keys', fields: ['sealed'] }, mailer.sealed],
    routes: routesOf(app, context),
    outboxes: stores.relayed,
    jobs: jobs(app, stores),
    loops: [flusher, mailer.loop],
    ensureIndexes: stores.ensureIndexes,
    // Without keys that sign, opened with our master key, no request could be vouched for.
    check: async () => {
      await Promise.all([assertionRing.check(), ring.check()]);
    },
    releaseLeases: mailer.releaseLeases,
    close: async () => {
      await Promise.all([flush(), clients.close(), mailer.close()]);
    },
  };
};

/** `change` sets what has no variable, such as the client metadata documents that the sandbox admits. */
export const identityAndOauthWith = (change: (config: Config) => Config) =>
  defineService({
    name: 'identity-and-oauth',
    variables: VARIABLES,
    asks: ['webhooks-dispatcher'],
    reaches: ['internet', 'mail server'],
    migrations: MIGRATIONS,
    compose: (context) => compose(context, change(configOf(context.config))),
  });

export const identityAndOauth = identityAndOauthWith((config) => config);

/** For a person in a browser. */
const appPages = (app: App, publicBaseUrl: string): Composition['routes'] => {
  const signedIn = signedInGuard(app);
  return [
    ...apiKeyPages(app, signedIn),
    ...connectedAppPages(app, signedIn),
    ...webhookPages(app, signedIn),
    ...sessionPages(app, signedIn, publicBaseUrl),
  ];
};

const jobs = (app: App, { mailedCodes, throttle }: ReturnType<typeof openStores>): readonly Job[] => [
  { name: 'rotate-assertion-keys', cron: '17 * * * *', run: app.rotateAssertionKeys },
  { name: 'rotate-access-token-keys', cron: '27 * * * *', run: app.rotateAccessTokenKeys },
  { name: 'sweep-sessions', cron: '43 3 * * *', run: app.sweepSessions },
  { name: 'take-earlier-addresses', cron: '23 * * * *', run: app.takeEarlierAddresses },
  { name: 'sweep-revoked-keys', cron: '53 3 * * *', run: app.sweepRevokedKeys },
  { name: 'sweep-authorization-requests', cron: '7 * * * *', run: app.sweepAuthorizationRequests },
  { name: 'sweep-clients', cron: '13 4 * * *', run: app.sweepClients },
  { name: 'sweep-grants', cron: '37 * * * *', run: app.sweepGrants },
  { name: 'sweep-sign-ins', cron: '13 * * * *', run: app.sweepSignIns },
  { name: 'sweep-mailed-codes', cron: '47 * * * *', run: mailedCodes.sweep },
  { name: 'sweep-throttles', cron: '57 * * * *', run: throttle.sweep },
];
