export type Json = Readonly<Record<string, unknown>>;
export const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

type Keyword = (rule: unknown, value: unknown, at: string, schema: Json) => string[];

const KINDS: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
  array: Array.isArray,
  object: isJson,
};
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const ANNOTATIONS = new Set(['description', 'examples', 'title', 'default']);

const lengthOf = (value: unknown): number =>
  typeof value === 'string' ? [...value].length : Array.isArray(value) ? value.length : Number.NaN;
const unless = (holds: boolean, fault: string): string[] => (holds ? [] : [fault]);

/**
 * What of a value the document does not allow. Objects may hold nothing that their schema does not know, although schemas are open: what the product
 * sends, its document shows.
 */
export function schemaFaults(document: Json, schema: unknown, value: unknown, at = '$'): string[] {
  if (!isJson(schema)) throw new TypeError(`${at}: no schema`);
  const inside = (inner: unknown, part: unknown, where: string) => schemaFaults(document, inner, part, where);
  const choice = (options: unknown, wanted: (passing: number) => boolean): string[] => {
    const results = listOf(options).map((option) => inside(option, value, at));
    return wanted(results.filter((faults) => faults.length === 0).length)
      ? []
      : [`${at}: none or too many of its kinds: ${results.flat().join('; ')}`];
  };
  const keywords: Readonly<Record<string, Keyword>> = {
    $ref: (reference) => inside(resolve(document, String(reference)), value, at),
    type: (kinds) =>
      unless(
        listOf(kinds).some((kind) => KINDS[String(kind)]?.(value)),
        `${at}: ${JSON.stringify(value)} is no ${String(kinds)}`,
      ),
    const: (constant) => unless(value === constant, `${at}: is not ${String(constant)}`),
    enum: (options) => unless(listOf(options).includes(value), `${at}: ${JSON.stringify(value)} is none of ${JSON.stringify(options)}`),
    anyOf: (options) => choice(options, (passing) => passing > 0),
    oneOf: (options) => choice(options, (passing) => passing === 1),
    required: (names) =>
      isJson(value) ? listOf(names).flatMap((name) => unless(Object.hasOwn(value, String(name)), `${at}.${String(name)}: is missing`)) : [],
    properties: (properties) =>
      isJson(value) && isJson(properties)
        ? Object.entries(value).flatMap(([name, part]) =>
            Object.hasOwn(properties, name) ? inside(properties[name], part, `${at}.${name}`) : [`${at}.${name}: is not in the document`],
          )
        : [],
    items: (items) => (Array.isArray(value) ? value.flatMap((item, n) => inside(items, item, `${at}[${n}]`)) : []),
    minLength: (least) => unless(!(lengthOf(value) < Number(least)), `${at}: is too short`),
    maxLength: (most) => unless(!(lengthOf(value) > Number(most)), `${at}: is too long`),
    minItems: (least) => unless(!(lengthOf(value) < Number(least)), `${at}: has too few`),
    minimum: (least) => unless(typeof value !== 'number' || value >= Number(least), `${at}: is below ${String(least)}`),
    maximum: (most) => unless(typeof value !== 'number' || value <= Number(most), `${at}: is above ${String(most)}`),
    format: (format) => unless(format !== 'date-time' || DATE_TIME.test(String(value)), `${at}: ${String(value)} is no instant`),
  };
  return Object.entries(schema).flatMap(([keyword, rule]) => {
    if (ANNOTATIONS.has(keyword)) return [];
    const apply = keywords[keyword];
    if (apply === undefined) throw new TypeError(`${at}: nothing is known of the keyword ${keyword}`);
    return apply(rule, value, at, schema);
  });
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value]);

/** What a reference within the document leads to. */
export function resolve(document: Json, reference: string): unknown {
  return reference
    .replace('#/', '')
    .split('/')
    .reduce<unknown>((part, name) => (isJson(part) ? part[name] : undefined), document);
}
