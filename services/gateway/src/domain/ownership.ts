import { type Fault, type Fragment, isWithin, shapeOf } from './fragment.ts';

/** Service → the prefixes that are its own. */
export type OwnedPrefixes = Readonly<Record<string, readonly string[]>>;

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
  const claimed = new Map<string, string>();
  const templates = new Map<string, string>();
  for (const operation of accepted.filter(({ service }) => service !== candidate.service).flatMap(({ operations }) => operations)) {
    claimed.set(`${operation.method} ${operation.template}`, operation.service);
    templates.set(shapeOf(operation.template), operation.template);
  }
  for (const { method, template } of candidate.operations) {
    const owner = claimed.get(`${method} ${template}`);
    if (owner !== undefined) return { code: 'claimed_operation', detail: `${method} ${template} belongs to ${owner}` };
    const known = templates.get(shapeOf(template));
    if (known !== undefined && known !== template)
      return { code: 'ambiguous_path', detail: `${template} matches the same paths as ${known}` };
  }
  return null;
};
