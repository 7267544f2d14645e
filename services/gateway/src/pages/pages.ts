import type { IncomingMessage } from 'node:http';
import { isCallerGone } from '@bubbles/shared/http/http-errors.ts';
import type { Log } from '@bubbles/shared/log.ts';
import Koa, { type Context } from 'koa';
import { commonHeaders } from '../edge/answer.ts';
import type { Exchange } from '../edge/exchange.ts';
import type { PublicDocument } from './document.ts';
import { apiReference } from './reference-page.ts';
import { preferredEncoding, sendEncoded } from './send-encoded.ts';

const DOCUMENT_PATH = '/v1/openapi.json';
const MAX_AGE_SECONDS = 60;

interface PagesOptions {
  readonly document: PublicDocument;
  /** What the origin in the document depends on, for caches. */
  readonly varyBy: readonly string[];
  readonly log: Log;
}

/** What the gateway serves itself: the document of the API and its reference. */
export const ownPages = ({ document, varyBy, log }: PagesOptions): ((exchange: Exchange) => Promise<void>) => {
  const exchanges = new WeakMap<IncomingMessage, Exchange>();
  const reference = apiReference();
  const showDocument = (ctx: Context, origin: string) => {
    const encoding = preferredEncoding(ctx);
    const rendered = document.current();
    ctx.set('Cache-Control', `public, max-age=${MAX_AGE_SECONDS}`);
    for (const name of varyBy) ctx.vary(name);
    sendEncoded(ctx, {
      type: 'application/json; charset=utf-8',
      body: () => rendered[encoding](origin),
      encoding,
      etag: rendered.etag(origin),
    });
  };
  const app = new Koa();
  app.on('error', (error: unknown) => {
    if (!isCallerGone(error)) log.error('page failed', { error });
  });
  app.use(async (ctx) => {
    const exchange = exchanges.get(ctx.req);
    if (exchange === undefined || exchange.origin === null) throw new TypeError('A page is shown within an exchange.');
    const lines = commonHeaders(exchange);
    for (let index = 0; index + 1 < lines.length; index += 2) ctx.set(lines[index] ?? '', lines[index + 1] ?? '');
    if (exchange.path === DOCUMENT_PATH) showDocument(ctx, exchange.origin);
    else await reference.show(ctx, exchange.path, exchange.origin);
  });
  const callback = app.callback();
  return (exchange) => {
    exchanges.set(exchange.req, exchange);
    return callback(exchange.req, exchange.res);
  };
};
