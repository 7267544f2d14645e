import type { ServerResponse } from 'node:http';
import type { Context } from 'koa';
import type { SentFile } from './content.ts';

interface Pour<T> {
  readonly from: AsyncIterable<T>;
  /** Resolves when there is room for the next one. */
  readonly write: (item: T) => Promise<unknown>;
  /** Rejects when the client has left. */
  readonly gone: Promise<never>;
}

/** Resolves when there is room for more. */
export const written = (res: ServerResponse, chunk: string | Uint8Array): Promise<void> =>
  res.write(chunk) ? Promise.resolve() : new Promise((resolve) => res.once('drain', resolve));

/** Writes what comes until there is no more, which ends the answer, or until the client has left. A fault of the source passes through. */
export const pour = async <T>({ res }: Context, { from, write, gone }: Pour<T>): Promise<void> => {
  const iterator = from[Symbol.asyncIterator]();
  const left = gone.catch(() => null);
  try {
    for (;;) {
      const next = await Promise.race([iterator.next(), left]);
      if (next === null) return;
      if (next.done === true) break;
      await Promise.race([write(next.value), left]);
    }
    res.end();
  } finally {
    // Not awaited: a handler may wait for something else than its signal.
    iterator.return?.().catch(() => null);
  }
};

/** Sends at the client's pace. An error closes the connection, so that the client does not take it for the end of the file. */
export const sendFile = async (ctx: Context, { contentType, length, bytes }: SentFile, gone: Promise<never>): Promise<void> => {
  const { req, res } = ctx;
  res.setHeader('Content-Type', contentType);
  res.setHeader('Content-Length', length);
  res.flushHeaders();
  if (req.method === 'HEAD') res.end();
  else await pour(ctx, { from: bytes, write: (chunk) => written(res, chunk), gone });
};
