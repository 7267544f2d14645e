import { GATEWAY, SERVICES } from '@bubbles/contracts/services.ts';
import type { OwnedPrefixes } from './domain/ownership.ts';

/** Which service owns which paths; operations below a prefix come from the services themselves. */
export const OWNED_PREFIXES: OwnedPrefixes = {
  ...Object.fromEntries(Object.entries(SERVICES).map(([name, { prefixes }]) => [name, prefixes])),
  // The longest prefix decides: the last one is for what nobody else has.
  [GATEWAY]: ['/v1/openapi.json', '/docs', '/'],
};
