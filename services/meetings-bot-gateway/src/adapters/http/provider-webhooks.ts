import { anyone } from '@bubbles/auth/guards.ts';
import { empty, raw } from '@bubbles/http/routes/content.ts';
import { reply } from '@bubbles/http/routes/reply.ts';
import { route } from '@bubbles/http/routes/route.ts';
import { z } from 'zod';
import type { App } from '../../app.ts';

const ByProvider = z.object({ provider: z.string() });
/** What providers sign with, each in its own way. */
const Signed = z.object({
  'webhook-id': z.string().optional(),
  'webhook-timestamp': z.string().optional(),
  'webhook-signature': z.string().optional(),
  'svix-id': z.string().optional(),
  'svix-timestamp': z.string().optional(),
  'svix-signature': z.string().optional(),
  'x-webhook-timestamp': z.string().optional(),
  'x-webhook-signature': z.string().optional(),
});
/** A provider may send all that it knows of a meeting; a transcript is fetched. */
const BODY_LIMIT_BYTES = 256 * 1024;

/** No caller has a credential here: a provider proves its webhooks by their signature. */
export const providerWebhookRoutes = (app: App) => [
  route(
    {
      method: 'POST',
      path: '/hooks/notetakers/{provider}',
      operationId: 'receiveNotetakerWebhook',
      summary: 'Receive news of a notetaker from its provider',
      tag: 'Meetings',
      guard: anyone,
      params: ByProvider,
      headers: Signed,
      body: raw({ mediaTypes: ['application/json'], limitBytes: BODY_LIMIT_BYTES }),
      answers: { 204: empty },
      errors: ['unauthorized'],
      documented: false,
    },
    async ({ params, headers, body }) => {
      await app.receiveProviderWebhook(params.provider, { headers, body });
      return reply(204);
    },
  ),
];
