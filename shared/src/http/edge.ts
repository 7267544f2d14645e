import type { Context, Middleware, Next } from 'koa';
import { DomainError } from '../errors.ts';
import { withLogFields } from '../log.ts';
import type { HttpAppOptions } from './app-options.ts';
import { framingFault } from './framing.ts';
import { answerOf, asDomainError } from './http-errors.ts';
import { BodyTooLarge, linger } from './read-body.ts';

const REQUEST_ID = /^[A-Za-z0-9._-]{8,64}$/;
const UNMATCHED = 'unmatched';

/** The gateway made the id; a call that came without one gets its own. */
const requestIdOf = (ctx: Context, options: HttpAppOptions): string => {
  const given = ctx.req.headers['x-request-id'];
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : options.ids.uuid();
};

/** The outermost layer: request id, headers of every answer, the one access line, the one place where errors become answers. */
export const edge =
  (options: HttpAppOptions): Middleware =>
  (ctx, next) => {
    const requestId = requestIdOf(ctx, options);
    ctx.state['requestId'] = requestId;
    return withLogFields({ request_id: requestId }, async () => {
      const began = options.clock.monotonic();
      ctx.set({ 'X-Request-Id': requestId, 'X-Content-Type-Options': 'nosniff', 'Cache-Control': 'no-store' });
      try {
        await admitted(ctx, next, options);
      } catch (error) {
        await answerError(ctx, asDomainError(error), options);
      }
      record(ctx, options.clock.monotonic() - began, options);
    });
  };

class Overloaded extends DomainError {
  constructor(retryAfterSeconds: number) {
    super('unavailable', 'Too much to do.', { retryAfterSeconds });
  }
}

const admitted = (ctx: Context, next: Next, options: HttpAppOptions): Promise<void> => {
  const fault = framingFault(ctx.req);
  if (fault !== null) {
    ctx.set('Connection', 'close');
    throw new DomainError('invalid', `request: ${fault}`);
  }
  if (!options.shedder.admit()) {
    ctx.set('X-Gateway-Reason', 'overload');
    // Spread over three seconds, so that those who were refused do not all come back at once.
    throw new Overloaded(1 + ((options.ids.bytes(1)[0] ?? 0) % 3));
  }
  return next();
};

const answerError = async (ctx: Context, error: DomainError, options: HttpAppOptions): Promise<void> => {
  report(ctx, error, options);
  const { status, headers, body } = answerOf(error, options.publicBaseUrl, options.tellsFaults);
  // What the refused handler or a check before it has set stays (a WWW-Authenticate that names the scope, RateLimit, Allow).
  for (const [name, value] of Object.entries(headers)) if (!ctx.res.hasHeader(name)) ctx.set(name, value);
  ctx.status = status;
  ctx.set('Content-Type', 'application/json; charset=utf-8');
  if (!(error instanceof BodyTooLarge)) {
    ctx.body = body;
    return;
  }
  ctx.set('Connection', 'close');
  ctx.length = Buffer.byteLength(body);
  ctx.respond = false;
  await linger(ctx.req, ctx.res, body);
};

const report = (ctx: Context, error: DomainError, { log }: HttpAppOptions): void => {
  if (ctx.req.destroyed && !ctx.req.complete) return;
  // Where there is too much to do already, a stack is not written out for every refusal.
  const fields = { route: routeOf(ctx), ...(error instanceof Overloaded ? { reason: 'overload' } : { error }) };
  if (error.kind === 'internal') log.error('request failed', fields);
  if (error.kind === 'unavailable') log.warn('request could not be served', fields);
};

const routeOf = (ctx: Context): string => ctx.state['route'] ?? UNMATCHED;

/** The template, never the path: ids, queries and tokens stay out of logs and metrics. */
const record = (ctx: Context, ms: number, { name, log, metrics }: HttpAppOptions): void => {
  const served = { method: ctx.method, route: routeOf(ctx), status: ctx.status };
  metrics.served({ service: name, ...served, seconds: ms / 1000 });
  log.info('request', { ...served, ms: Math.round(ms * 10) / 10, ...(ctx.res.destroyed && { aborted: true }) });
};
