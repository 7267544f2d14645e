import { anyone } from '@bubbles/auth/guards.ts';
import { json } from '@bubbles/http/routes/content.ts';
import { route } from '@bubbles/http/routes/route.ts';
import { z } from 'zod';
import type { App } from '../../app.ts';

/** RFC 7517, with public members only: the schema lets no other out. */
const JwkSet = z
  .object({
    keys: z.array(
      z.object({
        kty: z.literal('EC'),
        crv: z.literal('P-256'),
        x: z.string(),
        y: z.string(),
        kid: z.string(),
        alg: z.literal('ES256'),
        use: z.literal('sig'),
      }),
    ),
  })
  .meta({ id: 'JwkSet' });

const getJwks = (app: App) =>
  route(
    {
      method: 'GET',
      path: '/oauth/jwks',
      operationId: 'getJwks',
      summary: 'Public keys that verify access tokens (RFC 7517)',
      description:
        'A key is listed a day before it signs and stays until the last token that it signed has expired. Fetch the list again when a token names a `kid` that you do not know.',
      tag: 'OAuth',
      guard: anyone,
      answers: { 200: json(JwkSet, 'application/jwk-set+json') },
      publicMaxAgeSeconds: 300,
    },
    async () => ({
      keys: (await app.publishedAccessTokenKeys()).map((key) => ({ ...key, alg: 'ES256' as const, use: 'sig' as const })),
    }),
  );

export const jwksRoutes = (app: App) => [getJwks(app)];
