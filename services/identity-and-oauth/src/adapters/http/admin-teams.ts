import { forOperators } from '@bubbles/auth/guards.ts';
import { CallerId } from '@bubbles/contracts/api/fields.ts';
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
} from '@bubbles/contracts/internal/identity.ts';
import { empty, json } from '@bubbles/http/routes/content.ts';
import { route } from '@bubbles/http/routes/route.ts';
import { z } from 'zod';
import type { App } from '../../app.ts';
import { pageById } from './paging.ts';
import { presentAdminTeam, presentChannel } from './present.ts';

const ById = z.object({ id: CallerId });
const ByMember = z.object({ id: CallerId, user_id: CallerId });

const teamFields = <T extends z.output<typeof PatchTeam>>({ trial_ends_at: end, ...fields }: T) => ({
  ...fields,
  ...(end !== undefined && { trialEndsAt: end === null ? null : new Date(end) }),
});

const createTeam = (app: App) =>
  route(
    {
      ...forOperators,
      method: 'POST',
      path: '/internal/v1/admin/teams',
      operationId: 'adminCreateTeam',
      audit: { body: ['plan', 'trial_ends_at'], answer: ['id'] },
      summary: 'Create a team',
      body: CreateTeam,
      answers: { 201: json(AdminTeam) },
    },
    async ({ body }) => presentAdminTeam(await app.createTeam(teamFields(body))),
  );

const listTeams = (app: App) =>
  route(
    {
      ...forOperators,
      method: 'GET',
      path: '/internal/v1/admin/teams',
      operationId: 'adminListTeams',
      summary: 'List teams in order of id',
      query: AdminPageQuery,
      answers: { 200: json(AdminTeams) },
    },
    async ({ query }) => {
      const { rows, next } = await pageById(query, app.listTeams);
      return { teams: rows.map(presentAdminTeam), next_after: next };
    },
  );

const getTeam = (app: App) =>
  route(
    {
      ...forOperators,
      method: 'GET',
      path: '/internal/v1/admin/teams/{id}',
      operationId: 'adminGetTeam',
      summary: 'Read a team',
      params: ById,
      answers: { 200: json(AdminTeam) },
      errors: ['not_found'],
    },
    async ({ params }) => presentAdminTeam(await app.getTeam(params.id)),
  );

const patchTeam = (app: App) =>
  route(
    {
      ...forOperators,
      method: 'PATCH',
      path: '/internal/v1/admin/teams/{id}',
      operationId: 'adminPatchTeam',
      audit: { body: ['plan', 'archived', 'discoverable', 'trial_ends_at'] },
      summary: 'Change a team',
      params: ById,
      body: PatchTeam,
      answers: { 200: json(AdminTeam) },
      errors: ['not_found'],
    },
    async ({ params, body }) => presentAdminTeam(await app.changeTeam({ teamId: params.id, fields: teamFields(body) })),
  );

const setMember = (app: App) =>
  route(
    {
      ...forOperators,
      method: 'PUT',
      path: '/internal/v1/admin/teams/{id}/members/{user_id}',
      operationId: 'adminSetMember',
      audit: { body: ['role', 'hidden'] },
      summary: 'Set a membership',
      params: ByMember,
      body: SetMember,
      answers: { 200: json(AdminMember) },
      errors: ['not_found'],
    },
    async ({ params, body }) => {
      const { role, hidden } = await app.setMembership({ userId: params.user_id, membership: { teamId: params.id, ...body } });
      return { team_id: params.id, user_id: params.user_id, role, hidden };
    },
  );

const endMember = (app: App) =>
  route(
    {
      ...forOperators,
      method: 'DELETE',
      path: '/internal/v1/admin/teams/{id}/members/{user_id}',
      operationId: 'adminEndMember',
      summary: 'End a membership',
      params: ByMember,
      answers: { 204: empty },
      errors: ['not_found'],
    },
    ({ params }) => app.endMembership({ teamId: params.id, userId: params.user_id }),
  );

const createChannel = (app: App) =>
  route(
    {
      ...forOperators,
      method: 'POST',
      path: '/internal/v1/admin/teams/{id}/channels',
      operationId: 'adminCreateChannel',
      audit: { answer: ['id'] },
      summary: 'Add a channel to a team',
      params: ById,
      body: CreateChannel,
      answers: { 201: json(AdminChannel) },
      errors: ['not_found'],
    },
    async ({ params, body }) => presentChannel(await app.addChannel({ teamId: params.id, name: body.name, memberIds: body.member_ids })),
  );

export const adminTeamRoutes = (app: App) => [
  createTeam(app),
  listTeams(app),
  getTeam(app),
  patchTeam(app),
  setMember(app),
  endMember(app),
  createChannel(app),
];
