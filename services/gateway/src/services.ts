import type { OwnedPrefixes } from './domain/ownership.ts';

export const GATEWAY = 'gateway';

/** Which service owns which paths. A new prefix is a line here; operations below a prefix come from the services themselves. */
export const OWNED_PREFIXES: OwnedPrefixes = {
  'identity-and-oauth': ['/v1/me', '/v1/teams', '/v1/api-keys', '/oauth/', '/.well-known/'],
  'bubbles-query': ['/v1/bubbles'],
  'webhooks-dispatcher': ['/v1/webhooks'],
  'meetings-bot-gateway': ['/v1/meetings'],
  signup: ['/v1/signup'],
  // The longest prefix decides: the last one is for what nobody else has.
  [GATEWAY]: ['/v1/openapi.json', '/docs', '/'],
};
