import { readFileSync, writeFileSync } from 'node:fs';
import { EVENTS } from '../src/events/catalog.ts';
import { asyncApiDocument } from './asyncapi-document.ts';

/** Writes contracts/asyncapi.json; with `--check` says whether the one that is there is what would be written. */
const file = new URL('../asyncapi.json', import.meta.url);
const document = `${JSON.stringify(asyncApiDocument(EVENTS), null, 2)}\n`;

if (!process.argv.includes('--check')) {
  writeFileSync(file, document);
} else if (readFileSync(file, 'utf8') !== document) {
  console.error('contracts/asyncapi.json is stale: npm run asyncapi');
  process.exitCode = 1;
}
