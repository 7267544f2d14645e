import { internal } from '@bubbles/auth/guards.ts';
import {
  AccessRequest,
  AccessResponse,
  AccountsSnapshot,
  AdminPageQuery,
  AssertionKeySet,
  ChecksRequest,
  ChecksResponse,
  type CredentialCheck,
} from '@bubbles/contracts/internal/identity.ts';
import { json } from '@bubbles/http/routes/content.ts';
import { route } from '@bubbles/http/routes/route.ts';
import type { App } from '../../app.ts';
import { pageById } from './paging.ts';
import { presentAccount, presentAccountAccess, presentCheck, presentTeamAccess } from './present.ts';

const TAG = 'Internal';
/** A full batch of access tokens as long as they may be. */
const CHECKS_LIMIT_BYTES = 256 * (8192 + 256);

const checkOf = ({ h, jwt, aud, accepts, uncounted, counted_elsewhere }: CredentialCheck) => ({
  hash: h,
  jwt,
  audience: aud,
  accepts,
  counted: uncounted !== true,
  countedElsewhere: counted_elsewhere
    ? {
        requests: counted_elsewhere.requests,
        firstMsAgo: counted_elsewhere.first_ms_ago,
        lastMsAgo: counted_elsewhere.last_ms_ago,
      }
    : null,
});

const checkCredentials = (app: App) =>
  route(
    {
      method: 'POST',
      path: '/internal/v1/checks',
      operationId: 'checkCredentials',
      summary: 'Admit credentials in a batch, answered by index',
      tag: TAG,
      guard: internal(['gateway']),
      body: ChecksRequest,
      bodyLimitBytes: CHECKS_LIMIT_BYTES,
      answers: { 200: json(ChecksResponse) },
      secret: true,
    },
    async ({ body }) => {
      const results = await app.checkForServices(body.checks.map(checkOf));
      return { answers: results.map((result, i) => presentCheck(body.checks[i]?.h ?? '', result)) };
    },
  );

const getAssertionKeys = (app: App) =>
  route(
    {
      method: 'GET',
      path: '/internal/v1/assertion-keys',
      operationId: 'getAssertionKeys',
      summary: 'The keys that verify assertions (RFC 7517)',
      tag: TAG,
      guard: internal('any'),
      answers: { 200: json(AssertionKeySet) },
    },
    async () => ({ keys: await app.publishedAssertionKeys() }),
  );

const readAccess = (app: App) =>
  route(
    {
      method: 'POST',
      path: '/internal/v1/access',
      operationId: 'readAccess',
      summary: 'The live state of accounts and teams in a batch, answered in the order asked',
      tag: TAG,
      guard: internal(['webhooks-dispatcher', 'meetings-bot-gateway', 'bubbles-query', 'signup']),
      body: AccessRequest,
      answers: { 200: json(AccessResponse) },
    },
    async ({ body }) => {
      const access = await app.readAccess({ accountIds: body.user_ids, teamIds: body.team_ids, emails: body.emails });
      return {
        users: access.accounts.map(presentAccountAccess),
        teams: access.teams.map(presentTeamAccess),
        by_email: access.byEmail.map(({ email, access: found }) => ({ email, user: presentAccountAccess(found) })),
      };
    },
  );

const snapshotAccounts = (app: App) =>
  route(
    {
      method: 'GET',
      path: '/internal/v1/accounts',
      operationId: 'snapshotAccounts',
      summary: 'Every account in order of id, to fill a projection again',
      tag: TAG,
      guard: internal(['bubbles-query', 'meetings-bot-gateway', 'operator']),
      query: AdminPageQuery,
      answers: { 200: json(AccountsSnapshot) },
    },
    async ({ query }) => {
      const { rows, next } = await pageById(query, (page) => app.listAccounts({ ...page, email: null }));
      return { version: 1 as const, accounts: rows.map(presentAccount), next_after: next };
    },
  );

export const internalRoutes = (app: App) => [checkCredentials(app), getAssertionKeys(app), readAccess(app), snapshotAccounts(app)];
