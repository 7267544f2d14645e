import type { ListBubblesQuery } from '@bubbles/contracts/api/query.ts';
import { route } from '@bubbles/http/routes/define-route.ts';
import type { Route } from '@bubbles/http/routes/route.ts';
import { keysetPage } from '@bubbles/kernel/cursors.ts';
import type { App } from '../../app.ts';
import { createdMsOf, sortKey } from '../../domain/bubble.ts';
import { parseQuery } from '../../domain/search-query.ts';
import { bubbleIdOf } from '../../domain/short-id.ts';
import { asText } from '../../domain/transcript.ts';
import type { ListFilters } from '../../ports.ts';
import type { Cursors } from './cursors.ts';
import type { Presenter } from './present.ts';
import { getBubble, getTranscript, listBubbles, listComments, readable, rebuildPeople, searchBubbles } from './specs.ts';

export const filtersOf = ({
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

/** Adapters of the routes' own. */
interface Tools {
  readonly present: Presenter;
  readonly cursors: Cursors;
}

export const routes = (app: App, { present, cursors }: Tools): readonly Route[] => [
  route(listBubbles, async ({ caller: { userId }, query: { limit, cursor, ...rest } }) => {
    const filters = filtersOf(rest);
    const scope = [userId, JSON.stringify(filters)];
    const last = cursor === undefined ? null : cursors.rows.decode(cursor, scope);
    const found = await app.listBubbles({ userId, filters, before: last && sortKey(last.createdMs, last.id), limit: limit + 1 });
    const { rows, next } = keysetPage({
      rows: found,
      limit,
      encode: ({ createdAt, id }) => cursors.rows.encode({ createdMs: createdMsOf(createdAt), id }, scope),
    });
    return { data: rows.map(present.row), has_more: next !== null, next_cursor: next };
  }),
  route(searchBubbles, async ({ caller: { userId }, query: { q, cursor, limit, ...rest } }) => {
    const [words, filters] = [parseQuery(q), filtersOf(rest)];
    const scope = [userId, words.canonical, JSON.stringify(filters)];
    const after = cursor === undefined ? null : cursors.hits.decode(cursor, scope);
    const found = await app.searchBubbles({ userId, words, filters, after, limit: limit + 1 });
    const { rows, next } = keysetPage({ rows: found, limit, encode: ({ position }) => cursors.hits.encode(position, scope) });
    return { data: rows.map(({ row }) => present.row(row)), has_more: next !== null, next_cursor: next };
  }),
  route(getBubble, async ({ caller, params }) => {
    const { bubble, ...view } = await app.getBubble(caller.userId, params.id);
    return present.bubble(bubble, view);
  }),
  route(getTranscript, async ({ caller, params, query: { format } }) => {
    const { bubbleId: bubble_id, segments } = await app.getTranscript(caller.userId, params.id);
    return format === 'json'
      ? { bubble_id, format, segments: segments.map(present.segment) }
      : { bubble_id, format, text: asText(segments) };
  }),
  route(listComments, async ({ caller, params, query: { limit, cursor } }) => {
    const { userId } = caller;
    // Whatever is no id of a bubble has no cursor either.
    const bubbleId = bubbleIdOf(params.id) ?? '';
    const scope = [userId, bubbleId];
    const after = cursor === undefined ? null : cursors.comments.decode(cursor, scope);
    const { comments, directory } = await app.listComments(userId, params.id, { after, limit: limit + 1 });
    const { rows, next } = keysetPage({ rows: comments, limit, encode: (last) => cursors.comments.encode(last, scope) });
    return { data: rows.map((comment) => present.comment(comment, directory)), has_more: next !== null, next_cursor: next };
  }),
  route(readable, async ({ body: { pairs } }) => {
    const answers = await app.readability(pairs.map(({ user_id, bubble_id }) => ({ userId: user_id, bubbleId: bubble_id })));
    return {
      answers: answers.map(({ participates, details }, n) => ({
        bubble_id: pairs[n]?.bubble_id ?? '',
        user_id: pairs[n]?.user_id ?? '',
        participates,
        bubble: details && { team_id: details.teamId, channel_id: details.channelId, author_id: details.author?.userId ?? null },
      })),
    };
  }),
  route(rebuildPeople, async ({ body: { after } }) => {
    const { read, nextAfter } = await app.rebuildPeople(after ?? null);
    return { accounts: read, next_after: nextAfter };
  }),
];
