import { pat } from '@bubbles/auth/guards.ts';
import { Bubble, BubblesList } from '@bubbles/contracts/api/bubble.ts';
import { CommentList } from '@bubbles/contracts/api/comment.ts';
import { EXAMPLE_IDS } from '@bubbles/contracts/api/examples.ts';
import { CallerId } from '@bubbles/contracts/api/fields.ts';
import { ExportQuery, ListBubblesQuery, PageQuery, SearchBubblesQuery, TranscriptQuery } from '@bubbles/contracts/api/query.ts';
import { Transcript } from '@bubbles/contracts/api/transcript.ts';
import { json, textFile, wholeFile, withDetails } from '@bubbles/http/routes/content.ts';
import { reply } from '@bubbles/http/routes/reply.ts';
import { route } from '@bubbles/http/routes/route.ts';
import { keysetPage } from '@bubbles/kernel/cursors.ts';
import { create as contentDisposition } from 'content-disposition';
import { z } from 'zod';
import type { App } from '../../app.ts';
import { createdMsOf, sortKeyOf } from '../../domain/bubble.ts';
import { parseQuery } from '../../domain/search-query.ts';
import { bubbleIdOf } from '../../domain/short-id.ts';
import { transcriptFile } from '../../domain/transcript-file.ts';
import type { ListFilters } from '../../ports.ts';
import type { Cursors } from './cursors.ts';
import { type Presenting, presentBubble, presentComment, presentRow, presentTranscript } from './present.ts';

const common = { tag: 'Bubbles', guard: pat('bubbles:read') } as const;
const ById = z.object({ id: CallerId.meta({ description: 'The uuid, or the short id of app URLs', examples: [EXAMPLE_IDS.bubble] }) });

const filtersOf = ({
  team_id,
  space_id,
  type,
  created_after,
  created_before,
}: Omit<ListBubblesQuery, 'limit' | 'cursor'>): ListFilters => ({
  teamId: team_id ?? null,
  spaceId: space_id ?? null,
  type: type ?? null,
  createdAfterMs: created_after ?? null,
  createdBeforeMs: created_before ?? null,
});

interface Tools extends Presenting {
  readonly cursors: Cursors;
}

const listBubbles = (app: App, { cursors, ...presenting }: Tools) =>
  route(
    {
      ...common,
      method: 'GET',
      path: '/v1/bubbles',
      operationId: 'listBubbles',
      summary: 'List your bubbles',
      description: 'The bubbles that you take part in, newest first. Archived bubbles, drafts, templates and expired ones are left out.',
      query: ListBubblesQuery,
      answers: { 200: json(BubblesList) },
    },
    async ({ caller: { userId }, query: { limit, cursor, ...rest } }) => {
      const filters = filtersOf(rest);
      const scope = [userId, JSON.stringify(filters)];
      const last = cursors.rows.decode(cursor, scope);
      const found = await app.listBubbles({ userId, filters, before: last && sortKeyOf(last.createdMs, last.id), limit: limit + 1 });
      const { rows, next } = keysetPage({
        rows: found,
        limit,
        encode: ({ createdAt, id }) => cursors.rows.encode({ createdMs: createdMsOf(createdAt), id }, scope),
      });
      return { data: rows.map((row) => presentRow(row, presenting)), has_more: next !== null, next_cursor: next };
    },
  );

const searchBubbles = (app: App, { cursors, ...presenting }: Tools) =>
  route(
    {
      ...common,
      method: 'GET',
      path: '/v1/bubbles/search',
      operationId: 'searchBubbles',
      summary: 'Search your bubbles',
      description:
        'Those of your list that hold the words, or words like them: first in the title, then in the author name, then in the AI notes.',
      query: SearchBubblesQuery,
      answers: { 200: json(BubblesList) },
    },
    async ({ caller: { userId }, query: { q, cursor, limit, ...rest } }) => {
      const [words, filters] = [parseQuery(q), filtersOf(rest)];
      const scope = [userId, words.canonical, JSON.stringify(filters)];
      const after = cursors.hits.decode(cursor, scope);
      const found = await app.searchBubbles({ userId, words, filters, after, limit: limit + 1 });
      const { rows, next } = keysetPage({ rows: found, limit, encode: ({ position }) => cursors.hits.encode(position, scope) });
      return { data: rows.map(({ row }) => presentRow(row, presenting)), has_more: next !== null, next_cursor: next };
    },
  );

