import { CallerId } from '@bubbles/contracts/api/text.ts';
import {
  AdminChannel,
  AdminMember,
  AdminPageQuery,
  AdminTeam,
  AdminTeams,
  CreateChannel,
  CreateTeam,
  PatchTeam,
  SetMember,
} from '@bubbles/contracts/internal/admin.ts';
import { defineRoute, route } from '@bubbles/http/routes/define-route.ts';
import type { Route } from '@bubbles/http/routes/route.ts';
import { z } from 'zod';
import type { App } from '../../app.ts';
import { pageById } from './paging.ts';
import { presentAdminTeam, presentChannel } from './present-admin.ts';

const OPERATOR = { tag: 'Admin', auth: { kind: 'internal', callers: ['operator'] } } as const;
const ById = z.object({ id: CallerId });
const ByMember = z.object({ id: CallerId, user_id: CallerId });

const createTeam = defineRoute({
  ...OPERATOR,
  method: 'POST',
  path: '/internal/v1/admin/teams',
  operationId: 'adminCreateTeam',
  summary: 'Create a team',
  body: CreateTeam,
  success: { status: 201, schema: AdminTeam },
  errors: [],
});

const listTeams = defineRoute({
  ...OPERATOR,
  method: 'GET',
  path: '/internal/v1/admin/teams',
  operationId: 'adminListTeams',
  summary: 'List teams in order of id',
  query: AdminPageQuery,
  success: { status: 200, schema: AdminTeams },
  errors: [],
});

const getTeam = defineRoute({
  ...OPERATOR,
  method: 'GET',
  path: '/internal/v1/admin/teams/{id}',
  operationId: 'adminGetTeam',
  summary: 'Read a team',
  params: ById,
  success: { status: 200, schema: AdminTeam },
  errors: ['not_found'],
});

const patchTeam = defineRoute({
  ...OPERATOR,
  method: 'PATCH',
  path: '/internal/v1/admin/teams/{id}',
  operationId: 'adminPatchTeam',
  summary: 'Change a team',
  params: ById,
  body: PatchTeam,
  success: { status: 200, schema: AdminTeam },
  errors: ['not_found'],
});

const setMember = defineRoute({
  ...OPERATOR,
  method: 'PUT',
  path: '/internal/v1/admin/teams/{id}/members/{user_id}',
  operationId: 'adminSetMember',
  summary: 'Set a membership',
  params: ByMember,
  body: SetMember,
  success: { status: 200, schema: AdminMember },
  errors: ['not_found'],
});

const endMember = defineRoute({
  ...OPERATOR,
  method: 'DELETE',
  path: '/internal/v1/admin/teams/{id}/members/{user_id}',
  operationId: 'adminEndMember',
  summary: 'End a membership',
  params: ByMember,
  success: { status: 204, schema: null },
  errors: ['not_found'],
});

const createChannel = defineRoute({
  ...OPERATOR,
  method: 'POST',
  path: '/internal/v1/admin/teams/{id}/channels',
  operationId: 'adminCreateChannel',
  summary: 'Add a channel to a team',
  params: ById,
  body: CreateChannel,
  success: { status: 201, schema: AdminChannel },
  errors: ['not_found'],
});

export const adminTeamRoutes = (app: App): readonly Route[] => [
  route(createTeam, async ({ body }) => presentAdminTeam(await app.createTeam(body))),
  route(listTeams, async ({ query }) => {
    const { rows, next } = await pageById(query, app.listTeams);
    return { teams: rows.map(presentAdminTeam), next_after: next };
  }),
  route(getTeam, async ({ params }) => presentAdminTeam(await app.getTeam(params.id))),
  route(patchTeam, async ({ params, body }) => presentAdminTeam(await app.changeTeam({ teamId: params.id, fields: body }))),
  route(setMember, async ({ params, body }) => {
    const { role, hidden } = await app.setMembership({ userId: params.user_id, membership: { teamId: params.id, ...body } });
    return { team_id: params.id, user_id: params.user_id, role, hidden };
  }),
  route(endMember, ({ params }) => app.endMembership({ teamId: params.id, userId: params.user_id })),
  route(createChannel, async ({ params, body }) =>
    presentChannel(await app.addChannel({ teamId: params.id, name: body.name, memberIds: body.member_ids })),
  ),
];
