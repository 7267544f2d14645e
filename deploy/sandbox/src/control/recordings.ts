import { bubbleIdOf } from '@bubbles/bubbles-query/domain/short-id.ts';
import { json } from '@bubbles/http/routes/content.ts';
import { route } from '@bubbles/http/routes/route.ts';
import { z } from 'zod';
import { BubblePatch, NewBubble, NewComment, StageMove } from '../pipeline/fields.ts';
import type { Act } from './actions.ts';
import { Bubble, CALL, Id } from './bodies.ts';

/** A bubble is named here as on the public API: by its uuid in either case, or by its short id. */
const BubblePath = z.object({ id: z.string().transform((text) => bubbleIdOf(text) ?? text) });

const createBubble = (act: Act) =>
  route(
    {
      ...CALL,
      tag: 'Recordings',
      method: 'POST',
      path: '/_sandbox/bubbles',
      operationId: 'createBubble',
      summary: 'Play the recording pipeline',
      description: 'Up to `stage`. Absent fields get plausible values by the type, null stays null. Answers when lists and search show it.',
      body: NewBubble,
      answers: { 200: json(Bubble) },
    },
    ({ body }) => act((actions) => actions.createBubble(body)),
  );

const moveBubble = (act: Act) =>
  route(
    {
      ...CALL,
      tag: 'Recordings',
      method: 'POST',
      path: '/_sandbox/bubbles/{id}/stage',
      operationId: 'moveBubble',
      summary: 'Move a recording on to a stage',
      params: BubblePath,
      body: StageMove,
      answers: { 200: json(Bubble) },
    },
    ({ params, body }) => act((actions) => actions.moveBubble(params.id, body)),
  );

const changeBubble = (act: Act) =>
  route(
    {
      ...CALL,
      tag: 'Recordings',
      method: 'PATCH',
      path: '/_sandbox/bubbles/{id}',
      operationId: 'changeBubble',
      summary: 'Change a recording',
      description: 'Any of its fields; arrays wholesale.',
      params: BubblePath,
      body: BubblePatch,
      answers: { 200: json(Bubble) },
    },
    ({ params, body }) => act((actions) => actions.changeBubble(params.id, body)),
  );

const removeBubble = (act: Act) =>
  route(
    {
      ...CALL,
      tag: 'Recordings',
      method: 'DELETE',
      path: '/_sandbox/bubbles/{id}',
      operationId: 'removeBubble',
      summary: 'Remove a recording',
      params: BubblePath,
      answers: { 200: json(Id) },
    },
    ({ params }) =>
      act(async (actions) => {
        await actions.removeBubble(params.id);
        return { id: params.id };
      }),
  );

const comment = (act: Act) =>
  route(
    {
      ...CALL,
      tag: 'Recordings',
      method: 'POST',
      path: '/_sandbox/bubbles/{id}/comments',
      operationId: 'comment',
      summary: 'Post a comment',
      description: 'Without `thread_id` it opens a thread.',
      params: BubblePath,
      body: NewComment,
      answers: { 200: json(z.object({ id: z.string(), thread_id: z.string() })) },
    },
    ({ params, body }) =>
      act(async (actions) => {
        const { id, threadId } = await actions.comment(params.id, body);
        return { id, thread_id: threadId };
      }),
  );

export const recordingRoutes = (act: Act) => [createBubble(act), moveBubble(act), changeBubble(act), removeBubble(act), comment(act)];
