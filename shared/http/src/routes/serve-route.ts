import { DomainError } from '@bubbles/kernel/errors.ts';
import type { Context } from 'koa';
import { readBody } from '../wire/read-body.ts';
import { type Admitted, admit } from './admission.ts';
import type { HttpAppOptions } from './app-options.ts';
import { actOnce, IDEMPOTENCY_REPLAYED, idempotencyKeyOf, type KeptAnswer } from './idempotency.ts';
import { checkJsonHeaders, JSON_BODY_LIMIT_BYTES, parseJsonObject } from './json-body.ts';
import { knownParameters } from './query.ts';
import type { Route, RouteSpec } from './route.ts';
import { fieldsOf, parameterNames } from './route-table.ts';
import { parseInput, parseOutput } from './validation.ts';

/** The refusals in their order: who calls (401, 429, 403), what was sent (400), what it is about (404). */
export const serveRoute = (route: Route, options: HttpAppOptions): ((ctx: Context, captures: readonly string[]) => Promise<void>) => {
  const { spec } = route;
  const names = parameterNames(spec.path);
  const known = spec.query ? Object.keys(fieldsOf(spec.query)) : [];
  const perform = performer(route, options);
  return async (ctx, captures) => {
    ctx.state['route'] = spec.path;
    const admitted = await admit(ctx, spec.auth, options);
    const key = spec.idempotent ? idempotencyKeyOf(ctx.req) : null;
    const query = spec.query && parseInput(spec.query, knownParameters(rawQuery(ctx), known), 'query');
    const body = spec.body && parseInput(spec.body, await receiveJson(ctx, spec.bodyLimitBytes ?? JSON_BODY_LIMIT_BYTES), 'body');
    const params = spec.params && parseParams(spec, names, captures);
    const requestId: string = ctx.state['requestId'];
    const answer = await withinBudget(ctx, options.budgetMs, (signal) =>
      perform({ ...admitted, params, query, body, requestId, signal }, { key, captures }),
    );
    send(ctx, spec, answer);
  };
};

type Input = Admitted & Omit<Parameters<Route['handle']>[0], 'ids'>;
interface Answer extends KeptAnswer {
  readonly replayed?: boolean;
}

/** What the handler answers; under a key, what it answered first. */
const performer = ({ spec, handle }: Route, { ids, idempotency, name }: HttpAppOptions) => {
  if (spec.idempotent && idempotency === undefined) throw new TypeError(`${name} keeps no idempotency keys for ${spec.operationId}.`);
  const once = idempotency && actOnce(idempotency);
  return async (input: Input, { key, captures }: { key: string | null; captures: readonly string[] }): Promise<Answer> => {
    if (key === null || once === undefined || input.caller === undefined) return written(spec, await handle({ ...input, ids }));
    const { caller, body, signal } = input;
    return once({ key, account: caller, route: [spec.method, spec.path, ...captures], body, signal }, async (seeded) =>
      written(spec, await handle({ ...input, ids: seeded })),
    );
  };
};

const written = ({ success: { status, schema } }: RouteSpec, result: unknown): KeptAnswer => ({
  status,
  body: schema && JSON.stringify(parseOutput(schema, result)),
});

const rawQuery = (ctx: Context): string => {
  const target = ctx.req.url ?? '';
  const at = target.indexOf('?');
  return at === -1 ? '' : target.slice(at + 1);
};

const receiveJson = async (ctx: Context, limitBytes: number): Promise<object> => {
  const bytes = await readBody(ctx.req, ctx.res, { limitBytes });
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
const withinBudget = async (ctx: Context, budgetMs: number, work: (signal: AbortSignal) => Promise<Answer>): Promise<Answer> => {
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

const send = (ctx: Context, spec: RouteSpec, { status, body, replayed = false }: Answer): void => {
  if (spec.secret) ctx.set('Pragma', 'no-cache');
  if (replayed) ctx.set(IDEMPOTENCY_REPLAYED, 'true');
  if (spec.publicMaxAgeSeconds !== undefined) ctx.set('Cache-Control', `public, max-age=${spec.publicMaxAgeSeconds}`);
  ctx.status = status;
  if (body === null) {
    ctx.body = null;
    ctx.status = status;
    return;
  }
  ctx.set('Content-Type', `${spec.success.mediaType ?? 'application/json'}; charset=utf-8`);
  ctx.body = body;
};
