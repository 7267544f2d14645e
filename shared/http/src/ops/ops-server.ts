import type { RequestListener, ServerResponse } from 'node:http';
import type { Ids } from '@bubbles/kernel/ids.ts';
import type { Address } from '../wire/listen.ts';
import { type HttpServer, SERVICE_LIMITS, startServer } from '../wire/server.ts';
import type { Metrics } from './metrics.ts';

export interface OpsOptions {
  readonly address: Address;
  readonly ids: Ids;
  readonly metrics: Metrics;
  /** Why no traffic should come, null when it may. */
  readonly notReady: () => Promise<string | null>;
  /** Further pages by path, shown as JSON. */
  readonly documents?: OpsDocuments;
}

export type OpsDocuments = Readonly<Record<string, () => unknown>>;

/** `/startupz` (configuration parsed, listening), `/livez` (the event loop turns, nothing else), `/readyz` and `/metrics`, off the public port. */
export const startOpsServer = ({ address, ids, metrics, notReady, documents = {} }: OpsOptions): Promise<HttpServer> => {
  const say = (res: ServerResponse, status: number, text: string) =>
    res.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8' }).end(`${text}\n`);
  const pages: Record<string, (res: ServerResponse) => Promise<unknown> | unknown> = {
    '/startupz': (res) => say(res, 200, 'started'),
    '/livez': (res) => say(res, 200, 'alive'),
    '/readyz': async (res) => {
      const reason = await notReady();
      say(res, reason === null ? 200 : 503, reason ?? 'ready');
    },
    '/metrics': async (res) => {
      const text = await metrics.registry.metrics();
      res.writeHead(200, { 'Content-Type': metrics.registry.contentType }).end(text);
    },
  };
  for (const [path, document] of Object.entries(documents))
    pages[path] = (res) => res.writeHead(200, { 'Content-Type': 'application/json; charset=utf-8' }).end(JSON.stringify(document()));
  const handler: RequestListener = async (req, res) => {
    const page = Object.hasOwn(pages, req.url ?? '') ? pages[req.url ?? ''] : undefined;
    await (page ?? (() => say(res, 404, 'not found')))(res);
  };
  return startServer({ handler, address, limits: SERVICE_LIMITS, ids });
};
