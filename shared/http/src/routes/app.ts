import { createRequire } from 'node:module';
import { DomainError, errorCode, isDomainError } from '@bubbles/kernel/errors.ts';
import { endSpan, runInSpan, type Span, startSpan } from '@bubbles/kernel/trace.ts';
import Koa, { type Context, type Middleware } from 'koa';
import { framingFault } from '../wire/framing.ts';
import { BodyTooLarge, isCutOff, linger } from '../wire/read-body.ts';
import { PAGE_HEADERS } from './content.ts';
import { usesOf } from './deprecation.ts';
import { answerOf, INTERNAL_ERROR_MESSAGE } from './http-errors.ts';
import { byPrecedence, checkRoutes, type RouteSpec } from './route.ts';
import { type HttpAppOptions, serveRoute } from './serve-route.ts';

/** Its form as a module of the new kind imports `http` as one too, for which Node loads all of its fetch. */
const Router: typeof import('@koa/router').default = createRequire(import.meta.url)('@koa/router');

/** An answer could not be written because nobody is there any more: no fault of anybody's. */
const CALLER_IS_GONE: readonly (string | number | null)[] = ['ECONNRESET', 'EPIPE', 'ECONNABORTED'];

type EdgeOptions = Omit<HttpAppOptions<unknown>, 'routes' | 'guardPorts'>;

/** The routes of a service on Koa. Paths are matched as raw bytes, case-sensitive and strict. */
export const createHttpApp = <Ports>(options: HttpAppOptions<Ports>): Koa => {
  checkRoutes(options.routes);
  const router = new Router({ sensitive: true, strict: true });
  for (const route of byPrecedence(options.routes)) {
    const { path, method, unsafe } = route.spec;
    const layer = router.register(path.replaceAll(/\{(\w+)\}/g, ':$1'), [method], serveRoute(route, options));
    // The router gives every GET a HEAD.
    if (unsafe) layer.methods = [method];
  }
  const app = new Koa();
  app.on('error', (error: unknown) => {
    if (!CALLER_IS_GONE.includes(errorCode(error))) options.log.error('answer could not be written', { error });
  });
  app.use(edge(options));
  app.use(router.routes());
  app.use(unmatched);
  return app;
};

/** Another method of a known path says which there are, as HEAD of an unsafe GET does; an unknown path says nothing. */
const unmatched = (ctx: Context): void => {
  const matched: readonly { readonly methods: readonly string[] }[] = ctx['matched'] ?? [];
  const methods = new Set(matched.flatMap((layer) => layer.methods));
  if (methods.size > 0) ctx.set('Allow', [...methods, 'OPTIONS'].toSorted().join(', '));
  const refusesHead = ctx.method === 'HEAD' && methods.has('GET');
  if (!refusesHead && (methods.size === 0 || ctx.method !== 'OPTIONS')) throw new DomainError('not_found', 'No such path or method.');
  ctx.status = refusesHead ? 405 : 204;
};

const REQUEST_ID = /^[A-Za-z0-9._-]{8,64}$/;

/** The outermost layer: request id, trace, headers of every answer, the one access line, the one place where errors become answers. */
const edge =
  (options: EdgeOptions): Middleware =>
  (ctx, next) => {
    const given = ctx.req.headers['x-request-id'];
    // The gateway made it; a call that came without one gets its own.
    const requestId = typeof given === 'string' && REQUEST_ID.test(given) ? given : options.ids.uuid();
    ctx.state['requestId'] = requestId;
    // The router would take the path that a URL parser has tidied up.
    ctx['newRouterPath'] = ctx.req.url?.split('?', 1)[0];
    const span = startSpan(ctx.req.headers['traceparent']);
    const answer = async () => {
      const began = options.clock.monotonic();
      ctx.set({ 'X-Request-Id': requestId, 'X-Content-Type-Options': 'nosniff', 'Cache-Control': 'no-store' });
      let fault: DomainError | null = null;
      try {
        const misframed = framingFault(ctx.req);
        if (misframed !== null) throw malformed(ctx, misframed);
        if (!options.shedder.admit()) {
          options.metrics.shed();
          throw new Overloaded(ctx, options);
        }
        await next();
      } catch (error) {
        const refusal = asRefusal(error);
        if (!isCutOff(ctx.req)) fault = refusal;
        await answerError(ctx, refusal, options);
      }
      logRequest(ctx, { ms: options.clock.monotonic() - began, fault }, options);
      recordRequest(ctx, span, fault);
    };
    return runInSpan(span, answer, { requestId });
  };

