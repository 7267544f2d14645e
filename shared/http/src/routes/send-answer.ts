import type { ServerResponse } from 'node:http';
import { DomainError } from '@bubbles/kernel/errors.ts';
import type { Context } from 'koa';
import type { ZodType } from 'zod';
import { type AnswerKind, isReply, PAGE_HEADERS, type Reply, type StreamedEvent } from './content.ts';
import { describeIssues } from './read-input.ts';
import type { RouteSpec } from './route.ts';

type Stream = AsyncIterable<StreamedEvent<unknown>>;

/** What a handler has answered, proved against its route and ready to be written. */
export interface Answer extends Pick<Reply, 'status' | 'headers' | 'cookies'> {
  readonly body: string | Buffer | Stream | null;
}

const fault = (what: string): DomainError => new DomainError('internal', 'Unexpected response.', { cause: new Error(what) });

/** Strips what a handler returned to the schema of its answer; what its route does not declare is a fault of ours and does not leave. */
export const answerWriter = ({ answers, operationId }: RouteSpec<object, never>): ((result: unknown) => Answer) => {
  const [only, ...others] = Object.keys(answers).map(Number);
  const single = others.length === 0 ? only : undefined;
  const undeclared = (what: string) => fault(`${operationId} declares no ${what}`);
  const checkExtras = ({ headers, cookies }: Reply, { details }: AnswerKind) => {
    for (const [name] of headers) if (details.headers?.[name] === undefined) throw undeclared(`header ${name}`);
    for (const { name } of cookies) if (details.cookies?.[name] === undefined) throw undeclared(`cookie ${name}`);
  };
  return (result) => {
    const status = isReply(result) ? result.status : single;
    const kind = status === undefined ? undefined : answers[status];
    if (status === undefined || kind === undefined) throw undeclared(`answer ${status ?? 'without a status'}`);
    if (!isReply(result)) return written(kind, { status, body: result, headers: [], cookies: [] });
    checkExtras(result, kind);
    return written(kind, result);
  };
};

const written = ({ kind, schema }: AnswerKind, { status, body, headers, cookies }: Omit<Reply, symbol>): Answer => {
  switch (kind) {
    case 'json':
      return { status, body: JSON.stringify(proved(schema, body)), headers, cookies };
    case 'text':
      return { status, body: String(proved(schema, body)), headers, cookies };
    case 'bytes':
      return { status, body: bufferOf(proved(schema, body)), headers, cookies };
    case 'events':
      // Its type is the handler's; each event is proved as it is sent.
      return { status, body: body as Stream, headers, cookies };
    case 'redirect':
      return { status, body: null, headers: [...headers, ['Location', String(body)]], cookies };
    case 'empty':
      return { status, body: null, headers, cookies };
  }
};

/** A mismatch is reported without the values. */
const proved = (schema: ZodType | null, value: unknown): unknown => {
  const parsed = schema?.safeParse(value);
  if (parsed?.success) return parsed.data;
  throw fault(`response does not match its schema: ${describeIssues(parsed?.error.issues ?? [], 'response')}`);
};

const bufferOf = (bytes: unknown): Buffer => {
  if (!(bytes instanceof Uint8Array)) throw fault('the answer is not of bytes');
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
};

interface Sending {
  readonly spec: RouteSpec<object, never>;
  /** Rejects when the client has left. */
  readonly gone: Promise<never>;
}

export const send = (ctx: Context, { status, body, headers, cookies }: Answer, { spec, gone }: Sending): Promise<void> | void => {
  const { contentType = null, schema = null } = spec.answers[status] ?? {};
  if (spec.secret) ctx.set('Pragma', 'no-cache');
  if (spec.publicMaxAgeSeconds !== undefined) ctx.set('Cache-Control', `public, max-age=${spec.publicMaxAgeSeconds}`);
  if (contentType?.startsWith('text/html')) ctx.set(PAGE_HEADERS);
  for (const [name, value] of headers) ctx.set(name, value);
  for (const { line } of cookies) ctx.res.appendHeader('Set-Cookie', line);
  ctx.status = status;
  if (body === null || contentType === null) {
    ctx.body = null;
    ctx.status = status;
    return;
  }
  ctx.set('Content-Type', contentType);
  if (typeof body === 'string' || Buffer.isBuffer(body)) {
    ctx.body = body;
    return;
  }
  ctx.respond = false;
  return streamEvents(ctx, body, { schema, gone });
};

/** Shorter than the time after which a connection is idle; also finds out that a client has left without a word. */
const HEARTBEAT_MS = 20_000;

interface Streaming {
  readonly schema: ZodType | null;
  readonly gone: Promise<never>;
}

/** Until the handler has no more, or nobody listens. A fault in between breaks the connection off, so that it is not taken for the end. */
const streamEvents = async ({ req, res }: Context, events: Stream, { schema, gone }: Streaming): Promise<void> => {
  res.flushHeaders();
  if (req.method === 'HEAD') {
    res.end();
    return;
  }
  const iterator = events[Symbol.asyncIterator]();
  const heartbeat = setInterval(() => res.write(':\n\n'), HEARTBEAT_MS);
  const left = gone.catch(() => null);
  try {
    for (;;) {
      const next = await Promise.race([iterator.next(), left]);
      if (next === null) return;
      if (next.done === true) break;
      await Promise.race([writeEvent(res, next.value, schema), left]);
    }
    res.end();
  } finally {
    clearInterval(heartbeat);
    // A handler that waits for something else than its signal would be waited for.
    iterator.return?.().catch(() => null);
  }
};

/** Resolves when there is room for the next one. */
const writeEvent = (res: ServerResponse, { data, event, id }: StreamedEvent<unknown>, schema: ZodType | null): Promise<void> => {
  const lines = [...(id === undefined ? [] : [`id: ${id}`]), ...(event === undefined ? [] : [`event: ${event}`])];
  if (lines.some((line) => /[\r\n]/.test(line))) throw fault('an event has a name or an id of more than one line');
  const isRoom = res.write([...lines, `data: ${JSON.stringify(proved(schema, data))}`, '', ''].join('\n'));
  return isRoom ? Promise.resolve() : new Promise((resolve) => res.once('drain', resolve));
};
