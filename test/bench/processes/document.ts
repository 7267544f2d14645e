import { COMMITTED_FRAGMENTS } from '@bubbles/gateway/config.ts';
import { readFragment } from '@bubbles/gateway/documents/fragment.ts';
import { mergeFragments } from '@bubbles/gateway/documents/merge.ts';
import { OWNED_PREFIXES } from '@bubbles/gateway/documents/ownership.ts';
import { readBakedFragments } from '@bubbles/gateway/fragments/fragment-poll.ts';
import { parsedJson } from '@bubbles/gateway/messages/json.ts';
import { renderDocument } from '@bubbles/gateway/pages/document.ts';
import { DOCUMENT_HEAD } from '@bubbles/gateway/pages/document-head.ts';
import { ownFragment } from '@bubbles/gateway/pages/pages.ts';
import { serveParent, tellParent } from '../harness/in-child.ts';
import { median } from '../harness/statistics.ts';

export interface DocumentFigures {
  readonly bytes: number;
  /** Of the committed fragments, warm. */
  readonly mergeMs: number;
  /** Of one origin. */
  readonly renderUs: number;
}

const ROUNDS = 15;
const RENDERS = 2000;

const read = () =>
  [...readBakedFragments(COMMITTED_FRAGMENTS, Object.keys(OWNED_PREFIXES))].flatMap(([service, text]) => {
    const fragment = readFragment(service, parsedJson(text));
    return 'code' in fragment ? [] : [fragment];
  });
const merge = () => mergeFragments({ head: DOCUMENT_HEAD, fragments: [ownFragment(), ...read()], prefixes: OWNED_PREFIXES }).document;

const timed = (work: () => unknown): number => {
  const began = performance.now();
  work();
  return performance.now() - began;
};

const mergeMs = median(Array.from({ length: ROUNDS }, () => timed(merge)));
const document = merge();
if (document === null) throw new Error('the committed fragments cannot be merged');
const rendered = renderDocument(document);
const render = () => {
  for (let n = 0; n < RENDERS; n += 1) rendered.identity(`https://host-${n}.test`);
};
const renderUs = (median(Array.from({ length: ROUNDS }, () => timed(render))) * 1000) / RENDERS;
serveParent();
tellParent({ bytes: rendered.identity('https://api.test').length, mergeMs, renderUs });
