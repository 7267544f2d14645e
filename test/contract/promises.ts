import { resolve } from '../fuzz/json-schema.ts';
import { isJson, type Json } from '../released/releases.ts';

const followed = (document: Json, part: unknown): Json => {
  const reference = isJson(part) ? part['$ref'] : undefined;
  const found = typeof reference === 'string' ? resolve(document, reference) : part;
  return isJson(found) ? found : {};
};

const typesOf = ({ type, enum: values, const: value }: Json): readonly unknown[] => {
  if (type !== undefined) return [type].flat();
  return (Array.isArray(values) ? values : value === undefined ? [] : [value]).map((one) => typeof one);
};

const isOfType = (value: unknown, types: readonly unknown[]): boolean => {
  if (value === null) return types.includes('null');
  if (Array.isArray(value)) return types.includes('array');
  return types.includes(typeof value) || (Number.isInteger(value) && types.includes('integer'));
};

/** What of this value the schema does not promise. */
const lackingIn = (document: Json, part: unknown, value: unknown, at: string): readonly string[] => {
  const schema = followed(document, part);
  const alternatives = [schema['anyOf'], schema['oneOf']].filter((some) => Array.isArray(some)).flat();
  if (alternatives.length > 0) {
    const lacking = alternatives.map((one) => lackingIn(document, one, value, at));
    return lacking.toSorted((one, other) => one.length - other.length)[0] ?? [];
  }
  if (!isOfType(value, typesOf(schema))) return [`${at} with another type`];
  if (Array.isArray(value)) return value.flatMap((one) => lackingIn(document, schema['items'], one, `${at}[*]`));
  if (!isJson(value)) return [];
  const required: readonly unknown[] = Array.isArray(schema['required']) ? schema['required'] : [];
  const properties = isJson(schema['properties']) ? schema['properties'] : {};
  return Object.entries(value).flatMap(([name, inner]) =>
    required.includes(name) ? lackingIn(document, properties[name], inner, `${at}.${name}`) : [`${at}.${name}`],
  );
};

/** What of an answer that a consumer expects an operation of this document does not promise. */
export const unpromised = (document: Json, operation: Json, expected: unknown): readonly string[] => {
  const { status, body } = Object(expected);
  const described = Object(operation['responses'])[String(status)];
  if (described === undefined) return [`answer ${status}`];
  if (body === undefined) return [];
  const media = Object(followed(document, described)['content'])[String(body.contentType).split(';')[0] ?? ''];
  return isJson(media)
    ? lackingIn(document, media['schema'], body.content, `answer ${status}, $`)
    : [`answer ${status} as ${body.contentType}`];
};
