import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

export type Json = Readonly<Record<string, unknown>>;
export const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
/** Clients may write it as RFC 3339 allows. */
const ANY_DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const EMAIL = /^[^@\s]+@[^@\s]+$/u;
const DOCUMENT = 'document';

/** Schemas are open for clients; here their objects are closed: what the product sends, its document shows. */
const closed = (part: unknown): unknown => {
  if (Array.isArray(part)) return part.map(closed);
  if (!isJson(part)) return part;
  const copy = Object.fromEntries(Object.entries(part).map(([key, value]) => [key, closed(value)]));
  return isJson(part['properties']) && part['type'] === 'object' ? { additionalProperties: false, ...copy } : copy;
};

/** References to components lead to the schema that holds them all. */
const localReferences = (part: unknown): unknown => {
  if (Array.isArray(part)) return part.map(localReferences);
  if (!isJson(part)) return part;
  return Object.fromEntries(
    Object.entries(part).map(([key, value]) => [
      key,
      key === '$ref' ? String(value).replace('#/components/schemas/', `${DOCUMENT}#/$defs/`) : localReferences(value),
    ]),
  );
};

/** What of a value a schema of this document does not allow. It throws for what it does not know: a keyword, a format, a reference. */
export function schemaFaultsIn(document: Json, of: 'answers' | 'requests' = 'answers'): (schema: Json, value: unknown) => string[] {
  const local = (part: unknown) => localReferences(of === 'answers' ? closed(part) : part);
  const ajv = new Ajv2020({
    allErrors: true,
    allowUnionTypes: true,
    validateSchema: false,
    formats: { 'date-time': of === 'answers' ? DATE_TIME : ANY_DATE_TIME, uuid: UUID, uri: URL.canParse, email: EMAIL },
  });
  const { schemas } = Object(document['components']);
  ajv.addSchema({ $id: DOCUMENT, $defs: local(schemas) }, DOCUMENT);
  const compiled = new WeakMap<Json, ValidateFunction>();
  return (schema, value) => {
    const validate = compiled.get(schema) ?? ajv.compile(Object(local(schema)));
    compiled.set(schema, validate);
    validate(value);
    return (validate.errors ?? []).map(({ instancePath, message, params }) => `$${instancePath}: ${message} ${JSON.stringify(params)}`);
  };
}

/** What a reference within the document leads to. */
export function resolve(document: Json, reference: string): unknown {
  return reference
    .replace('#/', '')
    .split('/')
    .reduce<unknown>((part, name) => (isJson(part) ? part[name] : undefined), document);
}
