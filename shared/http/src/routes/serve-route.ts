import { DomainError } from '@bubbles/kernel/errors.ts';
import type { Context } from 'koa';
import { headerValues } from '../wire/framing.ts';
import type { HttpSettings } from './edge.ts';
import type { GuardRequest } from './guard.ts';
import { actOnce, IDEMPOTENCY_REPLAYED, type IdempotencyStore, idempotencyKeyOf, type KeptAnswer } from './idempotency.ts';
import { inputReader } from './read-input.ts';
import type { HandlerInput, Route } from './route.ts';
import { type Answer, answerWriter, send } from './send-answer.ts';

export interface HttpAppOptions<Ports> extends HttpSettings {
  readonly routes: readonly Route<Ports>[];
  /** What the guards of the routes need. */
  readonly guardPorts: Ports;
  /** For routes that are marked `idempotent`. */
  readonly idempotency?: IdempotencyStore | undefined;
}

/** The refusals in their order: who calls (401, 429, 403), what was sent (400), what it is about (404). */
export const serveRoute = <Ports>(route: Route<Ports>, options: HttpAppOptions<Ports>) => {
  const { spec } = route;
  const { guard } = spec;
  const read = inputReader(spec);
  const perform = performer(route, options);
  const budgetMs = spec.timeLimitMs ?? options.budgetMs;
  return async (ctx: Context, captures: readonly string[]): Promise<void> => {
    const { req, res } = ctx;
    ctx.state['route'] = spec;
    if (guard.reads !== null) ctx.vary(guard.reads);
    let reading: Promise<unknown> | null = null;
    const readBody = () => {
      reading ??= read.body(req, res);
      return reading;
    };
    const admitted = await guard.admit(guardRequest(ctx, readBody, options.publicBaseUrl), options.guardPorts);
    const key = spec.idempotent ? idempotencyKeyOf(req) : null;
    const query = spec.query && read.query(req);
    const headers = spec.headers && read.headers(req);
    const body = spec.body && (await readBody());
    const params = spec.params && read.params(captures);
    const requestId: string = ctx.state['requestId'];
    const clientAddress = () => headerValues(req, 'x-forwarded-for').at(-1) ?? req.socket.remoteAddress ?? '';
    await withinBudget(ctx, budgetMs, {
      work: (signal) =>
        perform({ ...admitted, params, query, headers, body, requestId, clientAddress, signal }, { admitted, key, captures }),
      send: (answer, gone) => send(ctx, answer, { spec, gone }),
    });
  };
};

const guardRequest = (ctx: Context, body: GuardRequest['body'], publicBaseUrl: string): GuardRequest => ({
  header: (name) => headerValues(ctx.req, name),
  body,
  answerWith: (name, value) => ctx.set(name, value),
  publicBaseUrl,
});

type Input = Omit<HandlerInput<unknown, unknown, unknown, unknown>, 'ids'>;

interface Call {
  /** What the guard has found. */
  readonly admitted: object;
  readonly key: string | null;
  readonly captures: readonly string[];
}

/** What the handler answers; under a key, what it answered first. */
const performer = <Ports>({ spec, handle }: Route<Ports>, { ids, idempotency, name }: HttpAppOptions<Ports>) => {
  const write = answerWriter(spec);
  if (!spec.idempotent) return async (input: Input): Promise<Answer> => write(await handle({ ...input, ids }));
  if (idempotency === undefined) throw new TypeError(`${name} keeps no idempotency keys for ${spec.operationId}.`);
  const once = actOnce(idempotency);
  const { guard, method, path } = spec;
  return async (input: Input, { admitted, key, captures }: Call): Promise<Answer> => {
    if (key === null) return write(await handle({ ...input, ids }));
    const owner = guard.keyOwner?.(admitted) ?? [];
    const request = { key, owner, route: [method, path, ...captures], body: input.body, signal: input.signal };
    const { status, body, replayed } = await once(request, async (seeded) => keepable(write(await handle({ ...input, ids: seeded }))));
    return { status, body, headers: replayed ? [[IDEMPOTENCY_REPLAYED, 'true']] : [], cookies: [] };
  };
};

/** Routes with other answers are refused at the start. */
const keepable = ({ status, body }: Answer): KeptAnswer => ({ status, body: typeof body === 'string' ? body : null });

const CALLER_GONE = 'The caller went away.';

interface Steps {
  readonly work: (signal: AbortSignal) => Promise<Answer>;
  /** `gone` rejects when the caller has left. */
  readonly send: (answer: Answer, gone: Promise<never>) => Promise<void> | void;
}

/** Real time, whatever the product's clock says: it bounds how long a connection is held. */
const withinBudget = async ({ res }: Context, budgetMs: number, { work, send }: Steps): Promise<void> => {
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
  const timer = setTimeout(end, budgetMs, 'The time budget is spent.');
  res.once('close', onClose);
  try {
    const answer = await Promise.race([work(controller.signal), ended]);
    clearTimeout(timer);
    await send(answer, ended);
  } finally {
    clearTimeout(timer);
    res.off('close', onClose);
  }
};
