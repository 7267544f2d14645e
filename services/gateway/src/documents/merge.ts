import { isDeepStrictEqual } from 'node:util';
import { GATEWAY } from '@bubbles/contracts/services.ts';
import { byName, isObject, type JsonObject, membersOf } from '../messages/json.ts';
import { type Fragment, isDocumented, METHODS } from './fragment.ts';
import { claimFault, type OwnedPrefixes } from './ownership.ts';
import { type Components, mentionsOf, reachableComponents, resolves } from './references.ts';

/** What the gateway says of the whole API; no fragment may say otherwise. */
export interface DocumentHead {
  readonly info: JsonObject;
  readonly tags: readonly JsonObject[];
  /** In the order in which a reader is to meet them. */
  readonly securitySchemes: JsonObject;
}

interface Conflict {
  readonly service: string;
  readonly code: string;
  readonly detail: string;
}

interface MergeInput {
  readonly head: DocumentHead;
  /** At most one a service. */
  readonly fragments: readonly Fragment[];
  readonly prefixes: OwnedPrefixes;
}

type Merged =
  | { readonly document: JsonObject; readonly conflicts: readonly [] }
  | { readonly document: null; readonly conflicts: readonly Conflict[] };

type Report = (conflict: Conflict) => void;

/** One public document out of those of all services, the same bytes whatever their order; or every reason why there is none. Nothing is ever renamed: names are API. */
export const mergeFragments = ({ head, fragments, prefixes }: MergeInput): Merged => {
  const conflicts: Conflict[] = [];
  const report: Report = (conflict) => conflicts.push(conflict);
  const ordered = fragments.toSorted((a, b) => (a.service < b.service ? -1 : 1));
  checkClaims(ordered, prefixes, report);
  checkNames(ordered, report);
  for (const fragment of ordered) checkSchemes(fragment, head, report);
  const parts = ordered.map(publicPart);
  const document: JsonObject = {
    openapi: '3.1.0',
    info: head.info,
    tags: usedTags(head, parts),
    paths: mergedPaths(parts),
    ...mergedWebhooks(parts, report),
    components: mergedComponents(parts, { head, shared: sharedComponents(ordered, parts), report }),
  };
  for (const part of parts) checkMentions(part, document, report);
  return conflicts.length === 0 ? { document, conflicts: [] } : { document: null, conflicts };
};

const checkClaims = (fragments: readonly Fragment[], prefixes: OwnedPrefixes, report: Report): void => {
  fragments.forEach((fragment, index) => {
    const fault = claimFault(fragment, fragments.slice(0, index), prefixes);
    if (fault !== null) report({ service: fragment.service, ...fault });
  });
};

const checkNames = (fragments: readonly Fragment[], report: Report): void => {
  const owners = new Map<string, string>();
  for (const { service, operationId } of fragments.flatMap(({ operations }) => operations)) {
    const owner = owners.get(operationId);
    if (owner !== undefined) report({ service, code: 'operation_id', detail: `${operationId} is used by ${owner}` });
    owners.set(operationId, service);
  }
};

const checkSchemes = ({ service, document, operations }: Fragment, head: DocumentHead, report: Report): void => {
  const components = isObject(document['components']) ? document['components'] : {};
  for (const [name, scheme] of membersOf(components['securitySchemes']))
    if (!isDeepStrictEqual(scheme, head.securitySchemes[name])) report({ service, code: 'security_scheme', detail: name });
  const part = publicPart({ service, document, operations });
  const required = Object.values(part.paths).flatMap((methods) =>
    Object.values(methods).flatMap(({ security }) => (Array.isArray(security) ? security : [])),
  );
  for (const name of new Set(required.flatMap((requirement) => membersOf(requirement).map(([scheme]) => scheme))))
    if (!Object.hasOwn(head.securitySchemes, name)) report({ service, code: 'unknown_scheme', detail: name });
};

