import type { Clock } from '@bubbles/kernel/clock.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import { type Log, withLogFields } from '@bubbles/kernel/log.ts';
import type { Context, Middleware, Next } from 'koa';
import type { HttpMetrics } from '../ops/metrics.ts';
import { framingFault } from '../wire/framing.ts';
import type { LoadShedder } from '../wire/overload.ts';
import { BodyTooLarge, isCutOff, linger } from '../wire/read-body.ts';
import { PAGE_HEADERS } from './content.ts';
import { answerOf, asDomainError } from './http-errors.ts';
import type { RouteSpec } from './route.ts';

/** What serving HTTP takes, whatever is served. */
export interface HttpSettings {
  /** The service's name. */
  readonly name: string;
  readonly log: Log;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly metrics: HttpMetrics;
  readonly shedder: LoadShedder;
  /** Origin under which clients reach the product, without a trailing slash. */
  readonly publicBaseUrl: string;
  /** How long a handler may take, in real time. */
  readonly budgetMs: number;
  /** Answers say what failed on our side, and what there is not: where the caller is the operator. */
  readonly tellsFaults?: boolean;
}

const REQUEST_ID = /^[A-Za-z0-9._-]{8,64}$/;
const UNMATCHED = 'unmatched';

/** The gateway made the id; a call that came without one gets its own. */
const requestIdOf = (ctx: Context, options: HttpSettings): string => {
  const given = ctx.req.headers['x-request-id'];
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : options.ids.uuid();
};

/** The outermost layer: request id, headers of every answer, the one access line, the one place where errors become answers. */
export const edge =
  (options: HttpSettings): Middleware =>
  (ctx, next) => {
    const requestId = requestIdOf(ctx, options);
    ctx.state['requestId'] = requestId;
    return withLogFields({ request_id: requestId }, async () => {
      const began = options.clock.monotonic();
      ctx.set({ 'X-Request-Id': requestId, 'X-Content-Type-Options': 'nosniff', 'Cache-Control': 'no-store' });
      let fault: DomainError | null = null;
      try {
        await admitted(ctx, next, options);
      } catch (error) {
        const refusal = asDomainError(error);
        if (!isCutOff(ctx.req)) fault = refusal;
        await answerError(ctx, refusal, options);
      }
      record(ctx, { ms: options.clock.monotonic() - began, fault }, options);
    });
  };

class Overloaded extends DomainError {
  constructor(retryAfterSeconds: number) {
    super('unavailable', 'Overloaded.', { retryAfterSeconds });
  }
}

const admitted = (ctx: Context, next: Next, options: HttpSettings): Promise<void> => {
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

const answerError = async (ctx: Context, error: DomainError, options: HttpSettings): Promise<void> => {
  if (ctx.res.headersSent) {
    // Cut off in the middle, so that it is not taken for the whole.
    ctx.respond = false;
    ctx.res.destroy();
    return;
  }
  const format = routeOf(ctx)?.errorFormat ?? 'envelope';
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

/** Null when no route has taken the request. */
const routeOf = (ctx: Context): Pick<RouteSpec<object, never>, 'path' | 'errorFormat'> | null => ctx.state['route'] ?? null;

interface Served {
  readonly ms: number;
  /** Why it was refused; null when it was answered, or nobody was left to answer. */
  readonly fault: DomainError | null;
}

/** One line. The template, never the path: ids, queries and tokens stay out of logs and metrics. */
const record = (ctx: Context, { ms, fault }: Served, { name, log, metrics }: HttpSettings): void => {
  const served = { method: ctx.method, route: routeOf(ctx)?.path ?? UNMATCHED, status: ctx.status };
  metrics.served({ service: name, ...served, seconds: ms / 1000 });
  const fields = { ...served, ms: Math.round(ms * 10) / 10, ...(ctx.res.destroyed && { aborted: true }) };
  // Where there is too much to do already, an error is not written out for every refusal.
  const why = fault instanceof Overloaded ? { reason: 'overload' } : { error: fault };
  if (fault?.kind === 'internal') log.error('request failed', { ...fields, ...why });
  else if (fault?.kind === 'unavailable') log.warn('request could not be served', { ...fields, ...why });
  else log.info('request', fields);
};
