import type { Context } from 'koa';
import { admitService } from './admission.ts';
import type { HttpAppOptions } from './app-options.ts';
import { canonicalJson } from './canonical-json.ts';
import { etagOf, openApiFragment } from './openapi.ts';

/** `GET /internal/openapi.json` for the gateway, which asks again with `If-None-Match`. */
export const serveFragment = (options: HttpAppOptions): ((ctx: Context) => Promise<void>) => {
  const text = canonicalJson(openApiFragment(options));
  const etag = etagOf(text);
  return async (ctx) => {
    ctx.state['route'] = '/internal/openapi.json';
    ctx.vary('Authorization');
    await admitService(ctx, ['gateway'], options);
    ctx.set('ETag', etag);
    ctx.status = 200;
    if (ctx.req.headers['if-none-match'] === etag) {
      ctx.status = 304;
      return;
    }
    ctx.set('Content-Type', 'application/json; charset=utf-8');
    ctx.body = text;
  };
};
