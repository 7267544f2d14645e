import { pat } from '@bubbles/auth/guards.ts';
import { CallerId } from '@bubbles/contracts/api/fields.ts';
import {
  JoinMeetingRequest,
  ListMeetingJoinsQuery,
  MeetingJoinCreated,
  MeetingJoinEvents,
  MeetingJoinList,
  MeetingJoinStatus,
} from '@bubbles/contracts/api/meeting-join.ts';
import { empty, json } from '@bubbles/http/routes/content.ts';
import { route } from '@bubbles/http/routes/route.ts';
import { keysetPage } from '@bubbles/kernel/cursors.ts';
import { z } from 'zod';
import type { App } from '../../app.ts';
import { requesterId } from '../../domain/requester.ts';
import type { Cursors } from './cursors.ts';
import { presentCreated, presentHistory, presentStatus } from './present.ts';

const COMMON = { tag: 'Meetings', guard: pat('meetings:join') } as const;
const ById = z.object({ id: CallerId.meta({ description: 'Of the join' }) });

const joinMeeting = (app: App) =>
  route(
    {
      ...COMMON,
      method: 'POST',
      path: '/v1/meetings/join',
      operationId: 'joinMeeting',
      summary: 'Send the notetaker into a meeting',
      description:
        'While a notetaker of the team is in this meeting, or on its way, this answers with its join and sends no other one; you may then read that join too. `meeting_url` is your link without what is not needed to join.',
      body: JoinMeetingRequest,
      answers: { 201: json(MeetingJoinCreated) },
      errors: ['forbidden'],
      idempotent: true,
      secret: true,
    },
    async ({ caller, body, ids }) => {
      const request = { userId: caller.userId, life: caller.life, meetingUrl: body.meeting_url, teamId: body.team_id, ids };
      const { join, link } = await app.requestJoin(request);
      return presentCreated(join, link.url);
    },
  );

const getMeetingJoin = (app: App) =>
  route(
    {
      ...COMMON,
      method: 'GET',
      path: '/v1/meetings/join/{id}',
      operationId: 'getMeetingJoin',
      summary: 'Read where a notetaker is',
      params: ById,
      answers: { 200: json(MeetingJoinStatus) },
      errors: ['forbidden', 'not_found'],
    },
    async ({ caller, params }) => presentStatus(await app.readJoin(caller, params.id)),
  );

const listMeetingJoins = (app: App, cursors: Cursors) =>
  route(
    {
      ...COMMON,
      method: 'GET',
      path: '/v1/meetings/join',
      operationId: 'listMeetingJoins',
      summary: 'List your joins',
      description: 'Newest first; those that you asked for, also where somebody else did before.',
      query: ListMeetingJoinsQuery,
      answers: { 200: json(MeetingJoinList) },
      errors: ['forbidden'],
      extension: true,
    },
    async ({ caller, query: { limit, cursor, status = null } }) => {
      const scope = [requesterId(caller), status];
      const position = cursors.joins.decode(cursor, scope);
      const found = await app.listJoins(caller, { status, position, limit: limit + 1 });
      const { rows, next } = keysetPage({ rows: found, limit, encode: (last) => cursors.joins.encode(last, scope) });
      return { data: rows.map(presentStatus), has_more: next !== null, next_cursor: next };
    },
  );

const endMeetingJoin = (app: App) =>
  route(
    {
      ...COMMON,
      method: 'DELETE',
      path: '/v1/meetings/join/{id}',
      operationId: 'endMeetingJoin',
      summary: 'Let the notetaker leave',
      description:
        'For all who asked for it. What it recorded is kept; without a recording the join is fatal, with `cancelled`. One that is over stays as it is.',
      params: ById,
      answers: { 204: empty },
      errors: ['forbidden', 'not_found'],
      extension: true,
    },
    ({ caller, params }) => app.endJoin(caller, params.id),
  );

const listMeetingJoinEvents = (app: App) =>
  route(
    {
      ...COMMON,
      method: 'GET',
      path: '/v1/meetings/join/{id}/events',
      operationId: 'listMeetingJoinEvents',
      summary: 'Read what became of a join',
      params: ById,
      answers: { 200: json(MeetingJoinEvents) },
      errors: ['forbidden', 'not_found'],
      extension: true,
    },
    async ({ caller, params }) => presentHistory(await app.readJoin(caller, params.id)),
  );

export const joinRoutes = (app: App, cursors: Cursors) => [
  joinMeeting(app),
  getMeetingJoin(app),
  listMeetingJoins(app, cursors),
  endMeetingJoin(app),
  listMeetingJoinEvents(app),
];
