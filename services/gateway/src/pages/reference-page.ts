import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { etagOf } from '@bubbles/shared/http/openapi.ts';
import type { Context } from 'koa';
import { loadedOnce } from './loaded-once.ts';
import { preferredEncoding, sendEncoded } from './send-encoded.ts';

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>API reference</title>
<link rel="icon" href="/docs/favicon-32x32.png">
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
<div id="reference"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/reference.js"></script>
</body>
</html>
`;

/** No validator: it would send the document to a host that is not ours. */
const SCRIPT = `SwaggerUIBundle({
  url: '/v1/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  validatorUrl: null,
});
`;

const SCRIPT_TYPE = 'text/javascript; charset=utf-8';
const require = createRequire(import.meta.url);
const packaged = (name: string) => () => readFile(join(dirname(require.resolve('swagger-ui-dist/package.json')), name));

interface Asset {
  readonly type: string;
  readonly load: () => Promise<Buffer>;
}

const ASSETS: Readonly<Record<string, Asset>> = {
  '/docs': { type: 'text/html; charset=utf-8', load: () => Promise.resolve(Buffer.from(PAGE)) },
  '/docs/reference.js': { type: SCRIPT_TYPE, load: () => Promise.resolve(Buffer.from(SCRIPT)) },
  '/docs/swagger-ui.css': { type: 'text/css; charset=utf-8', load: packaged('swagger-ui.css') },
  '/docs/swagger-ui-bundle.js': { type: SCRIPT_TYPE, load: packaged('swagger-ui-bundle.js') },
  '/docs/favicon-32x32.png': { type: 'image/png', load: packaged('favicon-32x32.png') },
};

export const REFERENCE_PATHS: readonly string[] = Object.keys(ASSETS);

interface LoadedAsset {
  readonly identity: Buffer;
  readonly gzip: Buffer;
  readonly etag: string;
}

const compress = promisify(gzip);

const assetAt = (path: string): Asset => {
  const asset = ASSETS[path];
  if (asset === undefined) throw new TypeError(`There is no page ${path}.`);
  return asset;
};

const loadAsset = async (path: string): Promise<LoadedAsset> => {
  const identity = await assetAt(path).load();
  return { identity, gzip: await compress(identity), etag: etagOf(identity.toString('latin1')) };
};

const MAX_AGE_SECONDS = 300;

/** The script builds its markup with inline styles; nothing is loaded from elsewhere and nobody may frame it. */
const policyFor = (apiOrigin: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    `connect-src 'self' ${apiOrigin}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

/** The API reference, from our own origin alone. */
export const referencePage = (): ((ctx: Context, path: string, apiOrigin: string) => Promise<void>) => {
  const loaded = loadedOnce(loadAsset);
  return async (ctx, path, apiOrigin) => {
    const content = await loaded(path);
    const encoding = preferredEncoding(ctx);
    ctx.set({
      'Content-Security-Policy': policyFor(apiOrigin),
      'Referrer-Policy': 'no-referrer',
      'Cache-Control': `public, max-age=${MAX_AGE_SECONDS}`,
    });
    sendEncoded(ctx, { type: assetAt(path).type, body: () => content[encoding], encoding, etag: content.etag });
  };
};
