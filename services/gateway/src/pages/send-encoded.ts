import type { Context } from 'koa';

export type Encoding = 'gzip' | 'identity';

export const preferredEncoding = (ctx: Context): Encoding => (ctx.acceptsEncodings('gzip', 'identity') === 'gzip' ? 'gzip' : 'identity');

export interface Encoded {
  readonly type: string;
  /** Made when the client does not have it already. */
  readonly body: () => Buffer;
  readonly encoding: Encoding;
  readonly etag: string;
}

/** A strong ETag names the very bytes, so that each encoding has its own. */
export const sendEncoded = (ctx: Context, { type, body, encoding, etag }: Encoded): void => {
  const own = encoding === 'gzip' ? etag.replace(/"$/, '-gzip"') : etag;
  ctx.vary('Accept-Encoding');
  ctx.set('ETag', own);
  ctx.status = 200;
  if (isKnown(ctx.get('If-None-Match'), own)) {
    ctx.status = 304;
    return;
  }
  ctx.set('Content-Type', type);
  if (encoding === 'gzip') ctx.set('Content-Encoding', 'gzip');
  ctx.body = body();
};

/** RFC 9110, 13.1.2. `Cache-Control: no-cache` of a request, which fetch adds, does not matter to an origin (Koa's `fresh` thinks so). */
const isKnown = (ifNoneMatch: string, etag: string): boolean =>
  ifNoneMatch.trim() === '*' || ifNoneMatch.split(',').some((sent) => sent.trim().replace(/^W\//, '') === etag);
