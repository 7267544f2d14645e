import { forOperators, internal } from '@bubbles/auth/guards.ts';
import { ReadableRequest, ReadableResponse } from '@bubbles/contracts/internal/bubbles-query.ts';
import { json } from '@bubbles/http/routes/content.ts';
import { route } from '@bubbles/http/routes/route.ts';
import { z } from 'zod';
import type { App } from '../../app.ts';

const readable = (app: App) =>
  route(
    {
      method: 'POST',
      tag: 'Internal',
      path: '/internal/v1/readable',
      operationId: 'readable',
      summary: 'Check read access in a batch',
      guard: internal(['webhooks-dispatcher']),
      body: ReadableRequest,
      answers: { 200: json(ReadableResponse) },
    },
    async ({ body: { pairs } }) => {
      const answers = await app.readability(pairs.map(({ user_id, bubble_id }) => ({ userId: user_id, bubbleId: bubble_id })));
      return {
        answers: answers.map(({ participates, details }, n) => ({
          bubble_id: pairs[n]?.bubble_id ?? '',
          user_id: pairs[n]?.user_id ?? '',
          participates,
          bubble: details && { team_id: details.teamId, channel_id: details.channelId, author_id: details.author?.userId ?? null },
        })),
      };
    },
  );

const rebuildPeople = (app: App) =>
  route(
    {
      ...forOperators,
      method: 'POST',
      path: '/internal/v1/admin/rebuild-people',
      operationId: 'rebuildPeople',
      audit: { answer: ['accounts'] },
      summary: 'Rebuild the people projection from identity, a page at a time',
      body: z.object({ after: z.string().optional().meta({ description: 'The `next_after` of the page before' }) }),
      answers: { 200: json(z.object({ accounts: z.int().nonnegative(), next_after: z.string().nullable() })) },
    },
    async ({ body: { after } }) => {
      const { read, nextAfter } = await app.rebuildPeople(after ?? null);
      return { accounts: read, next_after: nextAfter };
    },
  );

export const internalRoutes = (app: App) => [readable(app), rebuildPeople(app)];
