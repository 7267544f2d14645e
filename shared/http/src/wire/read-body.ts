import type { IncomingMessage, ServerResponse } from 'node:http';
import { DomainError } from '@bubbles/kernel/errors.ts';

/** The rest of the body has not been read: answer with `Connection: close` and let the sender finish (see `linger`). */
export class BodyTooLarge extends DomainError {
  constructor(limitBytes: number) {
    super('invalid', `body: must have at most ${limitBytes} bytes`);
  }
}

const hasBody = (req: IncomingMessage): boolean => {
  const length = req.headers['content-length'];
  return req.headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
};

/** Its sender left before all of it had come. A request without a body counts as destroyed from its beginning. */
export const isCutOff = (req: IncomingMessage): boolean => hasBody(req) && req.destroyed && !req.complete;

const endedEarly = (cause?: unknown) => new DomainError('invalid', 'body: ended early', { cause });

interface BodyRules {
  readonly limitBytes: number;
  /** Told the size of every part as it comes. */
  readonly received?: (bytes: number) => void;
  /** Ends the reading with its reason. */
  readonly signal?: AbortSignal;
}

/** Counts while it reads, so that memory never grows past the limit. Rejects when the sender goes away, or has gone before. */
export const readBody = (req: IncomingMessage, res: ServerResponse, { limitBytes, received, signal }: BodyRules): Promise<Buffer> => {
  if (!hasBody(req)) return Promise.resolve(Buffer.alloc(0));
  if (Number(req.headers['content-length'] ?? 0) > limitBytes) return Promise.reject(new BodyTooLarge(limitBytes));
  // 'close' has already fired.
  if (req.destroyed) return Promise.reject(endedEarly());
  if (req.headers.expect !== undefined) res.writeContinue();
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let size = 0;
  const onData = (chunk: Buffer) => {
    size += chunk.length;
    if (size > limitBytes) return fail(new BodyTooLarge(limitBytes));
    chunks.push(chunk);
    received?.(chunk.length);
  };
  const onEnd = () => {
    stop();
    resolve(Buffer.concat(chunks, size));
  };
  const onGone = (cause?: unknown) => fail(endedEarly(cause));
  const onAbort = () => fail(signal?.reason);
  const fail = (reason: unknown) => {
    stop();
    reject(reason);
  };
  const stop = () => {
    signal?.removeEventListener('abort', onAbort);
    req.off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone);
    // Without a listener a late error of the socket would end the process.
    req.on('error', ignore).pause();
  };
  signal?.addEventListener('abort', onAbort);
  req.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone);
  return promise;
};

const ignore = (): void => undefined;

const LINGER_BYTES = 1024 * 1024;
const LINGER_MS = 1000;

/**
 * Sends the whole answer, then goes on discarding what the sender still has in the air before it closes: a close at once would reset
 * the connection, and the sender would never see the answer.
 */
export const linger = async (req: IncomingMessage, res: ServerResponse, body: string): Promise<void> => {
  res.write(body);
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, LINGER_MS);
  let discarded = 0;
  req.on('data', (chunk: Buffer) => {
    discarded += chunk.length;
    if (discarded > LINGER_BYTES) resolve();
  });
  req.on('end', resolve).on('close', resolve).on('error', resolve).resume();
  await promise;
  clearTimeout(timer);
  res.end();
};