/** In the head's order; one without an operation would head an empty chapter. */
const usedTags = ({ tags }: DocumentHead, parts: readonly PublicPart[]): readonly JsonObject[] => {
  const operations = parts.flatMap(({ paths }) => Object.values(paths).flatMap((methods) => Object.values(methods)));
  const used = new Set(operations.flatMap((operation) => (Array.isArray(operation['tags']) ? operation['tags'] : [])));
  return tags.filter(({ name }) => used.has(name));
};

const mergedPaths = (parts: readonly PublicPart[]): JsonObject => {
  const paths = new Map<string, JsonObject>();
  for (const part of parts)
    for (const [template, methods] of Object.entries(part.paths)) paths.set(template, sorted({ ...paths.get(template), ...methods }));
  return sorted(Object.fromEntries(paths));
};

const mergedWebhooks = (parts: readonly PublicPart[], report: Report): JsonObject => {
  const webhooks: Record<string, unknown> = {};
  for (const { service, webhooks: own } of parts) {
    for (const [name, item] of Object.entries(own)) {
      if (Object.hasOwn(webhooks, name)) report({ service, code: 'webhook_name', detail: name });
      webhooks[name] = item;
    }
  }
  return Object.keys(webhooks).length === 0 ? {} : { webhooks: sorted(webhooks) };
};

interface ComponentContext {
  readonly head: DocumentHead;
  /** What all fragments define and the gateway owns. */
  readonly shared: readonly Defined[];
  readonly report: Report;
}

/**
 * The fragment whose operations use a component defines it. Components that the gateway's own fragment defines too, such as the error envelope, are as the
 * gateway defines them. For a component that a fragment uses only in its webhooks, the definition of the service counts whose operations answer with it.
 * So fragments of two releases merge.
 */
const mergedComponents = (parts: readonly PublicPart[], { head, shared, report }: ComponentContext): JsonObject => {
  const sections = new Map<string, Map<string, Defined>>();
  const all = parts.flatMap(componentsOf);
  for (const defined of [...shared, ...all.filter(({ isOwn }) => isOwn), ...all.filter(({ isOwn }) => !isOwn)]) {
    const { service, section, name, component, isOwn } = defined;
    const merged = sections.get(section) ?? new Map<string, Defined>();
    sections.set(section, merged);
    const first = merged.get(name) ?? defined;
    merged.set(name, first);
    const mustEqual = !shared.includes(first) && (isOwn || !first.isOwn);
    if (mustEqual && !isDeepStrictEqual(first.component, component))
      report({ service, code: 'component', detail: `${section}/${name} is defined otherwise by ${first.service}` });
  }
  const inOrder = [...sections].map(([section, named]) => {
    const components = [...named].map(([name, { component }]) => [name, component] as const);
    return [section, sorted(Object.fromEntries(components))] as const;
  });
  const schemes = Object.keys(head.securitySchemes).length > 0 ? { securitySchemes: head.securitySchemes } : {};
  return sorted({ ...Object.fromEntries(inOrder), ...schemes });
};

interface Defined {
  readonly service: string;
  readonly section: string;
  readonly name: string;
  readonly component: unknown;
  /** True when operations of the fragment use the component. */
  readonly isOwn: boolean;
}

const componentsOf = ({ service, components, usedByPaths }: PublicPart): readonly Defined[] =>
  Object.entries(components)
    .filter(([section]) => section !== 'securitySchemes')
    .flatMap(([section, named]) =>
      Object.entries(named).map(([name, component]) => {
        const isOwn = usedByPaths[section]?.[name] !== undefined;
        return { service, section, name, component, isOwn };
      }),
    );

/** Those of the gateway's own components that the document needs. */
const sharedComponents = (fragments: readonly Fragment[], parts: readonly PublicPart[]): readonly Defined[] => {
  const components = fragments.find(({ service }) => service === GATEWAY)?.document['components'];
  if (!isObject(components)) return [];
  const reached = marklessIn(reachableComponents(components, parts));
  return componentsOf({ service: GATEWAY, paths: {}, webhooks: {}, components: reached, usedByPaths: reached });
};

