import { API_ERRORS } from '@bubbles/contracts/access.ts';
import { GATEWAY } from '@bubbles/contracts/services.ts';
import { openApiFragment } from '@bubbles/http/document/openapi.ts';
import { defineRoute, route } from '@bubbles/http/routes/define-route.ts';
import { z } from 'zod';
import { type Fragment, type Operation, readFragment, USUAL_BODY_LIMIT_BYTES } from '../documents/fragment.ts';
import { apiReference } from './reference-page.ts';

const openApiDocument = defineRoute({
  method: 'GET',
  path: '/v1/openapi.json',
  operationId: 'getOpenApiDocument',
  summary: 'Read this document',
  description: 'OpenAPI 3.1 of the whole API; `servers` names the host that the request was sent to.',
  tag: 'Discovery',
  auth: { kind: 'none' },
  success: { status: 200, schema: z.looseObject({ openapi: z.string() }), description: 'The document.' },
  errors: ['invalid'],
  publicMaxAgeSeconds: 60,
});

/** What the gateway serves itself, described as the services describe theirs; the pages of the reference are no API and stay out of the document. */
export const ownFragment = (): Fragment => {
  const document = openApiFragment({
    name: GATEWAY,
    errors: API_ERRORS,
    routes: [route(openApiDocument, () => Promise.reject(new TypeError('The page serves the document.')))],
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
});
