import { AssertionKeySet } from '@bubbles/auth/assertion-keys.ts';
import { AccessRequest, AccessResponse } from '@bubbles/contracts/internal/access.ts';
import { AccountsSnapshot } from '@bubbles/contracts/internal/accounts.ts';
import { AdminPageQuery } from '@bubbles/contracts/internal/admin.ts';
import { ChecksRequest, ChecksResponse, type CredentialCheck } from '@bubbles/contracts/internal/checks.ts';
import { defineRoute, route } from '@bubbles/http/routes/define-route.ts';
import type { Route } from '@bubbles/http/routes/route.ts';
import type { App } from '../../app.ts';
import { pageById } from './paging.ts';
import { presentAccount, presentAccountAccess, presentCheck, presentTeamAccess } from './present.ts';

const TAG = 'Internal';
/** A full batch of access tokens as long as they may be. */
const CHECKS_LIMIT_BYTES = 256 * (8192 + 256);

const checkCredentials = defineRoute({
  method: 'POST',
  path: '/internal/v1/checks',
  operationId: 'checkCredentials',
  summary: 'Admit credentials in a batch, answered by index',
  tag: TAG,
  auth: { kind: 'internal', callers: ['gateway'] },
  body: ChecksRequest,
  bodyLimitBytes: CHECKS_LIMIT_BYTES,
  success: { status: 200, schema: ChecksResponse },
  errors: [],
  secret: true,
});

const getAssertionKeys = defineRoute({
  method: 'GET',
  path: '/internal/v1/assertion-keys',
  operationId: 'getAssertionKeys',
  summary: 'The keys that verify assertions (RFC 7517)',
  tag: TAG,
  auth: {
    kind: 'internal',
    callers: ['gateway', 'bubbles-query', 'meetings-bot-gateway', 'webhooks-dispatcher', 'signup', 'assistant-connector'],
  },
  success: { status: 200, schema: AssertionKeySet },
  errors: [],
});

const readAccess = defineRoute({
  method: 'POST',
  path: '/internal/v1/access',
  operationId: 'readAccess',
  summary: 'The live state of accounts and teams in a batch, answered in the order asked',
  tag: TAG,
  auth: { kind: 'internal', callers: ['webhooks-dispatcher', 'meetings-bot-gateway', 'bubbles-query'] },
  body: AccessRequest,
  success: { status: 200, schema: AccessResponse },
  errors: [],
});

const snapshotAccounts = defineRoute({
  method: 'GET',
  path: '/internal/v1/accounts',
  operationId: 'snapshotAccounts',
  summary: 'Every account in order of id, to fill a projection again',
  tag: TAG,
  auth: { kind: 'internal', callers: ['bubbles-query', 'meetings-bot-gateway', 'operator'] },
  query: AdminPageQuery,
  success: { status: 200, schema: AccountsSnapshot },
  errors: [],
});

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

export const internalRoutes = (app: App): readonly Route[] => [
  route(checkCredentials, async ({ body }) => {
    const results = await app.checkForServices(body.checks.map(checkOf));
    return { answers: results.map((result, i) => presentCheck(body.checks[i]?.h ?? '', result)) };
  }),
  route(getAssertionKeys, async () => ({ keys: await app.publishedAssertionKeys() })),
  route(readAccess, async ({ body }) => {
    const access = await app.readAccess({ accountIds: body.user_ids, teamIds: body.team_ids });
    return { users: access.accounts.map(presentAccountAccess), teams: access.teams.map(presentTeamAccess) };
  }),
  route(snapshotAccounts, async ({ query }) => {
    const { rows, next } = await pageById(query, app.listAccounts);
    return { version: 1 as const, accounts: rows.map(presentAccount), next_after: next };
  }),
];
