import { anyone } from '@bubbles/auth/guards.ts';
import { SCOPES } from '@bubbles/contracts/access.ts';
import { empty, json } from '@bubbles/http/routes/content.ts';
import type { Guard } from '@bubbles/http/routes/guard.ts';
import { reply } from '@bubbles/http/routes/reply.ts';
import { route } from '@bubbles/http/routes/route.ts';
import { networkOf } from '@bubbles/http/wire/connections.ts';
import { bearerToken } from '@bubbles/http/wire/framing.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import { z } from 'zod';
import type { App } from '../../app.ts';
import type { Registration } from '../../use-cases/clients.ts';

const tag = 'OAuth';
const BODY_LIMIT_BYTES = 32 * 1024;

/** The rules of a client judge it: their refusals have codes of their own (RFC 7591, 3.2.2). */
const judgedLater = (type: 'string' | 'array', description: string) =>
  z
    .unknown()
    .optional()
    .meta({ type, description, ...(type === 'array' && { items: { type: 'string' } }) });

const METADATA_FIELDS = {
  redirect_uris: judgedLater(
    'array',
    '1 to 10 absolute URIs: https, http for localhost, 127.0.0.1 and [::1] (any port matches, the three do not match each other), or a scheme of the app',
  ),
  client_name: judgedLater('string', '1 to 80 printable characters; the consent page shows it'),
  token_endpoint_auth_method: judgedLater('string', '`none` for public clients, `client_secret_basic` (default) or `client_secret_post`'),
  grant_types: judgedLater('array', 'Must contain `authorization_code`'),
  response_types: judgedLater('array', 'Must contain `code`'),
  scope: judgedLater('string', `Of ${Object.keys(SCOPES).join(', ')}; others are dropped, and without any it is all of them`),
  client_uri: judgedLater('string', 'An https page about the app'),
};
const RegisterClientRequest = z.object(METADATA_FIELDS).meta({ id: 'RegisterClientRequest', required: ['redirect_uris'] });
const ChangedRegistration = z.object({ ...METADATA_FIELDS, client_id: z.unknown().optional(), client_secret: z.unknown().optional() });

const OAuthClientRegistration = z
  .object({
    client_id: z.string().meta({ description: 'An opaque text', examples: ['pXqv3mYw0t8bKc5zRj1nLd7hGf2sUa9e'] }),
    client_id_issued_at: z.int().meta({ description: 'Unix time in seconds' }),
    client_name: z.string(),
    redirect_uris: z.array(z.string()),
    token_endpoint_auth_method: z.string(),
    grant_types: z.array(z.string()),
    response_types: z.array(z.string()),
    scope: z.string().meta({ description: 'With blanks between the scopes' }),
    client_uri: z.string().optional(),
    client_secret: z.string().optional().meta({ description: 'Of confidential clients; shown in this answer and nowhere else' }),
    client_secret_expires_at: z.literal(0).optional().meta({ description: 'Beside the secret: it does not expire' }),
    registration_client_uri: z.string().meta({ description: 'Where the registration is read, changed and deleted (RFC 7592)' }),
    registration_access_token: z.string().meta({ description: 'The Bearer token for it' }),
  })
  .meta({ id: 'OAuthClientRegistration' });

const presentRegistration = (
  { client, registrationToken, secret }: Registration,
  publicBaseUrl: string,
): z.infer<typeof OAuthClientRegistration> => ({
  client_id: client.id,
  client_id_issued_at: Math.floor(client.issuedAt.getTime() / 1000),
  client_name: client.name,
  redirect_uris: [...client.redirectUris],
  token_endpoint_auth_method: client.authMethod,
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  scope: client.scopes.join(' '),
  ...(client.clientUri !== null && { client_uri: client.clientUri }),
  ...(secret !== null && { client_secret: secret, client_secret_expires_at: 0 as const }),
  registration_client_uri: `${publicBaseUrl}/oauth/register/${client.id}`,
  registration_access_token: registrationToken,
});

/** The app itself, by the token of its registration. */
const registrantGuard = (app: App): Guard<Omit<Registration, 'secret'>> => ({
  security: [],
  gatewayMark: 'none',
  callers: null,
  isCounted: false,
  refusals: ['unauthorized'],
  reads: 'Authorization',
  admit: async ({ header, target, answerWith }) => {
    const registrationToken = bearerToken(header('authorization'));
    const client = registrationToken && (await app.findRegistrant({ clientId: lastSegment(target), registrationToken }));
    if (client) return { client, registrationToken };
    answerWith('WWW-Authenticate', registrationToken === null ? 'Bearer' : 'Bearer error="invalid_token"');
    throw new DomainError('unauthorized', 'The registration token is missing or not one of this client.', { type: 'invalid_token' });
  },
});

const lastSegment = (target: string): string => target.split('?', 1)[0]?.split('/').at(-1) ?? '';

const registration = (app: App, publicBaseUrl: string) =>
  route(
    {
      method: 'POST',
      path: '/oauth/register',
      operationId: 'registerOAuthClient',
      summary: 'Register an app (RFC 7591)',
      description:
        'A client that nobody has allowed anything is forgotten after 7 days, one without any grant left after 180 days. Refusals are `invalid_redirect_uri` and `invalid_client_metadata`.',
      tag,
      guard: anyone,
      body: RegisterClientRequest,
      bodyLimitBytes: BODY_LIMIT_BYTES,
      answers: { 201: json(OAuthClientRegistration) },
      errors: ['rate_limited'],
      errorFormat: 'rfc6749',
      secret: true,
    },
    async ({ body, clientAddress }) =>
      presentRegistration(await app.registerClient({ sent: body, from: networkOf(clientAddress()) }), publicBaseUrl),
  );

const management = (app: App, publicBaseUrl: string) => {
  const common = {
    path: '/oauth/register/{client_id}',
    tag,
    guard: registrantGuard(app),
    params: z.object({ client_id: z.string() }),
    errorFormat: 'rfc6749',
    secret: true,
    documented: false,
  } as const;
  return [
    route(
      {
        ...common,
        method: 'GET',
        operationId: 'readOAuthRegistration',
        summary: 'Read the registration of an app (RFC 7592)',
        answers: { 200: json(OAuthClientRegistration) },
      },
      ({ client, registrationToken }) => Promise.resolve(presentRegistration({ client, registrationToken, secret: null }, publicBaseUrl)),
    ),
    route(
      {
        ...common,
        method: 'PUT',
        operationId: 'changeOAuthRegistration',
        summary: 'Replace the registration of an app (RFC 7592)',
        body: ChangedRegistration,
        bodyLimitBytes: BODY_LIMIT_BYTES,
        answers: { 200: json(OAuthClientRegistration) },
      },
      async ({ client, registrationToken, body }) =>
        presentRegistration(await app.changeRegistration({ client, registrationToken, sent: body }), publicBaseUrl),
    ),
    route(
      {
        ...common,
        method: 'DELETE',
        operationId: 'deleteOAuthRegistration',
        summary: 'Delete the registration of an app and end its grants (RFC 7592)',
        answers: { 204: empty },
      },
      async ({ client }) => {
        await app.deleteRegistration(client);
        return reply(204);
      },
    ),
  ];
};

export const registrationRoutes = (app: App, publicBaseUrl: string) => [
  registration(app, publicBaseUrl),
  ...management(app, publicBaseUrl),
];
