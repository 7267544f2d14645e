import type { Context } from 'koa';
import type { ZodType } from 'zod';
import type { EventStream, StreamedEvent } from './content.ts';
import { fault, proved } from './reply.ts';
import { pour, written } from './send-file.ts';

/** Shorter than the time after which a connection is idle; also finds out that a client has left without a word. */
const HEARTBEAT_MS = 20_000;

/** Goes on until the handler has no more or the client has left. A fault breaks the connection off, so that it is not taken for the end. */
export const streamEvents = async (
  ctx: Context,
  events: EventStream,
  { schema, gone }: { readonly schema: ZodType | null; readonly gone: Promise<never> },
): Promise<void> => {
  const { req, res } = ctx;
  res.flushHeaders();
  if (req.method === 'HEAD') {
    res.end();
    return;
  }
  const heartbeat = setInterval(() => res.write(':\n\n'), HEARTBEAT_MS);
  try {
    await pour(ctx, { from: events, write: (event) => written(res, textOf(event, schema)), gone });
  } finally {
    clearInterval(heartbeat);
  }
};

const textOf = ({ data, event, id }: StreamedEvent<unknown>, schema: ZodType | null): string => {
  const lines = [...(id === undefined ? [] : [`id: ${id}`]), ...(event === undefined ? [] : [`event: ${event}`])];
  if (lines.some((line) => /[\r\n]/.test(line))) throw fault('an event has a name or an id of more than one line');
  return [...lines, `data: ${JSON.stringify(proved(schema, data))}`, '', ''].join('\n');
};
