import type { ServerResponse } from 'node:http';
import { type ZodType, z } from 'zod';

/** A deprecation. Dates are ISO days, midnight UTC: `2026-11-29`. */
export interface Deprecation {
  /** Day of the announcement. */
  readonly since: string;
  /** Works at least until this day and may be removed afterwards. */
  readonly sunset: string;
  /** What to do instead, as a sentence. */
  readonly instead: string;
}

const announced = z.registry<Deprecation>();

/** Marks a query or header parameter or a field of a body. It must be optional, so that clients can leave it out. */
export const deprecated = <S extends ZodType>(schema: S, deprecation: Deprecation): S => {
  const marked = schema.meta({ ...schema.meta(), ...marksOf(deprecation, schema.description) });
  announced.add(marked, deprecation);
  return marked;
};

/** The deprecation in the OpenAPI document, for operations, parameters and fields. */
export const marksOf = ({ since, sunset, instead }: Deprecation, description = '') => ({
  deprecated: true,
  description: `${description}${description === '' ? '' : ' '}Deprecated since ${since}, works until ${sunset} at least. ${instead}`,
  'x-sunset': sunset,
});

/** Faults in the declaration of a deprecation; empty when it is valid. */
export const deprecationFaults = (deprecation: Deprecation | undefined): readonly string[] => {
  if (deprecation === undefined) return [];
  const { since, sunset, instead } = deprecation;
  const areDays = [since, sunset].every((day) => z.iso.date().safeParse(day).success);
  return areDays && since < sunset && instead !== ''
    ? []
    : ['a deprecation has two days, the first before the second, and says what to do instead'];
};

/** Deprecated fields of a schema by path. */
const markedIn = (schema: unknown, path = ''): readonly (readonly [path: string, deprecation: Deprecation])[] => {
  if (schema instanceof z.ZodPipe) return markedIn(schema.in, path);
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
    return markedIn(schema.unwrap(), path);
  if (!(schema instanceof z.ZodObject)) return [];
  return Object.entries(schema.shape).flatMap(([name, field]) => {
    const at = path === '' ? name : `${path}.${name}`;
    const deprecation = announced.get(field);
    return deprecation === undefined ? markedIn(field, at) : [[at, deprecation] as const];
  });
};

const isSent = (value: unknown, [name = '', ...rest]: readonly string[]): boolean => {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return false;
  return rest.length === 0 || isSent(Reflect.get(value, name), rest);
};

/** Reports each use of a deprecated field; null when the schema has none. */
export const useFinder = (schema: ZodType): ((value: unknown) => readonly Use[]) | null => {
  const marked = markedIn(schema).map(([path, deprecation]) => ({ element: path, deprecation, steps: path.split('.') }));
  for (const { element, deprecation } of marked)
    for (const fault of deprecationFaults(deprecation)) throw new TypeError(`${element}: ${fault}.`);
  return marked.length === 0 ? null : (value) => marked.filter(({ steps }) => isSent(value, steps));
};

/** A use of a deprecated route, or of a parameter or field by path. */
interface Use {
  readonly element: string;
  readonly deprecation: Deprecation;
}

const secondsOf = (day: string): number => Date.parse(`${day}T00:00:00Z`) / 1000;

const usesByAnswer = new WeakMap<ServerResponse, readonly Use[]>();

/** Deprecated elements that the request has used so far. */
export const usesOf = (res: ServerResponse): readonly Use[] => usesByAnswer.get(res) ?? [];

/** Sets `Deprecation` (RFC 9745) and `Sunset` (RFC 8594) on every answer, also refusals, with the earliest days of all uses. */
export const announceUses = (res: ServerResponse, found: readonly Use[]): void => {
  if (found.length === 0) return;
  const uses = [...usesOf(res), ...found];
  usesByAnswer.set(res, uses);
  const earliest = (days: readonly string[]) => days.map(secondsOf).toSorted((a, b) => a - b)[0] ?? 0;
  res.setHeader('Deprecation', `@${earliest(uses.map(({ deprecation }) => deprecation.since))}`);
  res.setHeader('Sunset', new Date(earliest(uses.map(({ deprecation }) => deprecation.sunset)) * 1000).toUTCString());
};