/** Anything that is thrown and is not a refusal is a fault of ours. */
const asRefusal = (error: unknown): DomainError =>
  isDomainError(error) ? error : new DomainError('internal', INTERNAL_ERROR_MESSAGE, { cause: error });

const malformed = (ctx: Context, fault: string): DomainError => {
  ctx.set('Connection', 'close');
  return new DomainError('invalid', `request: ${fault}`);
};

class Overloaded extends DomainError {
  constructor(ctx: Context, { ids }: EdgeOptions) {
    ctx.set('X-Gateway-Reason', 'overload');
    // Spread over three seconds, so that those who were refused do not all come back at once.
    super('unavailable', 'Overloaded.', { retryAfterSeconds: 1 + ((ids.bytes(1)[0] ?? 0) % 3) });
  }
}

/** The route that has taken the request. */
type Served = Pick<RouteSpec<object, never>, 'path' | 'errorFormat' | 'isRoutine'>;

const answerError = async (ctx: Context, error: DomainError, options: EdgeOptions): Promise<void> => {
  if (ctx.res.headersSent) {
    // Cut off in the middle, so that it is not taken for the whole.
    ctx.respond = false;
    ctx.res.destroy();
    return;
  }
  const route: Served | undefined = ctx.state['route'];
  const format = route?.errorFormat ?? 'envelope';
  const { status, contentType, headers, body } = answerOf(error, options.publicBaseUrl, { format, tellsFaults: options.tellsFaults });
  // What the refused handler or a check before it has set stays (a WWW-Authenticate that names the scope, RateLimit, Allow).
  for (const [name, value] of Object.entries(headers)) if (!ctx.res.hasHeader(name)) ctx.set(name, value);
  if (format === 'page') ctx.set(PAGE_HEADERS);
  ctx.status = status;
  ctx.set('Content-Type', contentType);
  if (!(error instanceof BodyTooLarge)) {
    ctx.body = body;
    return;
  }
  ctx.set('Connection', 'close');
  ctx.length = Buffer.byteLength(body);
  ctx.respond = false;
  await linger(ctx.req, ctx.res, body);
};

/** One line. The template, never the path: ids, queries and tokens stay out of logs and metrics. No `fault`: it was answered, or nobody was left to answer. */
const logRequest = (
  ctx: Context,
  { ms, fault }: { readonly ms: number; readonly fault: DomainError | null },
  { name, log, metrics }: EdgeOptions,
): void => {
  const route: Served | undefined = ctx.state['route'];
  const served = { method: ctx.method, route: route?.path ?? 'unmatched', status: ctx.status };
  const deprecated = usesOf(ctx.res).map(({ element }) => element);
  metrics.observe({ service: name, ...served, deprecated }, ms / 1000);
  const fields = {
    ...served,
    ms: Math.round(ms * 10) / 10,
    ...(ctx.res.destroyed && { aborted: true }),
    ...(deprecated.length > 0 && { deprecated, client: ctx.state['client'] ?? null }),
  };
  // Where there is too much to do already, an error is not written out for every refusal.
  const why = fault instanceof Overloaded ? { reason: 'overload' } : { error: fault };
  if (fault?.kind === 'internal') log.error('request failed', { ...fields, ...why });
  else if (fault?.kind === 'unavailable') log.warn('request could not be served', { ...fields, ...why });
  else log[route?.isRoutine && ctx.status < 400 ? 'debug' : 'info']('request', fields);
};

const recordRequest = (ctx: Context, span: Span, fault: DomainError | null): void =>
  endSpan(span, () => {
    const { method, status } = ctx;
    const route: Served | undefined = ctx.state['route'];
    const path = route?.path ?? 'unmatched';
    const attributes = { 'http.request.method': method, 'http.route': path, 'http.response.status_code': status };
    return { name: `${method} ${path}`, kind: 'server', attributes, error: status >= 500 ? fault : null };
  });
