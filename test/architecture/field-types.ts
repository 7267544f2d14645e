type Json = Readonly<Record<string, unknown>>;

const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);
const members = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const listed = (item: string): string => (item.includes(' | ') ? `(${item})[]` : `${item}[]`);

/** A JSON schema as the interface writes it: `string | null`, `BubblePerson[]`, `free | pro`; an enumeration by its values, though it has a name. */
const typeText = (schema: unknown, components: Json): string => {
  if (!isJson(schema)) return 'unknown';
  const { $ref, const: literal, enum: options, anyOf, type, items } = schema;
  if (typeof $ref === 'string') {
    const name = $ref.slice($ref.lastIndexOf('/') + 1);
    const named = components[name];
    return isJson(named) && named['enum'] !== undefined ? typeText(named, components) : name;
  }
  if (literal !== undefined) return String(literal);
  if (Array.isArray(anyOf)) return anyOf.map((option) => typeText(option, components)).join(' | ');
  if (Array.isArray(options)) return options.map(String).join(' | ');
  if (type === 'array') return listed(typeText(items, components));
  return Array.isArray(type) ? type.join(' | ') : String(type);
};

/** The fields of a component that is an object, `?` behind a name that is not required. */
export const fieldTypes = (name: string, components: unknown): Readonly<Record<string, string>> => {
  const named = isJson(components) ? components : {};
  const schema = named[name];
  if (!isJson(schema) || !isJson(schema['properties'])) return {};
  const required = members(schema['required']);
  return Object.fromEntries(
    Object.entries(schema['properties']).map(([field, type]) => [required.includes(field) ? field : `${field}?`, typeText(type, named)]),
  );
};

const SHAPES = /^(string|number|integer|boolean|null|object|unknown|[A-Z]\w*)(\[\])?$/;

/** The same type; an enumeration may have more values than are listed, since whoever reads them is told to expect that. */
const isTyped = (listed: string, present: string): boolean => {
  const [wanted, given] = [listed, present].map((text) => text.replace(/^\((.*)\)\[\]$/, '$1 | []').split(' | '));
  if (wanted === undefined || given === undefined) return false;
  const shapesOf = (types: readonly string[]) => types.filter((type) => type === '[]' || SHAPES.test(type)).join();
  const hasValues = wanted.some((type) => type !== '[]' && !SHAPES.test(type));
  return (
    shapesOf(wanted) === shapesOf(given) && wanted.every((type) => given.includes(type)) && (hasValues || wanted.length === given.length)
  );
};

type Fields = Readonly<Record<string, string>>;

/** What of the listed fields is not there as it is listed. An answer may have more of them; a body too, as long as they may be absent. */
export const lackingIn = (present: Fields, listed: Fields, of: 'answer' | 'body'): readonly string[] => [
  ...Object.entries(listed)
    .filter(([field, type]) => present[field] === undefined || !isTyped(type, present[field]))
    .map(([field, type]) => `${field}: ${type} is ${present[field] ?? 'not there'}`),
  ...Object.keys(present)
    .filter((field) => of === 'body' && !field.endsWith('?') && listed[field] === undefined)
    .map((field) => `${field} is required, and is not listed`),
];
