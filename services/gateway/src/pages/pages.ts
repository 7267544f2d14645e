import { anyone } from '@bubbles/auth/guards.ts';
import { API_ERRORS } from '@bubbles/contracts/access.ts';
import { BubbleType } from '@bubbles/contracts/api/bubble.ts';
import { GATEWAY } from '@bubbles/contracts/services.ts';
import { openApiFragment } from '@bubbles/http/document/openapi.ts';
import { json, withDetails } from '@bubbles/http/routes/content.ts';
import { route } from '@bubbles/http/routes/route.ts';
import { z } from 'zod';
import { type Fragment, type Operation, readFragment, USUAL_BODY_LIMIT_BYTES } from '../documents/fragment.ts';
import { answer, type Exchange } from '../exchange/exchange.ts';
import type { PublicDocument } from './document.ts';
import { encodedAnswer } from './encoded-answer.ts';
import { apiReference } from './reference-page.ts';

const DOCUMENT_PATH = '/v1/openapi.json';
const DOCUMENT_TYPE = 'application/json; charset=utf-8';
const MAX_AGE_SECONDS = 60;

const openApiDocument = route(
  {
    method: 'GET',
    path: DOCUMENT_PATH,
    operationId: 'getOpenApiDocument',
    summary: 'Read this document',
    description: 'OpenAPI 3.1 of the whole API; `servers` names the host that the request was sent to.',
    tag: 'Discovery',
    guard: anyone,
    answers: { 200: withDetails(json(z.looseObject({ openapi: z.string() })), { description: 'The document.' }) },
    publicMaxAgeSeconds: MAX_AGE_SECONDS,
  },
  () => Promise.reject(new TypeError('The page serves the document.')),
);

/** Schemas that operations of several services use belong to the gateway, as the error envelope does. */
const SHARED_COMPONENTS = [BubbleType];

/** What the gateway serves itself, described as the services describe theirs; the pages of the reference are no API and stay out of the document. */
export const ownFragment = (): Fragment => {
  const document = openApiFragment({
    name: GATEWAY,
    errors: API_ERRORS,
    routes: [openApiDocument],
    components: SHARED_COMPONENTS,
  });
  const fragment = readFragment(GATEWAY, document);
  if ('code' in fragment) throw new TypeError(`The gateway's own fragment is faulty: ${fragment.code} ${fragment.detail}`);
  return { ...fragment, operations: [...fragment.operations, ...apiReference().paths.map(pageOperation)] };
};

const pageOperation = (template: string): Operation => ({
  service: GATEWAY,
  method: 'GET',
  template,
  operationId: `page ${template}`,
  auth: 'none',
  timeoutMs: null,
  bodyLimitBytes: USUAL_BODY_LIMIT_BYTES,
  errorFormat: 'page',
  isUnsafe: false,
});

interface PagesOptions {
  readonly document: PublicDocument;
  /** What the origin in the document depends on, for caches. */
  readonly varyBy: readonly string[];
}

/** What the gateway serves itself: the document of the API and its reference. */
export const ownPages = ({ document, varyBy }: PagesOptions): ((exchange: Exchange) => Promise<void>) => {
  const reference = apiReference();
  const headers = ['Cache-Control', `public, max-age=${MAX_AGE_SECONDS}`];
  return async (exchange) => {
    const { req, path, origin } = exchange;
    if (origin === null) throw new TypeError('A page is shown under an origin.');
    if (path !== DOCUMENT_PATH) return answer(exchange, await reference.answer(req, path, origin));
    const rendered = document.current();
    const body = (encoding: 'gzip' | 'identity') => rendered[encoding](origin);
    answer(exchange, await encodedAnswer(req, { type: DOCUMENT_TYPE, etag: rendered.etag(origin), body, headers, varyBy }));
  };
};
