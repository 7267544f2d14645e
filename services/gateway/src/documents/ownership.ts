import { GATEWAY, SERVICES } from '@bubbles/contracts/services.ts';
import { type Fault, type Fragment, isWithin, shapeOf } from './fragment.ts';

/** Service → the prefixes that are its own. */
export type OwnedPrefixes = Readonly<Record<string, readonly string[]>>;

/** Which service owns which paths; operations below a prefix come from the services themselves. */
export const OWNED_PREFIXES: OwnedPrefixes = {
  ...Object.fromEntries(Object.entries(SERVICES).map(([name, { prefixes }]) => [name, prefixes])),
  // The longest prefix decides: the last one is for what nobody else has.
  [GATEWAY]: ['/v1/openapi.json', '/docs', '/'],
};

/** The service whose prefix holds the path; the longest prefix wins. */
export const ownerOf = (path: string, prefixes: OwnedPrefixes): string | null => {
  let owner: string | null = null;
  let length = -1;
  for (const [service, owned] of Object.entries(prefixes)) {
    for (const prefix of owned) {
      if (prefix.length <= length || !isWithin(path, prefix)) continue;
      owner = service;
      length = prefix.length;
    }
  }
  return owner;
};

/** Why a fragment may not join those that are accepted: a service cannot claim what another owns. Routing refuses such a fragment whole. */
export const claimFault = (candidate: Fragment, accepted: readonly Fragment[], prefixes: OwnedPrefixes): Fault | null => {
  for (const { template, service } of candidate.operations)
    if (ownerOf(template, prefixes) !== service)
      return { code: 'foreign_prefix', detail: `${template} is not within the prefixes of ${service}` };
  return overlapFault(candidate, accepted);
};

const overlapFault = (candidate: Fragment, accepted: readonly Fragment[]): Fault | null => {
  const others = accepted.filter(({ service }) => service !== candidate.service).flatMap(({ operations }) => operations);
  const claimed = new Map(others.map(({ method, template, service }) => [`${method} ${template}`, service]));
  const templates = new Map([...others, ...candidate.operations].map(({ template }) => [shapeOf(template), template]));
  for (const { method, template } of candidate.operations) {
    const owner = claimed.get(`${method} ${template}`);
    if (owner !== undefined) return { code: 'claimed_operation', detail: `${method} ${template} belongs to ${owner}` };
    const twin = templates.get(shapeOf(template));
    if (twin !== template) return { code: 'ambiguous_path', detail: `${template} matches the same paths as ${twin}` };
  }
  return null;
};
