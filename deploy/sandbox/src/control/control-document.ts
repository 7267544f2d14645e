import { API_ERRORS } from '@bubbles/contracts/access.ts';
import { readFragment } from '@bubbles/gateway/documents/fragment.ts';
import { mergeFragments } from '@bubbles/gateway/documents/merge.ts';
import { openApiFragment } from '@bubbles/http/document/openapi.ts';
import type { Route } from '@bubbles/http/routes/route.ts';

const NAME = 'sandbox';
const OPENAPI = '3.1.0';
export const PREFIX = '/_sandbox';

const HEAD = {
  info: {
    title: 'Sandbox control plane',
    version: '1',
    description:
      'People, recordings, time and faults of the sandbox in your hands. It is in no other composition of the product, takes no credential, and answers this machine only. Every success is 200; refusals have the envelope of the API; fields that it does not know are refused by their names. A call answers when its effect shows on the public API; receivers of webhooks are waited for by `settle` and the clock alone.',
  },
  tags: [
    { name: 'World', description: 'What there is, and a fresh start.' },
    { name: 'People', description: 'Accounts, teams, memberships.' },
    { name: 'Recordings', description: 'The recording pipeline, stage by stage.' },
    { name: 'Time and faults', description: 'The clock, what is in flight, services that are down or slow.' },
  ],
  securitySchemes: {},
};

/** The reference of the control plane, out of the definitions that check its requests. */
export const controlDocument = (routes: readonly Route[]) => {
  const fragment = readFragment(NAME, openApiFragment({ name: NAME, routes, errors: API_ERRORS }));
  const merged = 'code' in fragment ? null : mergeFragments({ head: HEAD, fragments: [fragment], prefixes: { [NAME]: [PREFIX] } }).document;
  if (merged === null) throw new TypeError('The routes of the control plane make no document.');
  return { ...merged, openapi: OPENAPI, servers: [{ url: '/' }] };
};
