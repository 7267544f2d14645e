import { TeamList, User } from '@bubbles/contracts/api/user.ts';
import { json } from '@bubbles/http/routes/content.ts';
import { route } from '@bubbles/http/routes/route.ts';
import type { App } from '../../app.ts';
import type { OwnGuards } from './guards.ts';
import { presentTeam, presentUser } from './present.ts';

const getMe = ({ pat }: OwnGuards) =>
  route(
    {
      method: 'GET',
      path: '/v1/me',
      operationId: 'getMe',
      summary: 'Read the authenticated user',
      tag: 'Account',
      guard: pat(null),
      answers: { 200: json(User) },
    },
    ({ account }) => Promise.resolve(presentUser(account)),
  );

const listTeams = (app: App, { pat }: OwnGuards) =>
  route(
    {
      method: 'GET',
      path: '/v1/teams',
      operationId: 'listTeams',
      summary: 'List the teams of the user',
      description: 'Archived teams and hidden guest memberships (joined through a public link) are left out.',
      tag: 'Account',
      guard: pat(null),
      answers: { 200: json(TeamList) },
    },
    async ({ account }) => ({ data: (await app.teamsOfCaller(account)).map(presentTeam) }),
  );

export const accountRoutes = (app: App, guards: OwnGuards) => [getMe(guards), listTeams(app, guards)];
