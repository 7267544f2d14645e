import { isObject, type JsonObject, membersOf } from '../messages/json.ts';

/** Everything in a document that names another part of it. */
interface Mentions {
  /** `$ref`s, discriminator mappings and link targets, as JSON pointers with their `#`. */
  readonly pointers: ReadonlySet<string>;
  readonly linkedOperations: ReadonlySet<string>;
  /** `$id` and `jsonSchemaDialect` change what the pointers around them mean. */
  readonly identities: ReadonlySet<string>;
}

/** Walks every value, whatever the keyword it stands under: `$defs`, `if`, `prefixItems` and those to come. */
export const mentionsOf = (...roots: readonly unknown[]): Mentions => {
  const found: Found = { pointers: new Set(), linkedOperations: new Set(), identities: new Set() };
  const visit = (value: unknown): void => {
    if (isObject(value)) collect(value, found);
    if (typeof value === 'object' && value !== null) Object.values(value).forEach(visit);
  };
  roots.forEach(visit);
  return found;
};

interface Found {
  readonly pointers: Set<string>;
  readonly linkedOperations: Set<string>;
  readonly identities: Set<string>;
}

const collect = (object: JsonObject, { pointers, linkedOperations, identities }: Found): void => {
  if (typeof object['$ref'] === 'string') pointers.add(object['$ref']);
  for (const key of ['$id', 'jsonSchemaDialect']) if (typeof object[key] === 'string') identities.add(`${key} ${object[key]}`);
  for (const pointer of mappedBy(object['discriminator'])) pointers.add(pointer);
  for (const [, link] of membersOf(object['links'])) {
    if (!isObject(link)) continue;
    if (typeof link['operationId'] === 'string') linkedOperations.add(link['operationId']);
    if (typeof link['operationRef'] === 'string') pointers.add(link['operationRef']);
  }
};

/** A mapping's value is a reference or the bare name of a schema. */
const mappedBy = (discriminator: unknown): readonly string[] => {
  if (!isObject(discriminator)) return [];
  return membersOf(discriminator['mapping']).flatMap(([, target]) => {
    if (typeof target !== 'string') return [];
    return /^[\w.-]+$/.test(target) ? [`#/components/schemas/${target}`] : [target];
  });
};

const tokensOf = (pointer: string): readonly string[] =>
  pointer
    .slice(2)
    .split('/')
    .map((token) => decodeToken(token).replaceAll('~1', '/').replaceAll('~0', '~'));

const decodeToken = (token: string): string => (/%(?![0-9A-Fa-f]{2})/.test(token) ? token : decodeURIComponent(token));

/** Does the pointer lead to something in this document? */
export const resolves = (document: JsonObject, pointer: string): boolean => {
  if (pointer === '#') return true;
  if (!pointer.startsWith('#/')) return false;
  let value: unknown = document;
  for (const token of tokensOf(pointer)) {
    if (Array.isArray(value)) value = value[Number(token)];
    else if (isObject(value) && Object.hasOwn(value, token)) value = value[token];
    else return false;
  }
  return value !== undefined;
};

/** Section → name → component. */
export type Components = Readonly<Record<string, JsonObject>>;

/** The components that `roots` lead to, directly or through others; what only internal operations use stays behind. */
export const reachableComponents = (components: JsonObject, roots: readonly unknown[]): Components => {
  const reached: Record<string, Record<string, unknown>> = {};
  const follow = (values: readonly unknown[]): void => {
    for (const pointer of mentionsOf(...values).pointers) {
      const [area, section = '', name = ''] = pointer.startsWith('#/') ? tokensOf(pointer) : [];
      const named = components[section];
      if (area !== 'components' || !isObject(named) || !Object.hasOwn(named, name) || reached[section]?.[name] !== undefined) continue;
      reached[section] = { ...reached[section], [name]: named[name] };
      follow([named[name]]);
    }
  };
  follow(roots);
  return reached;
};
