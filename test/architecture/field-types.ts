type Json = Readonly<Record<string, unknown>>;

const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);
const members = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const listed = (item: string): string => (item.includes(' | ') ? `(${item})[]` : `${item}[]`);

/** A JSON schema as the interface writes it: `string | null`, `BubblePerson[]`, `free | pro`. */
export const typeText = (schema: unknown): string => {
  if (!isJson(schema)) return 'unknown';
  const { $ref, const: literal, enum: options, anyOf, type, items } = schema;
  if (typeof $ref === 'string') return $ref.slice($ref.lastIndexOf('/') + 1);
  if (literal !== undefined) return String(literal);
  if (Array.isArray(anyOf)) return anyOf.map(typeText).join(' | ');
  if (Array.isArray(options)) return options.map(String).join(' | ');
  if (type === 'array') return listed(typeText(items));
  return Array.isArray(type) ? type.join(' | ') : String(type);
};

/** The fields of an object schema, `?` behind a name that is not required. */
export const fieldTypes = (schema: unknown): Readonly<Record<string, string>> => {
  if (!isJson(schema) || !isJson(schema['properties'])) return {};
  const required = members(schema['required']);
  return Object.fromEntries(
    Object.entries(schema['properties']).map(([name, field]) => [required.includes(name) ? name : `${name}?`, typeText(field)]),
  );
};
