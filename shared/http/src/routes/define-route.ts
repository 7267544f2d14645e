import type { Auth, InputFor, Route, RouteSpec } from './route.ts';

/** Keeps the types of the schemas and the literal of `auth`, so that the handler of the spec knows what it gets. */
export const defineRoute = <P = undefined, Q = undefined, B = undefined, R = undefined, const A extends Auth = Auth>(
  spec: RouteSpec<P, Q, B, R, A>,
): RouteSpec<P, Q, B, R, A> => spec;

/** Binds a handler to its spec; the one place that erases their types, which the mount proves again with the schemas. */
export const route = <P, Q, B, R, A extends Auth>(
  spec: RouteSpec<P, Q, B, R, A>,
  handle: (input: InputFor<A, P, Q, B>) => Promise<R>,
): Route =>
  // The mount hands over only what the schemas of `spec` have parsed and the caller that its `auth` asks for.
  ({ spec, handle }) as unknown as Route;
