import { z } from 'zod';
import type { Route, RouteSpec } from './route.ts';

/** Literal segments before parameters, so that `/v1/bubbles/search` is never the bubble `search`. */
export const byPrecedence = (routes: readonly Route[]): readonly Route[] =>
  routes.toSorted((a, b) => (precedence(a.spec.path) < precedence(b.spec.path) ? -1 : 1));

/** A parameter sorts behind everything that a literal can be. */
const precedence = (path: string): string => path.replaceAll(/\{\w+\}/g, '\uffff');

export const parameterNames = (path: string): readonly string[] => [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '');

/** The fields of an object schema, also behind a transform or a refinement. */
export const fieldsOf = (schema: unknown): Readonly<Record<string, unknown>> => {
  if (schema instanceof z.ZodPipe) return fieldsOf(schema.in);
  if (schema instanceof z.ZodObject) return schema.shape;
  throw new TypeError('Parameters and query of a route are described by an object schema.');
};

/** A route that cannot work is a fault of the program, found when it starts. */
export const checkRoutes = (routes: readonly Route[]): void => {
  const seen = new Set<string>();
  for (const { spec } of routes) {
    for (const key of [spec.operationId, `${spec.method} ${spec.path.replaceAll(/\{\w+\}/g, '{}')}`]) {
      if (seen.has(key)) throw new TypeError(`Two routes claim ${key}.`);
      seen.add(key);
    }
    const fault = specFault(spec);
    if (fault !== null) throw new TypeError(`${spec.operationId}: ${fault}.`);
  }
};

const specFault = (spec: RouteSpec): string | null => {
  const declared = spec.params ? Object.keys(fieldsOf(spec.params)) : [];
  if (declared.toSorted().join() !== parameterNames(spec.path).toSorted().join()) return 'params and path name different parameters';
  if (spec.publicMaxAgeSeconds !== undefined && spec.auth.kind !== 'none') return 'an authenticated answer is never public';
  if (spec.idempotent && (spec.method !== 'POST' || spec.auth.kind === 'none' || spec.auth.kind === 'internal'))
    return 'only a POST of a user is idempotent';
  if (spec.success.status === 204 && spec.success.schema !== null) return '204 has no body';
  return null;
};
