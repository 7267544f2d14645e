import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { etagOf } from '@bubbles/http/document/openapi.ts';
import { memo } from '@bubbles/kernel/concurrency.ts';
import type { Answer } from '../exchange/exchange.ts';
import { encodedAnswer } from './encoded-answer.ts';

/** A page that shows an OpenAPI document of this origin. */
export interface Reference {
  readonly path: string;
  readonly title: string;
  readonly document: string;
}

const API_REFERENCE: Reference = { path: '/docs', title: 'API reference', document: '/v1/openapi.json' };

const pageOf = ({ path, title }: Reference): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="/docs/favicon-32x32.png">
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
<div id="reference"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="${path}/reference.js"></script>
</body>
</html>
`;

/** No validator: it would send the document to a host that is not ours. */
const scriptOf = ({ document }: Reference): string => `SwaggerUIBundle({
  url: '${document}',
  dom_id: '#reference',
  deepLinking: true,
  validatorUrl: null,
  showExtensions: true,
});
`;

const SCRIPT_TYPE = 'text/javascript; charset=utf-8';
const require = createRequire(import.meta.url);
const packaged = (name: string) => () => readFile(join(dirname(require.resolve('swagger-ui-dist/package.json')), name));

interface Asset {
  readonly type: string;
  readonly load: () => Promise<Buffer>;
}

type Assets = Readonly<Record<string, Asset>>;

const text = (type: string, content: string): Asset => ({ type, load: () => Promise.resolve(Buffer.from(content)) });

const SHARED_ASSETS: Assets = {
  '/docs/swagger-ui.css': { type: 'text/css; charset=utf-8', load: packaged('swagger-ui.css') },
  '/docs/swagger-ui-bundle.js': { type: SCRIPT_TYPE, load: packaged('swagger-ui-bundle.js') },
  '/docs/favicon-32x32.png': { type: 'image/png', load: packaged('favicon-32x32.png') },
};

interface LoadedAsset {
  readonly identity: Buffer;
  readonly gzip: Buffer;
  readonly etag: string;
}

const compress = promisify(gzip);

const assetAt = (assets: Assets, path: string): Asset => {
  const asset = assets[path];
  if (asset === undefined) throw new TypeError(`No page at ${path}.`);
  return asset;
};

const loadAsset = async ({ load }: Asset): Promise<LoadedAsset> => {
  const identity = await load();
  return { identity, gzip: await compress(identity), etag: etagOf(identity.toString('latin1')) };
};

const MAX_AGE_SECONDS = 300;
const CACHED = ['Cache-Control', `public, max-age=${MAX_AGE_SECONDS}`] as const;

/** The script builds its markup with inline styles; nothing is loaded from elsewhere and nobody may frame it. */
const policyFor = (apiOrigin: string | null): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    apiOrigin === null ? "connect-src 'self'" : `connect-src 'self' ${apiOrigin}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

interface ReferencePages {
  readonly paths: readonly string[];
  /** `apiOrigin` is where the API is called, null for the page's own origin. */
  answer(req: IncomingMessage, path: string, apiOrigin: string | null): Promise<Answer>;
}

/** What shows a reference, from our own origin alone; `leading` are the paths that lead to it. What all references share is with the one of the API. */
export const referencePages = (reference: Reference, leading: readonly string[]): ReferencePages => {
  const assets: Assets = {
    [reference.path]: text('text/html; charset=utf-8', pageOf(reference)),
    [`${reference.path}/reference.js`]: text(SCRIPT_TYPE, scriptOf(reference)),
    ...(reference === API_REFERENCE && SHARED_ASSETS),
  };
  const loaded = memo((path: string) => loadAsset(assetAt(assets, path)));
  return {
    paths: [...Object.keys(assets), ...leading],
    answer: async (req, path, apiOrigin) => {
      if (leading.includes(path)) return leadTo(reference);
      const content = await loaded.get(path);
      const headers = ['Content-Security-Policy', policyFor(apiOrigin), 'Referrer-Policy', 'no-referrer', ...CACHED];
      return encodedAnswer(req, { type: assetAt(assets, path).type, etag: content.etag, body: (encoding) => content[encoding], headers });
    },
  };
};

export const apiReference = (): ReferencePages => referencePages(API_REFERENCE, ['/', '/docs/']);

/** For people at a command line there is a sentence too. */
const leadTo = ({ path, title, document }: Reference): Answer => ({
  status: 302,
  headers: ['Location', path, 'Content-Type', 'text/plain; charset=utf-8', ...CACHED],
  body: `${title}: ${path}\nOpenAPI document: ${document}\n`,
});
