import { ApiKeyCreated, CreateApiKeyRequest } from '@bubbles/contracts/api/api-key.ts';
import { EXAMPLE_IDS } from '@bubbles/contracts/api/examples.ts';
import { ApiKeyList, TeamList } from '@bubbles/contracts/api/lists.ts';
import { CallerId } from '@bubbles/contracts/api/text.ts';
import { User } from '@bubbles/contracts/api/user.ts';
import { defineRoute, route } from '@bubbles/http/routes/define-route.ts';
import type { Route } from '@bubbles/http/routes/route.ts';
import { z } from 'zod';
import type { App } from '../../app.ts';
import type { AdmittedAccounts } from './admitted-accounts.ts';
import { presentIssuedKey, presentListedKey, presentTeam, presentUser } from './present.ts';

const getMe = defineRoute({
  method: 'GET',
  path: '/v1/me',
  operationId: 'getMe',
  summary: 'Read the authenticated user',
  tag: 'Account',
  auth: { kind: 'pat', scope: null },
  success: { status: 200, schema: User },
  errors: [],
});

const listTeams = defineRoute({
  method: 'GET',
  path: '/v1/teams',
  operationId: 'listTeams',
  summary: 'List the teams of the user',
  description: 'Archived teams and hidden guest memberships (joined through a public link) are left out.',
  tag: 'Account',
  auth: { kind: 'pat', scope: null },
  success: { status: 200, schema: TeamList },
  errors: [],
});

const createApiKey = defineRoute({
  method: 'POST',
  path: '/v1/api-keys',
  operationId: 'createApiKey',
  summary: 'Create a personal access token',
  description: 'The token is shown in this answer and nowhere else. A user has at most 10 active ones.',
  tag: 'API keys',
  auth: { kind: 'session' },
  body: CreateApiKeyRequest,
  success: { status: 201, schema: ApiKeyCreated },
  errors: ['forbidden', 'limit_reached'],
  idempotent: true,
  secret: true,
});

const listApiKeys = defineRoute({
  method: 'GET',
  path: '/v1/api-keys',
  operationId: 'listApiKeys',
  summary: 'List the active personal access tokens',
  description: 'Newest first, previews only.',
  tag: 'API keys',
  auth: { kind: 'session' },
  success: { status: 200, schema: ApiKeyList },
  errors: [],
});

const revokeApiKey = defineRoute({
  method: 'DELETE',
  path: '/v1/api-keys/{id}',
  operationId: 'revokeApiKey',
  summary: 'Revoke a personal access token',
  description: 'At once: its next use answers 401 `token_revoked`. After a year the key is forgotten, and its use answers `unauthorized`.',
  tag: 'API keys',
  auth: { kind: 'session' },
  params: z.object({ id: CallerId.meta({ description: 'Of the key', examples: [EXAMPLE_IDS.key] }) }),
  success: { status: 204, schema: null },
  errors: ['not_found'],
});

export const publicRoutes = (app: App, accounts: AdmittedAccounts): readonly Route[] => [
  route(getMe, ({ caller }) => Promise.resolve(presentUser(accounts.of(caller)))),
  route(listTeams, async ({ caller }) => ({ data: (await app.teamsOfCaller(accounts.of(caller))).map(presentTeam) })),
  route(createApiKey, async ({ caller, body, ids }) =>
    presentIssuedKey(await app.createKey({ owner: accounts.of(caller), name: body.name, ids })),
  ),
  route(listApiKeys, async ({ caller }) => ({ data: (await app.listKeys(accounts.of(caller))).map(presentListedKey) })),
  route(revokeApiKey, async ({ caller, params }) => {
    await app.revokeKey({ owner: accounts.of(caller), keyId: params.id });
  }),
];
