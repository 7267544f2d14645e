import { forOperators } from '@bubbles/auth/guards.ts';
import { CallerId } from '@bubbles/contracts/api/fields.ts';
import {
  AdminClient,
  AdminClients,
  type AdminGrant,
  AdminGrants,
  AdminPageQuery,
  IssuedGrant,
  IssueGrant,
  NewClient,
} from '@bubbles/contracts/internal/identity.ts';
import { empty, json } from '@bubbles/http/routes/content.ts';
import { route } from '@bubbles/http/routes/route.ts';
import { z } from 'zod';
import type { App } from '../../app.ts';
import type { RegisteredClient } from '../../domain/oauth-client.ts';
import type { ListedGrant } from '../../use-cases/grants.ts';
import { pageById } from './paging.ts';

const ById = z.object({ id: CallerId });

const decoded = (segment: string): string | null => {
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
};
/** May be the URL of a metadata document, which stands percent-encoded in a path. */
const ByClientId = z.object({ id: CallerId.transform(decoded).pipe(z.string()) });

const presentGrant = ({ grant, lastUsedAt }: ListedGrant): z.infer<typeof AdminGrant> => ({
  id: grant.id,
  user_id: grant.accountId,
  client_id: grant.clientId,
  client_name: grant.clientName,
  scopes: [...grant.scopes],
  created_at: grant.createdAt.toISOString(),
  expires_at: grant.expiresAt.toISOString(),
  last_used_at: lastUsedAt?.toISOString() ?? null,
});

const presentClient = ({ id, name, redirectUris, authMethod, scopes, issuedAt }: RegisteredClient): z.infer<typeof AdminClient> => ({
  client_id: id,
  client_name: name,
  redirect_uris: [...redirectUris],
  token_endpoint_auth_method: authMethod,
  scopes: [...scopes],
  created_at: issuedAt.toISOString(),
});

const issueGrant = (app: App) =>
  route(
    {
      ...forOperators,
      method: 'POST',
      path: '/internal/v1/admin/accounts/{id}/grants',
      operationId: 'adminIssueGrant',
      audit: { body: ['client_id', 'scopes'], answer: ['grant.id'] },
      summary: 'Grant a client access with its first tokens, as if the user had consented',
      params: ById,
      body: IssueGrant,
      answers: { 201: json(IssuedGrant) },
      errors: ['not_found'],
      secret: true,
    },
    async ({ params, body }) => {
      const issued = await app.issueGrant({ accountId: params.id, clientId: body.client_id, scopes: body.scopes });
      return {
        grant: presentGrant({ grant: issued.grant, lastUsedAt: null }),
        access_token: issued.accessToken,
        refresh_token: issued.refreshToken,
        expires_in: issued.expiresInSeconds,
        scope: issued.scopes.join(' '),
      };
    },
  );

const listGrants = (app: App) =>
  route(
    {
      ...forOperators,
      method: 'GET',
      path: '/internal/v1/admin/accounts/{id}/grants',
      operationId: 'adminListGrants',
      summary: 'List what an account has granted, newest first',
      params: ById,
      answers: { 200: json(AdminGrants) },
      errors: ['not_found'],
    },
    async ({ params }) => ({ grants: (await app.listGrants(params.id)).map(presentGrant) }),
  );

const endGrant = (app: App) =>
  route(
    {
      ...forOperators,
      method: 'DELETE',
      path: '/internal/v1/admin/grants/{id}',
      operationId: 'adminEndGrant',
      summary: 'End a grant and every token of it',
      params: ById,
      answers: { 204: empty },
      errors: ['not_found'],
    },
    ({ params }) => app.endGrant(params.id),
  );

const addClient = (app: App) =>
  route(
    {
      ...forOperators,
      method: 'POST',
      path: '/internal/v1/admin/clients',
      operationId: 'adminAddClient',
      audit: { answer: ['client_id'] },
      summary: 'Register a public client',
      body: NewClient,
      answers: { 201: json(AdminClient) },
    },
    async ({ body }) => presentClient(await app.addClient(body)),
  );

const listClients = (app: App) =>
  route(
    {
      ...forOperators,
      method: 'GET',
      path: '/internal/v1/admin/clients',
      operationId: 'adminListClients',
      summary: 'List registered clients in order of id',
      query: AdminPageQuery,
      answers: { 200: json(AdminClients) },
    },
    async ({ query }) => {
      const { rows, next } = await pageById(query, app.listClients);
      return { clients: rows.map(presentClient), next_after: next };
    },
  );

const endClient = (app: App) =>
  route(
    {
      ...forOperators,
      method: 'DELETE',
      path: '/internal/v1/admin/clients/{id}',
      operationId: 'adminEndClient',
      summary: 'Delete a client and end everything that was granted to it',
      description:
        'A client that is described by the document at its URL has no registration: what was granted to it ends, and users may grant it again.',
      params: ByClientId,
      answers: { 204: empty },
      errors: ['not_found'],
    },
    ({ params }) => app.endClient(params.id),
  );

export const adminGrantRoutes = (app: App) => [
  issueGrant(app),
  listGrants(app),
  endGrant(app),
  addClient(app),
  listClients(app),
  endClient(app),
];
