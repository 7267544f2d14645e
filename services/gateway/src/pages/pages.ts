import { answer } from '../exchange/answer.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { PublicDocument } from './document.ts';
import { encodedAnswer } from './encoded-answer.ts';
import { apiReference } from './reference-page.ts';

const DOCUMENT_PATH = '/v1/openapi.json';
const DOCUMENT_TYPE = 'application/json; charset=utf-8';
const MAX_AGE_SECONDS = 60;

interface PagesOptions {
  readonly document: PublicDocument;
  /** What the origin in the document depends on, for caches. */
  readonly varyBy: readonly string[];
}

/** What the gateway serves itself: the document of the API and its reference. */
export const ownPages = ({ document, varyBy }: PagesOptions): ((exchange: Exchange) => Promise<void>) => {
  const reference = apiReference();
  const headers = ['Cache-Control', `public, max-age=${MAX_AGE_SECONDS}`];
  return async (exchange) => {
    const { req, path, origin } = exchange;
    if (origin === null) throw new TypeError('A page is shown under an origin.');
    if (path !== DOCUMENT_PATH) return answer(exchange, await reference.answer(req, path, origin));
    const rendered = document.current();
    const body = (encoding: 'gzip' | 'identity') => rendered[encoding](origin);
    answer(exchange, encodedAnswer(req, { type: DOCUMENT_TYPE, etag: rendered.etag(origin), body, headers, varyBy }));
  };
};
