import { CallerId } from '@bubbles/contracts/api/fields.ts';
import { NotetakerRun, ReportedJoin } from '@bubbles/contracts/internal/meetings.ts';
import { json } from '@bubbles/http/routes/content.ts';
import { route } from '@bubbles/http/routes/route.ts';
import { z } from 'zod';
import { NotetakerMove } from '../pipeline/fields.ts';
import type { Act } from './actions.ts';
import { CALL } from './bodies.ts';

const JoinPath = z.object({ join_id: CallerId });
const MovedNotetaker = ReportedJoin.pick({ join_id: true, status: true, bubble_id: true });

const listNotetakers = (act: Act) =>
  route(
    {
      ...CALL,
      tag: 'Meetings',
      method: 'GET',
      path: '/_sandbox/notetakers',
      operationId: 'listNotetakers',
      summary: 'See what the simulated notetakers were asked to do, oldest first',
      answers: { 200: json(z.array(NotetakerRun)) },
    },
    () => act((actions) => actions.listNotetakers()),
  );

const moveNotetaker = (act: Act) =>
  route(
    {
      ...CALL,
      tag: 'Meetings',
      method: 'POST',
      path: '/_sandbox/notetakers/{join_id}',
      operationId: 'moveNotetaker',
      summary: 'Let the simulated notetaker report a status',
      description: 'After `done` the recording is a bubble with notes. A status that the join has passed changes nothing.',
      params: JoinPath,
      body: NotetakerMove,
      answers: { 200: json(MovedNotetaker) },
    },
    ({ params, body }) => act((actions) => actions.moveNotetaker(params.join_id, body)),
  );

/** `act` waits for notetakers that are being sent. */
export const notetakerRoutes = (act: Act) => [listNotetakers(act), moveNotetaker(act)];
