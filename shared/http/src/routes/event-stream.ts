import type { ServerResponse } from 'node:http';
import type { Context } from 'koa';
import type { ZodType } from 'zod';
import type { EventStream, StreamedEvent } from './content.ts';
import { fault, proved } from './reply.ts';

/** Shorter than the time after which a connection is idle; also finds out that a client has left without a word. */
const HEARTBEAT_MS = 20_000;

/** Goes on until the handler has no more or the client has left. A fault breaks the connection off, so that it is not taken for the end. */
export const streamEvents = async (
  { req, res }: Context,
  events: EventStream,
  { schema, gone }: { readonly schema: ZodType | null; readonly gone: Promise<never> },
): Promise<void> => {
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
    // Not awaited: a handler may wait for something else than its signal.
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
