import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import type { Log } from '@bubbles/kernel/log.ts';
import type { Fragment } from '../documents/fragment.ts';
import { mergeFragments } from '../documents/merge.ts';
import type { OwnedPrefixes } from '../documents/ownership.ts';
import type { JsonObject } from '../messages/json.ts';
import { DOCUMENT_HEAD } from './document-head.ts';

/** The public document as it is served now. */
export interface PublicDocument {
  current(): RenderedDocument;
  /** Takes over what can be merged; else the last good document stays, and every conflict is logged. */
  update(fragments: readonly Fragment[]): void;
}

interface DocumentOptions {
  readonly own: Fragment;
  readonly prefixes: OwnedPrefixes;
  readonly log: Log;
  readonly onRejected: (service: string, code: string) => void;
}

export const createPublicDocument = ({ own, prefixes, log, onRejected }: DocumentOptions): PublicDocument => {
  const merge = (fragments: readonly Fragment[]) => mergeFragments({ head: DOCUMENT_HEAD, fragments, prefixes });
  const alone = merge([own]).document;
  if (alone === null) throw new TypeError("The gateway's own fragment cannot be merged.");
  let rendered = renderDocument(alone);
  return {
    current: () => rendered,
    update: (fragments) => {
      const { document, conflicts } = merge(fragments);
      if (document !== null) rendered = renderDocument(document);
      for (const { service, code, detail } of conflicts) {
        onRejected(service, code);
        log.error('fragments conflict, last good document kept', { fragmentOf: service, code, detail });
      }
    },
  };
};

/** The public document, ready but for the origin that it is served under. */
interface RenderedDocument {
  identity(origin: string): Buffer;
  gzip(origin: string): Promise<Buffer>;
  /** Strong, of document and origin. */
  etag(origin: string): string;
}

const compress = promisify(gzip);
const ETAG_BYTES = 24;

/** `servers` stands last, so that the rest of the text and its digest are made once for all origins. */
export const renderDocument = (document: JsonObject): RenderedDocument => {
  const head = Buffer.from(`${JSON.stringify(document).slice(0, -1)},"servers":[{"url":"`);
  const digest = hash('sha256', head, 'base64url');
  const identity = keptByOrigin((origin) => Buffer.concat([head, Buffer.from(`${JSON.stringify(origin).slice(1, -1)}"}]}`)]));
  return {
    identity,
    gzip: keptByOrigin((origin) => compress(identity(origin), { level: constants.Z_BEST_COMPRESSION })),
    etag: keptByOrigin((origin) => `"${hash('sha256', `${digest} ${origin}`, 'base64url').slice(0, ETAG_BYTES)}"`),
  };
};

const KEPT_ORIGINS = 4;

/** Clients know the product by few names: all of one share what was made for the first, however slowly they read. */
const keptByOrigin = <T>(make: (origin: string) => T): ((origin: string) => T) => {
  const kept = new Map<string, T>();
  return (origin) => {
    const known = kept.get(origin) ?? make(origin);
    if (kept.size >= KEPT_ORIGINS && !kept.has(origin)) kept.clear();
    kept.set(origin, known);
    return known;
  };
};
