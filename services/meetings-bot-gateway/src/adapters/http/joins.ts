import { pat } from '@bubbles/auth/guards.ts';
import { CallerId } from '@bubbles/contracts/api/fields.ts';
import { JoinMeetingRequest, MeetingJoinCreated, MeetingJoinStatus } from '@bubbles/contracts/api/meeting-join.ts';
import { json } from '@bubbles/http/routes/content.ts';
import { route } from '@bubbles/http/routes/route.ts';
import { z } from 'zod';
import type { App } from '../../app.ts';
import { presentCreated, presentStatus } from './present.ts';

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
      const request = { userId: caller.userId, meetingUrl: body.meeting_url, teamId: body.team_id, ids };
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
    async ({ caller, params }) => presentStatus(await app.readJoin(caller.userId, params.id)),
  );

export const joinRoutes = (app: App) => [joinMeeting(app), getMeetingJoin(app)];
