import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '@bubbles/kernel/clock.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import type { RouterContext } from '@koa/router';
import type { Context } from 'koa';
import type { HttpMetrics } from '../ops/metrics.ts';
import { cookieValue, headerValues } from '../wire/framing.ts';
import type { LoadShedder } from '../wire/overload.ts';
import { audited } from './audit.ts';
import { PAGE_HEADERS } from './content.ts';
import { announceUses } from './deprecation.ts';
import { streamEvents } from './event-stream.ts';
import type { GuardRequest } from './guard.ts';
import { actOnce, IDEMPOTENCY_REPLAYED, type IdempotencyStore, idempotencyKeyOf, type KeptAnswer } from './idempotency.ts';
import { inputReader } from './read-input.ts';
import { type Answer, answerWriter, redirectionOf } from './reply.ts';
import type { HandlerInput, Route, RouteSpec } from './route.ts';
import { sendFile } from './send-file.ts';

export interface HttpAppOptions<Ports> {
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
  readonly routes: readonly Route<Ports>[];
  /** What the guards of the routes need. */
  readonly guardPorts: Ports;
  /** For routes that are marked `idempotent`. */
  readonly idempotency?: IdempotencyStore | undefined;
}

/** Collects the fields of the audit line. */
type Note = Parameters<Parameters<ReturnType<typeof audited>>[0]>[1];

/** Order of refusals: caller (401, 429, 403), input (400), resource (404). */
export const serveRoute = <Ports>(route: Route<Ports>, options: HttpAppOptions<Ports>) => {
  const { spec, handle } = route;
  const { guard, timeLimitMs = options.budgetMs } = spec;
  const read = inputReader(spec);
  const write = answerWriter(spec);
  const answerOnce = spec.idempotent ? onceUnderKey(route, options) : null;
  const serve = async (ctx: RouterContext, note: Note | null): Promise<void> => {
    const { req, res } = ctx;
    const captures = ctx.captures ?? [];
    ctx.state['route'] = spec;
    setRouteHeaders(ctx, spec);
    let reading: Promise<unknown> | null = null;
    const readBody = () => {
      reading ??= read.body(req, res);
      return reading;
    };
    const admitted = await guard.admit(guardRequest(ctx, readBody, options.publicBaseUrl), options.guardPorts);
    const redirection = redirectionOf(admitted);
    if (redirection !== null) return sendEmpty(ctx, redirection, spec);
    note?.({ admitted });
    ctx.state['client'] = guard.clientOf?.(admitted);
    const key = answerOnce && idempotencyKeyOf(req);
    const query = spec.query && read.query(req, res);
    const headers = spec.headers && read.headers(req, res);
    const body = spec.body && (await readBody());
    const params = spec.params && read.params(captures);
    note?.({ params, body });
    const { ended, signal, timer, onClose } = openCall(res, timeLimitMs);
    try {
      const requestId: string = ctx.state['requestId'];
      const clientAddress = () => headerValues(req, 'x-forwarded-for').at(-1) ?? req.socket.remoteAddress ?? '';
      const cookie = cookieReader(ctx);
      const input = { ...admitted, params, query, headers, body, requestId, clientAddress, cookie, signal, ids: options.ids };
      const answer =
        answerOnce && key !== null
          ? await Promise.race([answerOnce(input, { admitted, key, captures }), ended])
          : write(await Promise.race([handle(input), ended]));
      clearTimeout(timer);
      if (note !== null && typeof answer.body === 'string') note({ answer: JSON.parse(answer.body) });
      await send(ctx, answer, { spec, gone: ended });
    } finally {
      clearTimeout(timer);
      res.off('close', onClose);
    }
  };
  return spec.audit === undefined ? (ctx: RouterContext) => serve(ctx, null) : audited(spec, options.log)(serve);
};

/** On every answer, refusals too. */
const setRouteHeaders = (ctx: Context, { guard, secret, deprecated }: RouteSpec<object, never>): void => {
  if (deprecated !== undefined) announceUses(ctx.res, [{ element: 'route', deprecation: deprecated }]);
  if (guard.reads !== null) ctx.vary(guard.reads);
  if (secret) ctx.set('Referrer-Policy', 'no-referrer');
};

const guardRequest = (ctx: Context, body: GuardRequest['body'], publicBaseUrl: string): GuardRequest => ({
  header: (name) => headerValues(ctx.req, name),
  cookie: cookieReader(ctx),
  target: ctx.req.url ?? '',
  body,
  clientAddress: clientOf(ctx.req),
  answerWith: (name, value) => ctx.set(name, value),
  publicBaseUrl,
});

