import { forOperators } from '@bubbles/auth/guards.ts';
import { ApiKeyCreated, CreateApiKeyRequest } from '@bubbles/contracts/api/api-key.ts';
import { CallerId } from '@bubbles/contracts/api/fields.ts';
import {
  AdminAccount,
  AdminAccounts,
  AdminAccountsQuery,
  CreateAccount,
  CreatedAccount,
  IssuedSession,
  PatchAccount,
  SetAccountState,
} from '@bubbles/contracts/internal/identity.ts';
import { empty, json } from '@bubbles/http/routes/content.ts';
import { route } from '@bubbles/http/routes/route.ts';
import { z } from 'zod';
import type { App } from '../../app.ts';
import type { Profile } from '../../domain/account.ts';
import { pageById } from './paging.ts';
import { presentAdminAccount, presentCreatedAccount, presentIssuedKey, presentSession } from './present.ts';

const ById = z.object({ id: CallerId });

const profileOf = ({ picture_url, ...profile }: z.infer<typeof PatchAccount>): Partial<Profile> =>
  picture_url === undefined ? profile : { ...profile, pictureUrl: picture_url };

const createAccount = (app: App) =>
  route(
    {
      ...forOperators,
      method: 'POST',
      path: '/internal/v1/admin/accounts',
      operationId: 'adminCreateAccount',
      audit: { answer: ['account.user_id', 'session.id', 'key.id'] },
      summary: 'Create an active account with a session and, when named, a key',
      body: CreateAccount,
      answers: { 201: json(CreatedAccount) },
      errors: ['limit_reached'],
      secret: true,
    },
    async ({ body }) =>
      presentCreatedAccount(
        await app.createAccount({ profile: { name: body.name, email: body.email, pictureUrl: body.picture_url }, keyName: body.key_name }),
      ),
  );

const listAccounts = (app: App) =>
  route(
    {
      ...forOperators,
      method: 'GET',
      path: '/internal/v1/admin/accounts',
      operationId: 'adminListAccounts',
      summary: 'List accounts in order of id, or the one that has an e-mail address',
      query: AdminAccountsQuery,
      answers: { 200: json(AdminAccounts) },
    },
    async ({ query }) => {
      const { rows, next } = await pageById(query, (page) => app.listAccounts({ ...page, email: query.email ?? null }));
      return { accounts: rows.map(presentAdminAccount), next_after: next };
    },
  );

const getAccount = (app: App) =>
  route(
    {
      ...forOperators,
      method: 'GET',
      path: '/internal/v1/admin/accounts/{id}',
      operationId: 'adminGetAccount',
      summary: 'Read an account',
      params: ById,
      answers: { 200: json(AdminAccount) },
      errors: ['not_found'],
    },
    async ({ params }) => presentAdminAccount(await app.getAccount(params.id)),
  );

const patchAccount = (app: App) =>
  route(
    {
      ...forOperators,
      method: 'PATCH',
      path: '/internal/v1/admin/accounts/{id}',
      operationId: 'adminPatchAccount',
      summary: 'Change the profile of an account',
      params: ById,
      body: PatchAccount,
      answers: { 200: json(AdminAccount) },
      errors: ['not_found', 'limit_reached'],
    },
    async ({ params, body }) => presentAdminAccount(await app.changeProfile({ accountId: params.id, profile: profileOf(body) })),
  );

const setAccountState = (app: App) =>
  route(
    {
      ...forOperators,
      method: 'PUT',
      path: '/internal/v1/admin/accounts/{id}/state',
      operationId: 'adminSetAccountState',
      audit: { body: ['state'] },
      summary: 'Open, disable or delete an account',
      description:
        'Deleting forgets name, e-mail and picture for good; opening it again brings back neither them nor its keys, sessions, memberships and webhooks.',
      params: ById,
      body: SetAccountState,
      answers: { 200: json(AdminAccount) },
      errors: ['not_found'],
    },
    async ({ params, body }) => presentAdminAccount(await app.setAccountState({ accountId: params.id, state: body.state })),
  );

const endCredentials = (app: App) =>
  route(
    {
      ...forOperators,
      method: 'DELETE',
      path: '/internal/v1/admin/accounts/{id}/credentials',
      operationId: 'adminEndCredentials',
      summary: 'End all sessions, keys and grants of an account for good',
      params: ById,
      answers: { 204: empty },
      errors: ['not_found'],
    },
    ({ params }) => app.endCredentials(params.id),
  );

const startSession = (app: App) =>
  route(
    {
      ...forOperators,
      method: 'POST',
      path: '/internal/v1/admin/accounts/{id}/sessions',
      operationId: 'adminStartSession',
      audit: { answer: ['id'] },
      summary: 'Issue a session token',
      params: ById,
      answers: { 201: json(IssuedSession) },
      errors: ['not_found'],
      secret: true,
    },
    async ({ params }) => presentSession(await app.startSession(params.id)),
  );

const endSession = (app: App) =>
  route(
    {
      ...forOperators,
      method: 'DELETE',
      path: '/internal/v1/admin/sessions/{id}',
      operationId: 'adminEndSession',
      summary: 'Sign a session out',
      params: ById,
      answers: { 204: empty },
      errors: ['not_found'],
    },
    ({ params }) => app.endSession(params.id),
  );

const grantKey = (app: App) =>
  route(
    {
      ...forOperators,
      method: 'POST',
      path: '/internal/v1/admin/accounts/{id}/keys',
      operationId: 'adminGrantKey',
      audit: { answer: ['id'] },
      summary: 'Create a personal access token, whatever the plan',
      params: ById,
      body: CreateApiKeyRequest,
      answers: { 201: json(ApiKeyCreated) },
      errors: ['not_found', 'limit_reached'],
      secret: true,
    },
    async ({ params, body, ids }) => presentIssuedKey(await app.grantKey({ accountId: params.id, name: body.name, ids })),
  );

export const adminAccountRoutes = (app: App) => [
  createAccount(app),
  listAccounts(app),
  getAccount(app),
  patchAccount(app),
  setAccountState(app),
  endCredentials(app),
  startSession(app),
  endSession(app),
  grantKey(app),
];
