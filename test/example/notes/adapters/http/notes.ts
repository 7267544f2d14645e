import { anyone, pat } from '@bubbles/auth/guards.ts';
import { empty, form, html, json, raw, redirect } from '@bubbles/http/routes/content.ts';
import { deprecated } from '@bubbles/http/routes/deprecation.ts';
import { reply, seeOther } from '@bubbles/http/routes/reply.ts';
import { route } from '@bubbles/http/routes/route.ts';
import { z } from 'zod';
import { Note, WriteNoteRequest } from '../../../contracts.ts';
import type { App } from '../../app.ts';
import { presentNote, presentPage } from './present.ts';

const tag = 'Notes';
const reader = pat('bubbles:read');
const ById = z.object({ id: z.uuid() });
const Style = z.enum(['plain']).optional().meta({ description: 'How the text is to be written.' });
const STYLE_GOES = { since: '2026-01-31', sunset: '2027-01-31', instead: 'Leave it out: every note is plain text.' };
const NewNote = z.object({ owner: z.string().min(1), text: z.string().min(1) });

const apiRoutes = (app: App) => [
  route(
    {
      method: 'POST',
      path: '/v1/notes',
      operationId: 'writeNote',
      summary: 'Write a note',
      tag,
      guard: reader,
      body: WriteNoteRequest,
      answers: { 201: json(Note) },
      idempotent: true,
    },
    async ({ caller, body, ids }) => presentNote(await app.writeNote(caller.userId, body.text, ids)),
  ),
  route(
    {
      method: 'GET',
      path: '/v1/notes/{id}',
      operationId: 'readNote',
      summary: 'Read one note',
      tag,
      guard: reader,
      params: ById,
      query: z.object({ style: deprecated(Style, STYLE_GOES) }),
      answers: { 200: json(Note) },
    },
    async ({ caller, params }) => presentNote(await app.readNote(caller.userId, params.id)),
  ),
];

/** For a browser: in no document of the API. */
const pageRoutes = (app: App) => [
  route(
    {
      method: 'GET',
      path: '/v1/notes/page',
      operationId: 'showNotePage',
      summary: 'The page with the form',
      tag,
      guard: anyone,
      query: z.object({ owner: z.string().default('') }),
      answers: { 200: html },
      errorFormat: 'page',
      documented: false,
    },
    ({ query }) => Promise.resolve(presentPage(query.owner)),
  ),
  route(
    {
      method: 'POST',
      path: '/v1/notes/page',
      operationId: 'sendNoteForm',
      summary: 'Take the form of the page',
      tag,
      guard: anyone,
      body: form(NewNote),
      answers: { 303: redirect },
      errorFormat: 'page',
      documented: false,
    },
    async ({ body, ids }) => {
      await app.writeNote(body.owner, body.text, ids);
      return seeOther('/v1/notes/page');
    },
  ),
];

/** From a provider of mail, which signs the bytes that it sends. */
const webhookRoutes = (app: App) => [
  route(
    {
      method: 'POST',
      path: '/v1/notes/mail',
      operationId: 'takeNoteMail',
      summary: 'Take a note that came by mail',
      tag,
      guard: anyone,
      headers: z.object({ 'x-mail-signature': z.string(), 'x-mail-owner': z.string() }),
      body: raw({ mediaTypes: ['text/plain'], limitBytes: 64 * 1024 }),
      answers: { 204: empty },
      errors: ['unauthorized'],
      documented: false,
    },
    async ({ headers, body, ids }) => {
      await app.takeMail(body, headers['x-mail-signature'], { ownerId: headers['x-mail-owner'], ids });
      return reply(204);
    },
  ),
];

export const noteRoutes = (app: App) => [...apiRoutes(app), ...pageRoutes(app), ...webhookRoutes(app)];