const clientOf = (req: IncomingMessage) => (): string => headerValues(req, 'x-forwarded-for').at(-1) ?? req.socket.remoteAddress ?? '';

/** Reading a cookie makes the answer vary by it. */
const cookieReader =
  (ctx: Context) =>
  (name: string): string | null => {
    const route: RouteSpec<object, never> = ctx.state['route'];
    if (route.publicMaxAgeSeconds !== undefined) throw new TypeError(`${route.operationId}: a public answer depends on no cookie.`);
    ctx.vary('Cookie');
    return cookieValue(headerValues(ctx.req, 'cookie'), name);
  };

const CALLER_GONE = 'The caller went away.';

/** `ended` rejects when the caller leaves or the time is over: real time, whatever the product's clock says, since it bounds how long a connection is held. */
const openCall = (res: ServerResponse, timeLimitMs: number) => {
  // 'close' has already fired.
  if (res.destroyed) throw new DomainError('unavailable', CALLER_GONE);
  const controller = new AbortController();
  const { promise: ended, reject } = Promise.withResolvers<never>();
  const end = (why: string) => {
    const reason = new DomainError('unavailable', why);
    controller.abort(reason);
    reject(reason);
  };
  const onClose = () => end(CALLER_GONE);
  const timer = setTimeout(end, timeLimitMs, 'The time limit has passed.');
  res.once('close', onClose);
  return { ended, signal: controller.signal, timer, onClose };
};

interface KeyedCall {
  /** What the guard has found. */
  readonly admitted: object;
  readonly key: string;
  readonly captures: readonly string[];
}

/** What the handler answers to the first request under a key, for every later one too. */
const onceUnderKey = <Ports>({ spec, handle }: Route<Ports>, { idempotency, name }: HttpAppOptions<Ports>) => {
  if (idempotency === undefined) throw new TypeError(`${name} keeps no idempotency keys for ${spec.operationId}.`);
  const once = actOnce(idempotency);
  const write = answerWriter(spec);
  const { guard, method, path } = spec;
  return async (input: HandlerInput<unknown, unknown, unknown, unknown>, { admitted, key, captures }: KeyedCall): Promise<Answer> => {
    const owner = guard.keyOwner?.(admitted) ?? [];
    const request = { key, owner, route: [method, path, ...captures], body: input.body, signal: input.signal };
    const { status, body, replayed } = await once(request, async (ids) => keepable(write(await handle({ ...input, ids }))));
    return { status, body, headers: replayed ? [[IDEMPOTENCY_REPLAYED, 'true']] : [], cookies: [] };
  };
};

/** Routes with other answers are refused at the start. */
const keepable = ({ status, body }: Answer): KeptAnswer => ({ status, body: typeof body === 'string' ? body : null });

/** `gone` rejects when the client has left. */
const send = (
  ctx: Context,
  answer: Answer,
  { spec, gone }: { readonly spec: RouteSpec<object, never>; readonly gone: Promise<never> },
): Promise<void> | void => {
  const { status, body } = answer;
  const { contentType = null, schema = null } = spec.answers[status] ?? {};
  if (body === null || contentType === null) return sendEmpty(ctx, answer, spec);
  sendHead(ctx, answer, spec);
  ctx.set('Content-Type', contentType);
  if (typeof body === 'string' || Buffer.isBuffer(body)) {
    ctx.body = body;
    return;
  }
  ctx.respond = false;
  return 'length' in body ? sendFile(ctx, body, gone) : streamEvents(ctx, body, { schema, gone });
};

const sendEmpty = (ctx: Context, answer: Answer, spec: RouteSpec<object, never>): void => {
  sendHead(ctx, answer, spec);
  ctx.body = null;
  // Without a body Koa takes 204 for granted.
  ctx.status = answer.status;
};

const sendHead = (ctx: Context, { status, headers, cookies }: Answer, spec: RouteSpec<object, never>): void => {
  if (spec.secret) ctx.set('Pragma', 'no-cache');
  if (spec.answers[status]?.kind === 'page') ctx.set(PAGE_HEADERS);
  if (spec.publicMaxAgeSeconds !== undefined) ctx.set('Cache-Control', `public, max-age=${spec.publicMaxAgeSeconds}`);
  for (const [name, value] of headers) ctx.set(name, value);
  for (const { line } of cookies) ctx.res.appendHeader('Set-Cookie', line);
  ctx.status = status;
};
