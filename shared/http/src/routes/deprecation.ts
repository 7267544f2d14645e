import type { ServerResponse } from 'node:http';
import { type ZodType, z } from 'zod';

/** Says that something is to go. Both days begin at midnight UTC: `2026-11-29`. */
export interface Deprecation {
  /** Announced on this day. */
  readonly since: string;
  /** Works until this day at least; it can be removed from then on. */
  readonly sunset: string;
  /** What to do instead, as a sentence. */
  readonly instead: string;
}

const announced = z.registry<Deprecation>();

/** Marks a parameter of a query or header, or a field of a body. Optional ones only: what is required cannot be given up. */
export const deprecated = <S extends ZodType>(schema: S, deprecation: Deprecation): S => {
  const marked = schema.meta({ ...schema.meta(), ...marksOf(deprecation, schema.description) });
  announced.add(marked, deprecation);
  return marked;
};

/** As the document says it, of operations, parameters and fields alike. */
export const marksOf = ({ since, sunset, instead }: Deprecation, description = '') => ({
  deprecated: true,
  description: `${description}${description === '' ? '' : ' '}Deprecated since ${since}, works until ${sunset} at least. ${instead}`,
  'x-sunset': sunset,
});

/** What is wrong with the days, as a fault of the program. */
export const deprecationFaults = (deprecation: Deprecation | undefined): readonly string[] => {
  if (deprecation === undefined) return [];
  const { since, sunset, instead } = deprecation;
  const areDays = [since, sunset].every((day) => z.iso.date().safeParse(day).success);
  return areDays && since < sunset && instead !== ''
    ? []
    : ['a deprecation has two days, the first before the second, and says what to do instead'];
};

/** What a schema marks among its fields, by their paths. */
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

/** Tells of each use of what a schema marks; null where it marks nothing. */
export const useFinder = (schema: ZodType): ((value: unknown) => readonly Use[]) | null => {
  const marked = markedIn(schema).map(([path, deprecation]) => ({ element: path, deprecation, steps: path.split('.') }));
  for (const { element, deprecation } of marked)
    for (const fault of deprecationFaults(deprecation)) throw new TypeError(`${element}: ${fault}.`);
  return marked.length === 0 ? null : (value) => marked.filter(({ steps }) => isSent(value, steps));
};

/** Of a parameter or field by its path, or of the whole route. */
export interface Use {
  readonly element: string;
  readonly deprecation: Deprecation;
}

const secondsOf = (day: string): number => Date.parse(`${day}T00:00:00Z`) / 1000;

const usesByAnswer = new WeakMap<ServerResponse, readonly Use[]>();

/** What the request behind an answer has used so far. */
export const usesOf = (res: ServerResponse): readonly Use[] => usesByAnswer.get(res) ?? [];

/** Says so in the answer, a refusal too: `Deprecation` (RFC 9745) and `Sunset` (RFC 8594); of several uses the earliest days. */
export const announceUses = (res: ServerResponse, found: readonly Use[]): void => {
  if (found.length === 0) return;
  const uses = [...usesOf(res), ...found];
  usesByAnswer.set(res, uses);
  const earliest = (days: readonly string[]) => days.map(secondsOf).toSorted((a, b) => a - b)[0] ?? 0;
  res.setHeader('Deprecation', `@${earliest(uses.map(({ deprecation }) => deprecation.since))}`);
  res.setHeader('Sunset', new Date(earliest(uses.map(({ deprecation }) => deprecation.sunset)) * 1000).toUTCString());
};
