import type { Log } from '@bubbles/kernel/log.ts';
import type { Fragment } from '../documents/fragment.ts';
import { mergeFragments } from '../documents/merge.ts';
import type { OwnedPrefixes } from '../documents/ownership.ts';
import { DOCUMENT_HEAD } from './document-head.ts';
import { type RenderedDocument, renderDocument } from './rendering.ts';

/** The public document as it is served now. */
export interface PublicDocument {
  current(): RenderedDocument;
  /** Takes over what can be merged; else the last good document stays, and every conflict is told. */
  update(fragments: readonly Fragment[]): void;
}

interface DocumentOptions {
  readonly own: Fragment;
  readonly prefixes: OwnedPrefixes;
  readonly log: Log;
  readonly onRejected: (service: string, code: string) => void;
}

export const publicDocument = ({ own, prefixes, log, onRejected }: DocumentOptions): PublicDocument => {
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
        log.error('the last good document stays', { fragment_of: service, code, detail });
      }
    },
  };
};
