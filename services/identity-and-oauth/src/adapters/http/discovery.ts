import { anyone } from '@bubbles/auth/guards.ts';
import { SCOPES } from '@bubbles/contracts/access.ts';
import { json } from '@bubbles/http/routes/content.ts';
import { route } from '@bubbles/http/routes/route.ts';
import { z } from 'zod';

const MAX_AGE_SECONDS = 300;
const SCOPE_NAMES = Object.keys(SCOPES);

/** RFC 9728. */
const ProtectedResourceMetadata = z
  .object({
    resource: z.string(),
    authorization_servers: z.array(z.string()),
    scopes_supported: z.array(z.string()),
    bearer_methods_supported: z.array(z.literal('header')),
  })
  .meta({ id: 'ProtectedResourceMetadata' });

/** RFC 8414, with RFC 9207 and the draft on client id metadata documents. */
const AuthorizationServerMetadata = z
  .object({
    issuer: z.string(),
    authorization_endpoint: z.string(),
    token_endpoint: z.string(),
    registration_endpoint: z.string(),
    revocation_endpoint: z.string(),
    jwks_uri: z.string(),
    scopes_supported: z.array(z.string()),
    response_types_supported: z.array(z.literal('code')),
    response_modes_supported: z.array(z.literal('query')),
    grant_types_supported: z.array(z.string()),
    token_endpoint_auth_methods_supported: z.array(z.string()),
    revocation_endpoint_auth_methods_supported: z.array(z.string()),
    code_challenge_methods_supported: z.array(z.literal('S256')),
    authorization_response_iss_parameter_supported: z.literal(true),
    client_id_metadata_document_supported: z.boolean(),
    protected_resources: z.array(z.string()),
  })
  .meta({ id: 'AuthorizationServerMetadata' });

const CLIENT_AUTH_METHODS = ['none', 'client_secret_basic', 'client_secret_post'];

const serverMetadata = (issuer: string, takesDocuments: boolean): z.infer<typeof AuthorizationServerMetadata> => ({
  issuer,
  authorization_endpoint: `${issuer}/oauth/authorize`,
  token_endpoint: `${issuer}/oauth/token`,
  registration_endpoint: `${issuer}/oauth/register`,
  revocation_endpoint: `${issuer}/oauth/revoke`,
  jwks_uri: `${issuer}/oauth/jwks`,
  scopes_supported: SCOPE_NAMES,
  response_types_supported: ['code'],
  response_modes_supported: ['query'],
  grant_types_supported: ['authorization_code', 'refresh_token'],
  token_endpoint_auth_methods_supported: CLIENT_AUTH_METHODS,
  revocation_endpoint_auth_methods_supported: CLIENT_AUTH_METHODS,
  code_challenge_methods_supported: ['S256'],
  authorization_response_iss_parameter_supported: true,
  client_id_metadata_document_supported: takesDocuments,
  protected_resources: [issuer],
});

interface MetadataRoute {
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
}

const metadataRoute = <T>(spec: MetadataRoute, schema: z.ZodType<T>, metadata: T) =>
  route(
    { ...spec, method: 'GET', tag: 'Discovery', guard: anyone, answers: { 200: json(schema) }, publicMaxAgeSeconds: MAX_AGE_SECONDS },
    () => Promise.resolve(metadata),
  );

const SERVER_METADATA: readonly MetadataRoute[] = [
  {
    path: '/.well-known/oauth-authorization-server',
    operationId: 'getAuthorizationServerMetadata',
    summary: 'The OAuth endpoints and what they take (RFC 8414)',
  },
  {
    path: '/.well-known/openid-configuration',
    operationId: 'getOpenidConfiguration',
    summary: 'The same, where clients of OpenID look for it',
  },
];

/** By the path of the resource: clients look for the document of the URL that they were given. */
const RESOURCES = [
  { path: '', operationId: 'getProtectedResourceMetadata', summary: 'Where and how to get a token for this API (RFC 9728)' },
  { path: '/v1', operationId: 'getProtectedResourceMetadataOfV1', summary: 'The same for the data endpoints' },
  { path: '/mcp', operationId: 'getProtectedResourceMetadataOfMcp', summary: 'The same for the MCP server' },
] as const;

/** `publicBaseUrl` is the one source of all URLs; a client compares it byte by byte. */
export const discoveryRoutes = (publicBaseUrl: string, { takesDocuments }: { readonly takesDocuments: boolean }) => [
  ...SERVER_METADATA.map((spec) => metadataRoute(spec, AuthorizationServerMetadata, serverMetadata(publicBaseUrl, takesDocuments))),
  ...RESOURCES.map(({ path, ...spec }) =>
    metadataRoute({ ...spec, path: `/.well-known/oauth-protected-resource${path}` }, ProtectedResourceMetadata, {
      resource: `${publicBaseUrl}${path}`,
      authorization_servers: [publicBaseUrl],
      scopes_supported: SCOPE_NAMES,
      bearer_methods_supported: ['header' as const],
    }),
  ),
];
