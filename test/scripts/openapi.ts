import { readFileSync, writeFileSync } from 'node:fs';
import { canonicalJson } from '@bubbles/http/routes/idempotency.ts';
import { everyService, fragmentOf } from '../support/services.ts';

/** Writes contracts/openapi/<service>.json; with `--check` says which of them are not what would be written. */
const checking = process.argv.includes('--check');

for (const service of everyService()) {
  const file = new URL(`../../contracts/openapi/${service.name}.json`, import.meta.url);
  const fragment = `${JSON.stringify(JSON.parse(canonicalJson(fragmentOf(service))), null, 2)}\n`;
  if (!checking) writeFileSync(file, fragment);
  else if (readFileSync(file, 'utf8') !== fragment) {
    console.error(`contracts/openapi/${service.name}.json is stale: npm run openapi`);
    process.exitCode = 1;
  }
}
