import { z } from 'zod';

type Json = Readonly<Record<string, unknown>>;

const LOCAL = '#/components/schemas/';

/** Components as zod looks for them. */
const relocated = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(relocated);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      key === '$ref' && typeof inner === 'string' ? inner.replace(LOCAL, '#/$defs/') : relocated(inner),
    ]),
  );
};

/** What is wrong with a value by a schema of a document with these components; null when nothing is. */
export const schemaFault = (schema: Json, components: Json, value: unknown): string | null => {
  const whole = Object(relocated({ ...schema, $defs: components }));
  const { success, error } = z.fromJSONSchema(whole).safeParse(value);
  return success ? null : error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
};
