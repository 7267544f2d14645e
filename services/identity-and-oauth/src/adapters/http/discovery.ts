import { anyone } from '@bubbles/auth/guards.ts';
import { SCOPES } from '@bubbles/contracts/access.ts';
import { json } from '@bubbles/http/routes/content.ts';
import { route } from '@bubbles/http/routes/route.ts';
import { z } from 'zod';

/** RFC 9728. */
const ProtectedResourceMetadata = z
  .object({
    resource: z.string(),
    authorization_servers: z.array(z.string()),
    scopes_supported: z.array(z.string()),
    bearer_methods_supported: z.array(z.literal('header')),
  })
  .meta({ id: 'ProtectedResourceMetadata' });

const getProtectedResource = (publicBaseUrl: string) =>
  route(
    {
      method: 'GET',
      path: '/.well-known/oauth-protected-resource',
      operationId: 'getProtectedResourceMetadata',
      summary: 'Where and how to get a token for this API (RFC 9728)',
      tag: 'Discovery',
      guard: anyone,
      answers: { 200: json(ProtectedResourceMetadata) },
      publicMaxAgeSeconds: 300,
    },
    () =>
      Promise.resolve({
        resource: publicBaseUrl,
        authorization_servers: [publicBaseUrl],
        scopes_supported: Object.keys(SCOPES),
        bearer_methods_supported: ['header' as const],
      }),
  );

export const discoveryRoutes = (publicBaseUrl: string) => [getProtectedResource(publicBaseUrl)];
