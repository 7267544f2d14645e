import type { Context } from 'koa';
import { DomainError } from '../errors.ts';
import { admit } from './admission.ts';
import type { HttpAppOptions } from './app-options.ts';
import { checkJsonHeaders, JSON_BODY_LIMIT_BYTES, parseJsonObject } from './json-body.ts';
import { knownParameters } from './query.ts';
import { readBody } from './read-body.ts';
import type { Route, RouteSpec } from './route.ts';
import { fieldsOf, parameterNames } from './route-table.ts';
import { parseInput, parseOutput } from './validation.ts';

/** The refusals in their order: who calls (401, 429, 403), what was sent (400), what it is about (404). */
export const serveRoute = (route: Route, options: HttpAppOptions): ((ctx: Context, captures: readonly string[]) => Promise<void>) => {
  const { spec } = route;
  const names = parameterNames(spec.path);
  const known = spec.query ? Object.keys(fieldsOf(spec.query)) : [];
  return async (ctx, captures) => {
    ctx.state['route'] = spec.path;
    const admitted = await admit(ctx, spec.auth, options);
    const query = spec.query && parseInput(spec.query, knownParameters(rawQuery(ctx), known), 'query');
    const body = spec.body && parseInput(spec.body, await receiveJson(ctx, spec.bodyLimitBytes ?? JSON_BODY_LIMIT_BYTES), 'body');
    const params = spec.params && parseParams(spec, names, captures);
    const requestId: string = ctx.state['requestId'];
    const result = await withinBudget(ctx, options.budgetMs, (signal) =>
      route.handle({ ...admitted, params, query, body, requestId, signal }),
    );
    answer(ctx, spec, result);
  };
};

const rawQuery = (ctx: Context): string => {
  const target = ctx.req.url ?? '';
  const at = target.indexOf('?');
  return at === -1 ? '' : target.slice(at + 1);
};

const receiveJson = async (ctx: Context, limitBytes: number): Promise<object> => {
  const bytes = await readBody(ctx.req, ctx.res, limitBytes);
  if (bytes.length > 0) checkJsonHeaders(ctx.req.headers);
  return parseJsonObject(bytes);
};

const parseParams = (spec: RouteSpec, names: readonly string[], captures: readonly string[]): unknown => {
  const raw = Object.fromEntries(names.map((name, index) => [name, captures[index]]));
  const parsed = spec.params?.safeParse(raw);
  if (!parsed?.success) throw new DomainError('not_found', 'No such resource.');
  return parsed.data;
};

const CALLER_GONE = 'The caller went away.';

/** Real time, whatever the product's clock says: it bounds how long a connection is held. */
const withinBudget = async (ctx: Context, budgetMs: number, work: (signal: AbortSignal) => Promise<unknown>): Promise<unknown> => {
  // It would never say so again.
  if (ctx.res.destroyed) throw new DomainError('unavailable', CALLER_GONE);
  const controller = new AbortController();
  const { promise: ended, reject } = Promise.withResolvers<never>();
  const end = (why: string) => {
    const reason = new DomainError('unavailable', why);
    controller.abort(reason);
    reject(reason);
  };
  const onClose = () => end(CALLER_GONE);
  const timer = setTimeout(end, budgetMs, 'The time budget is spent.');
  ctx.res.once('close', onClose);
  try {
    return await Promise.race([work(controller.signal), ended]);
  } finally {
    clearTimeout(timer);
    ctx.res.off('close', onClose);
  }
};

const answer = (ctx: Context, spec: RouteSpec, result: unknown): void => {
  const { status, schema, mediaType } = spec.success;
  if (spec.secret) ctx.set('Pragma', 'no-cache');
  if (spec.publicMaxAgeSeconds !== undefined) ctx.set('Cache-Control', `public, max-age=${spec.publicMaxAgeSeconds}`);
  ctx.status = status;
  if (schema === null) {
    ctx.body = null;
    ctx.status = status;
    return;
  }
  const text = JSON.stringify(parseOutput(schema, result));
  ctx.set('Content-Type', `${mediaType ?? 'application/json'}; charset=utf-8`);
  ctx.body = text;
};
