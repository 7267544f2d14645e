import { empty, form, json, withDetails } from '@bubbles/http/routes/content.ts';
import { route } from '@bubbles/http/routes/route.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import { z } from 'zod';
import type { App } from '../../app.ts';
import { namesOtherResource } from '../../domain/grant.ts';
import type { AuthenticatedClient } from '../../domain/oauth-client.ts';
import type { IssuedTokens } from '../../use-cases/tokens.ts';
import { ClientInBody, type oauthClient } from './client-guard.ts';

const BODY_LIMIT_BYTES = 32 * 1024;

const TokenRequest = ClientInBody.extend({
  grant_type: z.string().meta({ description: '`authorization_code` or `refresh_token`' }),
  code: z.string().optional().meta({ description: 'With `authorization_code`: the code' }),
  redirect_uri: z.string().optional().meta({ description: 'With `authorization_code`: that of the authorization request' }),
  code_verifier: z.string().optional().meta({ description: 'With `authorization_code`: what the code challenge was made of (RFC 7636)' }),
  refresh_token: z.string().optional().meta({ description: 'With `refresh_token`: the token; it is dead after this request' }),
  scope: z.string().optional().meta({ description: 'With `refresh_token`: what the access token is to have, at most what was granted' }),
  resource: z.array(z.string()).optional().meta({ description: 'The base URL of this API (RFC 8707), also with `/v1` or `/mcp`' }),
});
type TokenRequest = z.infer<typeof TokenRequest>;

const TokenAnswer = z
  .object({
    access_token: z.string().meta({ description: 'A signed JWT (RFC 9068), to be verified with the keys of `/oauth/jwks`' }),
    token_type: z.literal('Bearer'),
    expires_in: z.int().meta({ description: 'Seconds' }),
    refresh_token: z.string().meta({ description: 'For the next refresh, which issues another one' }),
    scope: z.string().meta({ description: 'Of the access token' }),
  })
  .meta({ id: 'TokenAnswer' });

const present = ({ accessToken, expiresInSeconds, refreshToken, scopes }: IssuedTokens): z.infer<typeof TokenAnswer> => ({
  access_token: accessToken,
  token_type: 'Bearer',
  expires_in: expiresInSeconds,
  refresh_token: refreshToken,
  scope: scopes.join(' '),
});

/** RFC 6749, 3.2: a parameter without a value was not sent. */
const required = (body: TokenRequest, name: 'code' | 'redirect_uri' | 'code_verifier' | 'refresh_token'): string => {
  const value = body[name];
  if (!value) throw new DomainError('invalid', `${name}: is required`);
  return value;
};

type Issue = (by: { readonly client: AuthenticatedClient; readonly signal: AbortSignal }, body: TokenRequest) => Promise<IssuedTokens>;

const issuers = (app: App): ReadonlyMap<string, Issue> =>
  new Map<string, Issue>([
    [
      'authorization_code',
      (by, body) => {
        const [code, redirectUri] = [required(body, 'code'), required(body, 'redirect_uri')];
        return app.exchangeCode({ ...by, code, redirectUri, codeVerifier: required(body, 'code_verifier') });
      },
    ],
    ['refresh_token', (by, body) => app.refreshTokens({ ...by, refreshToken: required(body, 'refresh_token'), scope: body.scope ?? '' })],
  ]);

interface Endpoint {
  readonly app: App;
  readonly client: ReturnType<typeof oauthClient>;
}

const issueTokens = ({ app, client: guard, publicBaseUrl }: Endpoint & { readonly publicBaseUrl: string }) => {
  const issuerOf = issuers(app);
  return route(
    {
      method: 'POST',
      path: '/oauth/token',
      operationId: 'issueTokens',
      summary: 'Exchange an authorization code or refresh tokens',
      description:
        'A public client sends its `client_id`; a confidential one its secret too, in the body or by HTTP Basic. Each refresh token is good for one refresh. A code or refresh token that is used a second time ends what the user has granted.',
      tag: 'OAuth',
      guard,
      body: form(TokenRequest),
      bodyLimitBytes: BODY_LIMIT_BYTES,
      answers: { 200: json(TokenAnswer) },
      errorFormat: 'rfc6749',
      secret: true,
    },
    async ({ client, signal, body }) => {
      const issue = issuerOf.get(body.grant_type);
      if (!issue)
        throw new DomainError('invalid', 'grant_type: must be authorization_code or refresh_token', { type: 'unsupported_grant_type' });
      if (namesOtherResource(body.resource ?? [], publicBaseUrl))
        throw new DomainError('invalid', 'resource: is not this API', { type: 'invalid_target' });
      return present(await issue({ client, signal }, body));
    },
  );
};

const RevocationRequest = ClientInBody.extend({
  token: z.string().min(1, 'is required').meta({ description: 'A refresh token, also one that was used, or an access token' }),
  token_type_hint: z.string().optional().meta({ description: 'Of no effect: both kinds are looked for' }),
});

const revokeToken = ({ app, client: guard }: Endpoint) =>
  route(
    {
      method: 'POST',
      path: '/oauth/revoke',
      operationId: 'revokeToken',
      summary: 'End what the user has granted, by one of its tokens (RFC 7009)',
      description:
        'At once: every token of the same authorization is refused from then on. Other tokens are answered in the same way, and nothing happens.',
      tag: 'OAuth',
      guard,
      body: form(RevocationRequest),
      bodyLimitBytes: BODY_LIMIT_BYTES,
      answers: { 200: withDetails(empty, { description: 'The token is of no use any more; no body.' }) },
      errorFormat: 'rfc6749',
      secret: true,
    },
    async ({ client, body }) => {
      await app.revokeToken({ client, token: body.token });
    },
  );

export const tokenRoutes = (endpoint: Parameters<typeof issueTokens>[0]) => [issueTokens(endpoint), revokeToken(endpoint)];
