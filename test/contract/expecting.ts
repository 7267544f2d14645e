import { z } from 'zod';

type Json = Readonly<Record<string, unknown>>;

interface Matcher {
  readonly 'pact:matcher:type': string;
  readonly [detail: string]: unknown;
}

export interface Rule {
  readonly path: string;
  readonly rules: Matcher[];
}

const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const matcher = (type: string, details: Json = {}): Matcher => ({ 'pact:matcher:type': type, ...details });

const NULL = matcher('null');
/** Zod's own expressions are for its engine; these are for the verifier's, and match the whole text. */
const FORMATS: Readonly<Record<string, string>> = {
  'date-time': String.raw`\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})`,
  uuid: '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}',
};
const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

const scalarMatcher = ({ type, format, pattern, enum: options, const: literal }: Json): Matcher => {
  if (literal !== undefined) return matcher('equality');
  if (Array.isArray(options)) return matcher('regex', { regex: options.map(String).map(escaped).join('|') });
  const expression = typeof format === 'string' ? FORMATS[format] : typeof pattern === 'string' ? pattern : undefined;
  if (expression !== undefined) return matcher('regex', { regex: expression });
  return matcher(type === 'integer' || type === 'number' || type === 'boolean' ? type : 'type');
};

/** What a consumer that parses with `schema` needs of the other side: an example, and a rule for each of its values. */
export const expecting = <T>(schema: z.ZodType<T>, example: T): { readonly body: T; readonly rules: readonly Rule[] } => {
  const root = z.toJSONSchema(schema, { io: 'input' });
  const definitions: Json = root.$defs ?? {};

  const resolved = (node: Json): Json => {
    const target = typeof node['$ref'] === 'string' ? definitions[node['$ref'].replace('#/$defs/', '')] : node;
    if (!isJson(target)) throw new TypeError(`no definition of ${String(node['$ref'])}`);
    return target;
  };

  const optionFor = (node: Json, value: unknown): Json => {
    const options = listOf(node['oneOf']).filter(isJson).map(resolved);
    const fitting = options.find((option) => {
      const properties = isJson(option['properties']) ? option['properties'] : {};
      return Object.entries(properties).every(
        ([name, field]) => !isJson(field) || field['const'] === undefined || (isJson(value) && value[name] === field['const']),
      );
    });
    if (!fitting) throw new TypeError('the example is none of the alternatives');
    return fitting;
  };

  /** Splits off the null of a nullable schema. */
  const withoutNull = (node: Json): { readonly inner: Json; readonly nullable: boolean } => {
    const alternatives = listOf(node['anyOf']).filter(isJson);
    if (alternatives.length > 0) {
      const inner = alternatives.filter((alternative) => alternative['type'] !== 'null');
      return { inner: resolved(inner[0] ?? {}), nullable: inner.length < alternatives.length };
    }
    const types = listOf(node['type']);
    return types.includes('null')
      ? { inner: { ...node, type: types.find((type) => type !== 'null') }, nullable: true }
      : { inner: node, nullable: false };
  };

  const childRules = (node: Json, value: unknown, path: string): readonly Rule[] => {
    if (Array.isArray(value)) {
      if (value.length === 0) throw new TypeError(`${path} needs an example`);
      return isJson(node['items']) ? rulesFor(node['items'], value[0], `${path}[*]`) : [];
    }
    if (!isJson(value) || !isJson(node['properties'])) return [];
    return Object.entries(node['properties']).flatMap(([name, field]) =>
      isJson(field) && value[name] !== undefined ? rulesFor(field, value[name], `${path}.${name}`) : [],
    );
  };

  const rulesFor = (schemaNode: Json, value: unknown, path: string): readonly Rule[] => {
    const { inner, nullable } = withoutNull(resolved(schemaNode));
    const node = inner['oneOf'] ? optionFor(inner, value) : inner;
    if (value === null) throw new TypeError(`${path} needs an example that is not null`);
    const own = Array.isArray(value) ? matcher('type', { min: 0 }) : isJson(value) ? matcher('type') : scalarMatcher(node);
    // Of an object the verifier asks every rule at once: one that may be null is shown by its example and must be there.
    const mayBeNull = nullable && !isJson(value) && !Array.isArray(value);
    return [{ path, rules: mayBeNull ? [own, NULL] : [own] }, ...childRules(node, value, path)];
  };

  return { body: schema.parse(example), rules: rulesFor(root, example, '$') };
};
