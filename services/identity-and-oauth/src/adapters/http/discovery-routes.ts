import { SCOPES } from '@bubbles/contracts/access.ts';
import { defineRoute, route } from '@bubbles/http/routes/define-route.ts';
import type { Route } from '@bubbles/http/routes/route.ts';
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

const getProtectedResource = defineRoute({
  method: 'GET',
  path: '/.well-known/oauth-protected-resource',
  operationId: 'getProtectedResourceMetadata',
  summary: 'Where and how to get a token for this API (RFC 9728)',
  tag: 'Discovery',
  auth: { kind: 'none' },
  success: { status: 200, schema: ProtectedResourceMetadata },
  errors: [],
  publicMaxAgeSeconds: 300,
});

export const discoveryRoutes = (publicBaseUrl: string): readonly Route[] => [
  route(getProtectedResource, () =>
    Promise.resolve({
      resource: publicBaseUrl,
      authorization_servers: [publicBaseUrl],
      scopes_supported: Object.keys(SCOPES),
      bearer_methods_supported: ['header' as const],
    }),
  ),
];
