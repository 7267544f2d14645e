import { z } from 'zod';
import { bytes, empty, withDetails } from '../routes/content.ts';
import type { Guard } from '../routes/guard.ts';
import { canonicalJson } from '../routes/idempotency.ts';
import { reply } from '../routes/reply.ts';
import { type Route, route } from '../routes/route.ts';
import { etagOf, type FragmentSource, openApiFragment } from './openapi.ts';

const TAGGED = { headers: { ETag: 'Of these very bytes.' } } as const;

/** `GET /internal/openapi.json` for the gateway, which asks again with `If-None-Match`. */
export const fragmentRoute = <I extends object, Ports>(source: FragmentSource, guard: Guard<I, Ports>): Route<Ports> => {
  const text = canonicalJson(openApiFragment(source));
  const [body, etag] = [Buffer.from(text), etagOf(text)];
  return route(
    {
      method: 'GET',
      path: '/internal/openapi.json',
      operationId: 'getFragment',
      summary: 'Read the document of this service',
      tag: 'Internal',
      isRoutine: true,
      guard,
      headers: z.object({ 'if-none-match': z.string().optional() }),
      answers: { 200: withDetails(bytes('application/json; charset=utf-8'), TAGGED), 304: withDetails(empty, TAGGED) },
    },
    ({ headers }) => {
      const tagged = { headers: { ETag: etag } };
      return Promise.resolve(headers['if-none-match'] === etag ? reply(304, undefined, tagged) : reply(200, body, tagged));
    },
  );
};
