import { Bubble } from '@bubbles/contracts/api/bubble.ts';
import { EXAMPLE_IDS } from '@bubbles/contracts/api/examples.ts';
import { BubblesList, CommentList } from '@bubbles/contracts/api/lists.ts';
import { ListBubblesQuery, PageQuery, SearchBubblesQuery, TranscriptQuery } from '@bubbles/contracts/api/query.ts';
import { CallerId } from '@bubbles/contracts/api/text.ts';
import { Transcript } from '@bubbles/contracts/api/transcript.ts';
import { ReadableRequest, ReadableResponse } from '@bubbles/contracts/internal/readable.ts';
import { defineRoute } from '@bubbles/http/routes/define-route.ts';
import { z } from 'zod';

const common = { tag: 'Bubbles', auth: { kind: 'pat', scope: 'bubbles:read' } } as const;
const ById = z.object({ id: CallerId.meta({ description: 'The uuid, or the short id of app URLs', examples: [EXAMPLE_IDS.bubble] }) });

export const listBubbles = defineRoute({
  ...common,
  method: 'GET',
  path: '/v1/bubbles',
  operationId: 'listBubbles',
  summary: 'List your bubbles',
  description: 'The bubbles that you take part in, newest first. Archived bubbles, drafts, templates and expired ones are left out.',
  query: ListBubblesQuery,
  success: { status: 200, schema: BubblesList },
  errors: [],
});

export const searchBubbles = defineRoute({
  ...common,
  method: 'GET',
  path: '/v1/bubbles/search',
  operationId: 'searchBubbles',
  summary: 'Search your bubbles',
  description:
    'Those of your list that hold the words, or words like them: first in the title, then in the author name, then in the AI notes.',
  query: SearchBubblesQuery,
  success: { status: 200, schema: BubblesList },
  errors: [],
});

export const getBubble = defineRoute({
  ...common,
  method: 'GET',
  path: '/v1/bubbles/{id}',
  operationId: 'getBubble',
  summary: 'Read one bubble',
  params: ById,
  success: { status: 200, schema: Bubble },
  errors: ['not_found'],
});

export const getTranscript = defineRoute({
  ...common,
  method: 'GET',
  path: '/v1/bubbles/{id}/transcript',
  operationId: 'getTranscript',
  summary: 'Read the transcript of a bubble',
  params: ById,
  query: TranscriptQuery,
  success: { status: 200, schema: Transcript },
  errors: ['not_found'],
});

export const listComments = defineRoute({
  ...common,
  method: 'GET',
  path: '/v1/bubbles/{id}/comments',
  operationId: 'listComments',
  summary: 'List the comments of a bubble',
  description: 'Oldest first.',
  params: ById,
  query: PageQuery,
  success: { status: 200, schema: CommentList },
  errors: ['not_found'],
});

const internal = { method: 'POST', tag: 'Internal' } as const;

export const readable = defineRoute({
  ...internal,
  path: '/internal/v1/readable',
  operationId: 'readable',
  summary: 'Check read access in a batch',
  auth: { kind: 'internal', callers: ['webhooks-dispatcher'] },
  body: ReadableRequest,
  success: { status: 200, schema: ReadableResponse },
  errors: [],
});

export const rebuildPeople = defineRoute({
  ...internal,
  path: '/internal/v1/admin/rebuild-people',
  operationId: 'rebuildPeople',
  summary: 'Rebuild the people projection from identity, a page at a time',
  auth: { kind: 'internal', callers: ['operator'] },
  body: z.object({ after: z.string().optional().meta({ description: 'The `next_after` of the page before' }) }),
  success: { status: 200, schema: z.object({ accounts: z.int().nonnegative(), next_after: z.string().nullable() }) },
  errors: [],
});
