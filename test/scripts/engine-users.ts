import { readFileSync, writeFileSync } from 'node:fs';
import { brokerDefinitions, storeUsers } from '../../deploy/services/src/engine-users.ts';

/** Writes the users of broker and store with their rights; with `--check` says which file is not what would be written. */
const FILES = { 'deploy/rabbitmq/definitions.json': brokerDefinitions(), 'deploy/mongodb/users.json': storeUsers() };
const ROOT = new URL('../../', import.meta.url);

for (const [path, content] of Object.entries(FILES)) {
  const file = new URL(path, ROOT);
  const text = `${JSON.stringify(content, null, 2)}\n`;
  if (!process.argv.includes('--check')) writeFileSync(file, text);
  else if (readFileSync(file, 'utf8') !== text) {
    console.error(`${path} is stale: npm run engine-users`);
    process.exitCode = 1;
  }
}