const getBubble = (app: App, presenting: Tools) =>
  route(
    {
      ...common,
      method: 'GET',
      path: '/v1/bubbles/{id}',
      operationId: 'getBubble',
      summary: 'Read one bubble',
      params: ById,
      answers: { 200: json(Bubble) },
      errors: ['not_found'],
    },
    async ({ caller, params }) => {
      const { bubble, ...view } = await app.getBubble(caller.userId, params.id);
      return presentBubble(bubble, view, presenting);
    },
  );

const getTranscript = (app: App) =>
  route(
    {
      ...common,
      method: 'GET',
      path: '/v1/bubbles/{id}/transcript',
      operationId: 'getTranscript',
      summary: 'Read the transcript of a bubble',
      params: ById,
      query: TranscriptQuery,
      answers: { 200: json(Transcript) },
      errors: ['not_found'],
    },
    async ({ caller, params, query }) => presentTranscript(await app.getTranscript(caller.userId, params.id), query.format),
  );

const MEDIA_TYPES = { vtt: 'text/vtt', srt: 'application/x-subrip', markdown: 'text/markdown' } as const;

/** Written whole: a transcript has come in one message of the broker, which bounds it. */
const exportTranscript = (app: App) =>
  route(
    {
      ...common,
      method: 'GET',
      path: '/v1/bubbles/{id}/export',
      operationId: 'exportTranscript',
      summary: 'Export the transcript of a bubble as a file',
      description: 'Subtitles with the speakers as voices or in front, or a page to read. Segments without words are left out.',
      extension: true,
      params: ById,
      query: ExportQuery,
      answers: {
        200: withDetails(textFile(Object.values(MEDIA_TYPES)), {
          headers: { 'Content-Disposition': 'A file name by the title of the bubble (RFC 6266)' },
        }),
      },
      errors: ['not_found'],
    },
    async ({ caller, params, query: { format } }) => {
      const { name, text } = transcriptFile(await app.getTranscript(caller.userId, params.id), format);
      const headers = { 'Content-Disposition': contentDisposition(name) };
      return reply(200, wholeFile(`${MEDIA_TYPES[format]}; charset=utf-8`, Buffer.from(text)), { headers });
    },
  );

const listComments = (app: App, { cursors, ...presenting }: Tools) =>
  route(
    {
      ...common,
      method: 'GET',
      path: '/v1/bubbles/{id}/comments',
      operationId: 'listComments',
      summary: 'List the comments of a bubble',
      description: 'Oldest first.',
      params: ById,
      query: PageQuery,
      answers: { 200: json(CommentList) },
      errors: ['not_found'],
    },
    async ({ caller, params, query: { limit, cursor } }) => {
      const { userId } = caller;
      // What cannot be a bubble's id has no cursor.
      const bubbleId = bubbleIdOf(params.id) ?? '';
      const scope = [userId, bubbleId];
      const after = cursors.comments.decode(cursor, scope);
      const { comments, directory } = await app.listComments(userId, params.id, { after, limit: limit + 1 });
      const { rows, next } = keysetPage({ rows: comments, limit, encode: (last) => cursors.comments.encode(last, scope) });
      return { data: rows.map((comment) => presentComment(comment, directory, presenting)), has_more: next !== null, next_cursor: next };
    },
  );

export const bubbleRoutes = (app: App, tools: Tools) => [
  listBubbles(app, tools),
  searchBubbles(app, tools),
  getBubble(app, tools),
  getTranscript(app),
  exportTranscript(app),
  listComments(app, tools),
];