/** Looks at the merged document, so that a part may lean on a component that another brought. */
const checkMentions = (part: PublicPart, document: JsonObject, report: Report): void => {
  const { pointers, linkedOperations, identities } = mentionsOf(part.paths, part.webhooks, part.components);
  for (const pointer of pointers)
    if (!resolves(document, pointer))
      report({ service: part.service, code: pointer.startsWith('#') ? 'dangling_reference' : 'external_reference', detail: pointer });
  for (const identity of identities) report({ service: part.service, code: 'schema_identity', detail: identity });
  const known = new Set(operationIdsOf(document));
  for (const operationId of linkedOperations)
    if (!known.has(operationId)) report({ service: part.service, code: 'dangling_link', detail: operationId });
};

const operationIdsOf = (document: JsonObject): readonly unknown[] =>
  membersOf(document['paths']).flatMap(([, methods]) =>
    membersOf(methods).map(([, operation]) => (isObject(operation) ? operation['operationId'] : null)),
  );

const sorted = (object: JsonObject): JsonObject => Object.fromEntries(Object.entries(object).toSorted(byName));

/** What of a fragment the public document shows. */
interface PublicPart {
  readonly service: string;
  /** Template → method → operation. */
  readonly paths: Readonly<Record<string, Readonly<Record<string, JsonObject>>>>;
  readonly webhooks: JsonObject;
  readonly components: Components;
  /** The components that its operations reference. */
  readonly usedByPaths: Components;
}

/** Operations that no client is shown leave first, so that they can neither collide nor leak; then what a level above said is pushed down into each operation. */
const publicPart = ({ service, document }: Fragment): PublicPart => {
  const paths: Record<string, Record<string, JsonObject>> = {};
  for (const [template, item] of membersOf(document['paths'])) {
    const operations = publicOperations(item, document);
    if (Object.keys(operations).length > 0) paths[template] = operations;
  }
  const webhooks = Object.fromEntries(membersOf(document['webhooks']).map(([name, item]) => [name, withoutMarks(item)]));
  const components = isObject(document['components']) ? document['components'] : {};
  const reached = reachableComponents(components, [paths, webhooks]);
  return {
    service,
    paths,
    webhooks,
    components: marklessIn(reached),
    usedByPaths: reachableComponents(components, [paths]),
  };
};

const publicOperations = (item: unknown, document: JsonObject): Record<string, JsonObject> => {
  if (!isObject(item)) return {};
  const shared = Array.isArray(item['parameters']) ? item['parameters'] : [];
  return Object.fromEntries(
    METHODS.flatMap((method) => {
      const operation = item[method];
      return isObject(operation) && isDocumented(operation) ? [[method, publicOperation(operation, shared, document)] as const] : [];
    }),
  );
};

const publicOperation = (operation: JsonObject, shared: readonly unknown[], document: JsonObject): JsonObject => {
  const { servers: _, ...rest } = operation;
  const own = Array.isArray(rest['parameters']) ? rest['parameters'] : [];
  const parameters = [...shared.filter((parameter) => !own.some((other) => sameParameter(parameter, other))), ...own];
  return markless({ ...rest, security: rest['security'] ?? document['security'] ?? [], ...(parameters.length > 0 && { parameters }) });
};

const sameParameter = (a: unknown, b: unknown): boolean =>
  isObject(a) && isObject(b) && a['name'] !== undefined && a['name'] === b['name'] && a['in'] === b['in'];

const isMark = (key: string): boolean => key.startsWith('x-gw-') || key === 'x-internal';

const markless = (object: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(object).flatMap(([key, value]) => (isMark(key) ? [] : [[key, withoutMarks(value)]])));

const marklessIn = (components: Components): Components =>
  Object.fromEntries(Object.entries(components).map(([section, named]) => [section, markless(named)]));

const withoutMarks = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutMarks);
  return isObject(value) ? markless(value) : value;
};
