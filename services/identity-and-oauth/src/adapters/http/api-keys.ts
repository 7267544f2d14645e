import { ApiKeyCreated, ApiKeyList, CreateApiKeyRequest } from '@bubbles/contracts/api/api-key.ts';
import { EXAMPLE_IDS } from '@bubbles/contracts/api/examples.ts';
import { CallerId } from '@bubbles/contracts/api/fields.ts';
import { empty, json } from '@bubbles/http/routes/content.ts';
import { route } from '@bubbles/http/routes/route.ts';
import { z } from 'zod';
import type { App } from '../../app.ts';
import type { OwnGuards } from './guards.ts';
import { presentIssuedKey, presentListedKey } from './present.ts';

const createApiKey = (app: App, { session }: OwnGuards) =>
  route(
    {
      method: 'POST',
      path: '/v1/api-keys',
      operationId: 'createApiKey',
      summary: 'Create a personal access token',
      description: 'The token is shown in this answer and nowhere else. A user has at most 10 active ones.',
      tag: 'API keys',
      guard: session,
      body: CreateApiKeyRequest,
      answers: { 201: json(ApiKeyCreated) },
      errors: ['forbidden', 'limit_reached'],
      idempotent: true,
      secret: true,
    },
    async ({ account, body, ids }) => presentIssuedKey(await app.createKey({ owner: account, name: body.name, ids })),
  );

const listApiKeys = (app: App, { session }: OwnGuards) =>
  route(
    {
      method: 'GET',
      path: '/v1/api-keys',
      operationId: 'listApiKeys',
      summary: 'List the active personal access tokens',
      description: 'Newest first, previews only.',
      tag: 'API keys',
      guard: session,
      answers: { 200: json(ApiKeyList) },
    },
    async ({ account }) => ({ data: (await app.listKeys(account)).map(presentListedKey) }),
  );

const revokeApiKey = (app: App, { session }: OwnGuards) =>
  route(
    {
      method: 'DELETE',
      path: '/v1/api-keys/{id}',
      operationId: 'revokeApiKey',
      summary: 'Revoke a personal access token',
      description:
        'At once: its next use answers 401 `token_revoked`. After a year the key is forgotten, and its use answers `unauthorized`.',
      tag: 'API keys',
      guard: session,
      params: z.object({ id: CallerId.meta({ description: 'Of the key', examples: [EXAMPLE_IDS.key] }) }),
      answers: { 204: empty },
      errors: ['not_found'],
    },
    async ({ account, params }) => {
      await app.revokeKey({ owner: account, keyId: params.id });
    },
  );

export const apiKeyRoutes = (app: App, guards: OwnGuards) => [
  createApiKey(app, guards),
  listApiKeys(app, guards),
  revokeApiKey(app, guards),
];
