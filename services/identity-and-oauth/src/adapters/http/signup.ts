import { internal } from '@bubbles/auth/guards.ts';
import { SIGNUP_CALLS } from '@bubbles/contracts/internal/identity-signup.ts';
import { json } from '@bubbles/http/routes/content.ts';
import { route } from '@bubbles/http/routes/route.ts';
import type { App } from '../../app.ts';
import { presentWorkspace } from './present.ts';

const SIGNUP = { tag: 'Internal', method: 'POST', guard: internal(['signup']) } as const;
const { account, join, create, domainJoin } = SIGNUP_CALLS;

const findWorkspaces = (app: App) =>
  route(
    {
      ...SIGNUP,
      path: account.path,
      operationId: 'findSignupWorkspaces',
      summary: 'The account of a proven address, and the workspaces that it may join',
      body: account.request,
      answers: { 200: json(account.response) },
    },
    async ({ body }) => {
      const found = await app.findWorkspaces(body);
      return {
        account: found.account && { id: found.account.id, state: found.account.state },
        workspaces: found.workspaces.map(presentWorkspace),
      };
    },
  );

const joinWorkspace = (app: App) =>
  route(
    {
      ...SIGNUP,
      path: join.path,
      operationId: 'joinSignupWorkspace',
      summary: 'Let a proven address into a workspace of its domain',
      body: join.request,
      answers: { 200: json(join.response) },
      errors: ['forbidden'],
    },
    async ({ body: { email, domain, team_id } }) => {
      const { userId, teamId } = await app.joinWorkspace({ email, domain, teamId: team_id });
      return { user_id: userId, team_id: teamId };
    },
  );

const createWorkspace = (app: App) =>
  route(
    {
      ...SIGNUP,
      path: create.path,
      operationId: 'createSignupWorkspace',
      summary: 'Make the workspace of a flow, with a proven address as its admin',
      body: create.request,
      answers: { 200: json(create.response) },
      errors: ['forbidden'],
    },
    async ({ body: { flow_id, email, name } }) => {
      const { userId, team } = await app.createWorkspace({ flowId: flow_id, email, name });
      return { user_id: userId, team_id: team.id, trial_ends_at: team.trialEndsAt?.toISOString() ?? null };
    },
  );

const openForDomain = (app: App) =>
  route(
    {
      ...SIGNUP,
      path: domainJoin.path,
      operationId: 'openSignupWorkspace',
      summary: 'Let people of a domain into the workspace that a flow made',
      body: domainJoin.request,
      answers: { 200: json(domainJoin.response) },
      errors: ['forbidden'],
    },
    async ({ body: { flow_id, email, domain } }) => {
      const { teamId } = await app.openForDomain({ flowId: flow_id, email, domain });
      return { team_id: teamId, domain };
    },
  );

export const signupRoutes = (app: App) => [findWorkspaces(app), joinWorkspace(app), createWorkspace(app), openForDomain(app)];
