import type { Context } from 'koa';
import { canonicalJson } from '../document/canonical-json.ts';
import { etagOf, openApiFragment } from '../document/openapi.ts';
import { admitService } from './admission.ts';
import type { HttpAppOptions } from './app-options.ts';

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
