import type { IncomingMessage, ServerResponse } from 'node:http';
import { envelope, INTERNAL_ERROR_MESSAGE } from '@bubbles/http/routes/http-errors.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import type { Answer } from '../exchange/exchange.ts';
import { type Reference, referencePages } from './reference-page.ts';

interface StandaloneOptions {
  readonly reference: Reference;
  /** Paths that lead to it. */
  readonly leading: readonly string[];
  readonly ids: Ids;
  readonly log: Log;
}

const FAILED: Answer = {
  status: 500,
  headers: ['Content-Type', 'application/json; charset=utf-8'],
  body: envelope('internal_error', INTERNAL_ERROR_MESSAGE),
};

/** Serves a reference that is not the gateway's own, before its routing: true when the path is one of its pages. */
export const standaloneReference = ({ reference, leading, ids, log }: StandaloneOptions) => {
  const pages = referencePages(reference, leading);
  const serve = async (req: IncomingMessage, res: ServerResponse, path: string): Promise<void> => {
    const { status, headers, body } = await pages.answer(req, path, null).catch((error: unknown) => {
      log.error('page failed', { error });
      return FAILED;
    });
    const length = status === 304 ? [] : ['Content-Length', String(Buffer.byteLength(body))];
    res.writeHead(status, [...headers, 'X-Request-Id', ids.uuid(), 'X-Content-Type-Options', 'nosniff', ...length]);
    res.end(req.method === 'HEAD' ? undefined : body);
  };
  return (req: IncomingMessage, res: ServerResponse): boolean => {
    const path = req.url?.split('?', 1)[0] ?? '';
    const isPage = (req.method === 'GET' || req.method === 'HEAD') && pages.paths.includes(path);
    if (isPage) void serve(req, res, path);
    return isPage;
  };
};
