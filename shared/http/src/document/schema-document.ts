import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';

export type JsonObject = { readonly [key: string]: unknown };

/** Schemas of one document: those with an id become components, once. */
export interface SchemaDocument {
  /** The JSON schema of what is sent to us (`input`) or by us (`output`), with references into the components. */
  schemaOf(schema: z.ZodType, io: 'input' | 'output'): JsonObject;
  components(): JsonObject;
}

const MAX_SAFE = Number.MAX_SAFE_INTEGER;

interface Overridden {
  readonly zodSchema: z.core.$ZodType;
  readonly jsonSchema: Record<string, unknown>;
}

/** Closed outputs would break clients on every new field; the other facts are noise of zod's own making. */
const tidy = ({ zodSchema, jsonSchema }: Overridden): void => {
  if (zodSchema._zod.def.type === 'object' && !isStrict(zodSchema)) delete jsonSchema['additionalProperties'];
  if (jsonSchema['format'] === 'date-time') delete jsonSchema['pattern'];
  if (jsonSchema['format'] === 'starts_with' || jsonSchema['format'] === 'ends_with') delete jsonSchema['format'];
  if (jsonSchema['maximum'] === MAX_SAFE) delete jsonSchema['maximum'];
  if (jsonSchema['minimum'] === -MAX_SAFE) delete jsonSchema['minimum'];
};

const isStrict = (schema: z.core.$ZodType): boolean => schema instanceof z.ZodObject && schema.def.catchall instanceof z.ZodNever;

const REFERENCE = '#/$defs/';

const lifted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(lifted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, key === '$ref' ? componentReference(inner) : lifted(inner)]));
};

const componentReference = (reference: unknown): unknown =>
  typeof reference === 'string' && reference.startsWith(REFERENCE)
    ? `#/components/schemas/${reference.slice(REFERENCE.length)}`
    : reference;

export const schemaDocument = (): SchemaDocument => {
  const components = new Map<string, unknown>();
  const addComponent = (id: string, schema: unknown) => {
    const known = components.get(id);
    if (known !== undefined && !isDeepStrictEqual(known, schema)) throw new TypeError(`Two schemas claim the component ${id}.`);
    components.set(id, schema);
  };
  return {
    schemaOf: (schema, io) => {
      const { $schema: _, $defs, ...root } = z.toJSONSchema(schema, { io, override: tidy });
      for (const [id, { id: _id, ...definition }] of Object.entries<Record<string, unknown>>($defs ?? {}))
        addComponent(id, lifted(definition));
      return { ...Object(lifted(root)) };
    },
    components: () => Object.fromEntries([...components].toSorted(([a], [b]) => (a < b ? -1 : 1))),
  };
};
