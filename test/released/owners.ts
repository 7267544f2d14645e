import { reachableComponents } from '@bubbles/gateway/documents/references.ts';
import { ownFragment } from '@bubbles/gateway/pages/pages.ts';
import { type Documents, isJson, type Json } from './releases.ts';

const componentsIn = ({ components }: Json): Json => (isJson(components) ? components : {});

/** `schemas/Bubble` and the like. */
const namesIn = (components: Json): readonly string[] =>
  Object.entries(components).flatMap(([section, named]) => (isJson(named) ? Object.keys(named).map((name) => `${section}/${name}`) : []));

/** The gateway owns what several services define: the error envelope, for example. */
const SHARED: ReadonlySet<string> = new Set(namesIn(componentsIn(ownFragment().document)));

/**
 * A component has one owner: the service whose operations use it, else the one that sends it in webhooks. A second definition is refused, also when both
 * are the same today, since each can change without the other.
 */
export const ownerFaults = (services: Documents['services']): readonly string[] => {
  const claimsBy = (key: 'paths' | 'webhooks') =>
    Object.entries(services).flatMap(([service, document]) =>
      namesIn(reachableComponents(componentsIn(document), [document[key]])).map((name) => ({ service, name, key })),
    );
  const owners = new Map<string, ReturnType<typeof claimsBy>[number]>();
  return [...claimsBy('paths'), ...claimsBy('webhooks')].flatMap((claim) => {
    const { service, name, key } = claim;
    const owner = owners.get(name) ?? claim;
    owners.set(name, owner);
    // A service may send what another one answers with.
    if (SHARED.has(name) || owner.service === service || owner.key !== key) return [];
    return [
      `${service} defines the component ${name}, which ${owner.service} owns. Give the schema in ${service} an id of its own (\`.meta({ id })\`), or let the gateway own it (SHARED_COMPONENTS of its pages): otherwise one can change without the other.`,
    ];
  });
};
