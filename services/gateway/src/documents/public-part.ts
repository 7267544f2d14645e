import { isObject, type JsonObject, membersOf } from '../messages/json.ts';
import { type Fragment, isInternal, METHODS } from './fragment.ts';
import { type Components, reachableComponents } from './references.ts';

/** What of a fragment the public document shows. */
export interface PublicPart {
  readonly service: string;
  /** Template → method → operation. */
  readonly paths: Readonly<Record<string, Readonly<Record<string, JsonObject>>>>;
  readonly webhooks: JsonObject;
  readonly components: Components;
}

/** Internal operations leave first, so that they can neither collide nor leak; then what a level above said is pushed down into each operation. */
export const publicPart = ({ service, document }: Fragment): PublicPart => {
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
    components: Object.fromEntries(Object.entries(reached).map(([section, named]) => [section, markless(named)])),
  };
};

const publicOperations = (item: unknown, document: JsonObject): Record<string, JsonObject> => {
  if (!isObject(item)) return {};
  const shared = Array.isArray(item['parameters']) ? item['parameters'] : [];
  return Object.fromEntries(
    METHODS.flatMap((method) => {
      const operation = item[method];
      return isObject(operation) && !isInternal(operation) ? [[method, publicOperation(operation, shared, document)] as const] : [];
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

const withoutMarks = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutMarks);
  return isObject(value) ? markless(value) : value;
};
