import { ApiKeyCreated, CreateApiKeyRequest } from '@bubbles/contracts/api/api-key.ts';
import { CallerId } from '@bubbles/contracts/api/text.ts';
import {
  AdminAccount,
  AdminAccounts,
  AdminPageQuery,
  CreateAccount,
  CreatedAccount,
  IssuedSession,
  PatchAccount,
  SetAccountState,
} from '@bubbles/contracts/internal/admin.ts';
import { defineRoute, route } from '@bubbles/http/routes/define-route.ts';
import type { Route } from '@bubbles/http/routes/route.ts';
import { z } from 'zod';
import type { App } from '../../app.ts';
import type { Profile } from '../../domain/account.ts';
import { pageById } from './paging.ts';
import { presentIssuedKey } from './present.ts';
import { presentAdminAccount, presentCreatedAccount, presentSession } from './present-admin.ts';

const OPERATOR = { tag: 'Admin', auth: { kind: 'internal', callers: ['operator'] } } as const;
const ById = z.object({ id: CallerId });

const createAccount = defineRoute({
  ...OPERATOR,
  method: 'POST',
  path: '/internal/v1/admin/accounts',
  operationId: 'adminCreateAccount',
  summary: 'Create an active account with a session and, when named, a key',
  body: CreateAccount,
  success: { status: 201, schema: CreatedAccount },
  errors: [],
  secret: true,
});

const listAccounts = defineRoute({
  ...OPERATOR,
  method: 'GET',
  path: '/internal/v1/admin/accounts',
  operationId: 'adminListAccounts',
  summary: 'List accounts in order of id',
  query: AdminPageQuery,
  success: { status: 200, schema: AdminAccounts },
  errors: [],
});

const getAccount = defineRoute({
  ...OPERATOR,
  method: 'GET',
  path: '/internal/v1/admin/accounts/{id}',
  operationId: 'adminGetAccount',
  summary: 'Read an account',
  params: ById,
  success: { status: 200, schema: AdminAccount },
  errors: ['not_found'],
});

const patchAccount = defineRoute({
  ...OPERATOR,
  method: 'PATCH',
  path: '/internal/v1/admin/accounts/{id}',
  operationId: 'adminPatchAccount',
  summary: 'Change the profile of an account',
  params: ById,
  body: PatchAccount,
  success: { status: 200, schema: AdminAccount },
  errors: ['not_found'],
});

const setAccountState = defineRoute({
  ...OPERATOR,
  method: 'PUT',
  path: '/internal/v1/admin/accounts/{id}/state',
  operationId: 'adminSetAccountState',
  summary: 'Open, disable or delete an account',
  description:
    'Deleting forgets name, e-mail and picture for good; opening it again brings back neither them nor its keys, sessions, memberships and webhooks.',
  params: ById,
  body: SetAccountState,
  success: { status: 200, schema: AdminAccount },
  errors: ['not_found'],
});

const startSession = defineRoute({
  ...OPERATOR,
  method: 'POST',
  path: '/internal/v1/admin/accounts/{id}/sessions',
  operationId: 'adminStartSession',
  summary: 'Issue a session token',
  params: ById,
  success: { status: 201, schema: IssuedSession },
  errors: ['not_found'],
  secret: true,
});

const endSession = defineRoute({
  ...OPERATOR,
  method: 'DELETE',
  path: '/internal/v1/admin/sessions/{id}',
  operationId: 'adminEndSession',
  summary: 'Sign a session out',
  params: ById,
  success: { status: 204, schema: null },
  errors: ['not_found'],
});

const grantKey = defineRoute({
  ...OPERATOR,
  method: 'POST',
  path: '/internal/v1/admin/accounts/{id}/keys',
  operationId: 'adminGrantKey',
  summary: 'Create a personal access token, whatever the plan',
  params: ById,
  body: CreateApiKeyRequest,
  success: { status: 201, schema: ApiKeyCreated },
  errors: ['not_found', 'limit_reached'],
  secret: true,
});

const profileOf = ({ picture_url, ...profile }: z.infer<typeof PatchAccount>): Partial<Profile> =>
  picture_url === undefined ? profile : { ...profile, pictureUrl: picture_url };

export const adminAccountRoutes = (app: App): readonly Route[] => [
  route(createAccount, async ({ body }) =>
    presentCreatedAccount(
      await app.createAccount({ profile: { name: body.name, email: body.email, pictureUrl: body.picture_url }, keyName: body.key_name }),
    ),
  ),
  route(listAccounts, async ({ query }) => {
    const { rows, next } = await pageById(query, app.listAccounts);
    return { accounts: rows.map(presentAdminAccount), next_after: next };
  }),
  route(getAccount, async ({ params }) => presentAdminAccount(await app.getAccount(params.id))),
  route(patchAccount, async ({ params, body }) =>
    presentAdminAccount(await app.changeProfile({ accountId: params.id, profile: profileOf(body) })),
  ),
  route(setAccountState, async ({ params, body }) =>
    presentAdminAccount(await app.setAccountState({ accountId: params.id, state: body.state })),
  ),
  route(startSession, async ({ params }) => presentSession(await app.startSession(params.id))),
  route(endSession, ({ params }) => app.endSession(params.id)),
  route(grantKey, async ({ params, body, ids }) => presentIssuedKey(await app.grantKey({ accountId: params.id, name: body.name, ids }))),
];
