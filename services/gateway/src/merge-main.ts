import { COMMITTED_FRAGMENTS } from './config.ts';
import { readFragment } from './documents/fragment.ts';
import { mergeFragments } from './documents/merge.ts';
import { OWNED_PREFIXES } from './documents/ownership.ts';
import { readBakedFragments } from './fragments/fragment-poll.ts';
import { parsedJson } from './messages/json.ts';
import { DOCUMENT_HEAD } from './pages/document-head.ts';
import { ownFragment } from './pages/pages.ts';

/** Prints the public document of the committed fragments; any conflict is a failure. */
const read = [...readBakedFragments(COMMITTED_FRAGMENTS, Object.keys(OWNED_PREFIXES))].map(([service, text]) => ({
  service,
  fragment: readFragment(service, parsedJson(text)),
}));
const fragments = read.flatMap(({ fragment }) => ('code' in fragment ? [] : [fragment]));
const unreadable = read.flatMap(({ service, fragment }) => ('code' in fragment ? [{ service, ...fragment }] : []));
const { document, conflicts } = mergeFragments({ head: DOCUMENT_HEAD, fragments: [ownFragment(), ...fragments], prefixes: OWNED_PREFIXES });
for (const { service, code, detail } of [...unreadable, ...conflicts]) process.stderr.write(`${service}: ${code}: ${detail}\n`);
if (unreadable.length > 0 || document === null) process.exitCode = 1;
else process.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
