import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Ids } from '@bubbles/shared/ids.ts';
import type { Log } from '@bubbles/shared/log.ts';
import Koa from 'koa';
import { type Reference, referencePages } from './reference-page.ts';

interface StandaloneOptions {
  readonly reference: Reference;
  /** Paths that lead to it. */
  readonly leading: readonly string[];
  readonly ids: Ids;
  readonly log: Log;
}

/** Serves a reference that is not the gateway's own, before its routing: true when the path is one of its pages. */
export const standaloneReference = ({ reference, leading, ids, log }: StandaloneOptions) => {
  const { paths, show } = referencePages(reference, leading);
  const app = new Koa();
  app.on('error', (error: unknown) => log.error('page failed', { error }));
  app.use((ctx) => {
    ctx.set({ 'X-Request-Id': ids.uuid(), 'X-Content-Type-Options': 'nosniff' });
    return show(ctx, ctx.path, null);
  });
  const serve = app.callback();
  return (req: IncomingMessage, res: ServerResponse): boolean => {
    const isPage = (req.method === 'GET' || req.method === 'HEAD') && paths.includes(req.url?.split('?', 1)[0] ?? '');
    if (isPage) void serve(req, res);
    return isPage;
  };
};
