import { forOperators } from '@bubbles/auth/guards.ts';
import { CallerId } from '@bubbles/contracts/api/fields.ts';
import { AdminJoin, AdminJoins } from '@bubbles/contracts/internal/meetings.ts';
import { json } from '@bubbles/http/routes/content.ts';
import { route } from '@bubbles/http/routes/route.ts';
import { z } from 'zod';
import type { App } from '../../app.ts';
import { presentAdminJoin } from './present.ts';

const LISTED = 200;

const listStuck = (app: App) =>
  route(
    {
      ...forOperators,
      method: 'GET',
      path: '/internal/v1/admin/stuck-joins',
      operationId: 'adminListStuckJoins',
      summary: 'List joins whose work fails or waits, the one that waits longest first',
      answers: { 200: json(AdminJoins) },
    },
    async () => ({ joins: (await app.listStuckJoins()).map(presentAdminJoin) }),
  );

const listOfAccount = (app: App) =>
  route(
    {
      ...forOperators,
      method: 'GET',
      path: '/internal/v1/admin/accounts/{user_id}/joins',
      operationId: 'adminListJoins',
      summary: 'List the joins that an account asked for, newest first',
      params: z.object({ user_id: CallerId }),
      answers: { 200: json(AdminJoins) },
    },
    async ({ params }) => {
      const joins = await app.listJoinsOfAccount(params.user_id, { status: null, position: null, limit: LISTED });
      return { joins: joins.map(presentAdminJoin) };
    },
  );

const endJoin = (app: App) =>
  route(
    {
      ...forOperators,
      method: 'DELETE',
      path: '/internal/v1/admin/joins/{join_id}',
      operationId: 'adminEndJoin',
      audit: { answer: ['status'] },
      summary: 'End a join for all who asked for it',
      params: z.object({ join_id: CallerId }),
      answers: { 200: json(AdminJoin) },
      errors: ['not_found'],
    },
    async ({ params }) => presentAdminJoin(await app.endAnyJoin(params.join_id)),
  );

export const adminJoinRoutes = (app: App) => [listStuck(app), listOfAccount(app), endJoin(app)];
