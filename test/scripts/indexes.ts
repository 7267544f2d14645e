import { writeFileSync } from 'node:fs';
import { declaredIndexes, RELEASED_FILE, releasedIndexes } from '../support/indexes.ts';
import { declaredMigrations, RELEASED_MIGRATIONS_FILE, releasedMigrations } from '../support/migrations.ts';

/** Adds the indexes and steps of today to those that were released; what is written there already stays as it is. */
const released = releasedIndexes();
const declared = await declaredIndexes();

/** One line for each index, so that two changes seldom meet. */
const linesOf = (indexes: object): string =>
  Object.entries(indexes)
    .map(([name, definition]) => `    ${JSON.stringify(name)}: ${JSON.stringify(definition, null, 1).replace(/\n */g, ' ')}`)
    .join(',\n');

const spaces = [...new Set([...Object.keys(released), ...declared.keys()])].sort().map((space) => {
  const today = (declared.get(space)?.wanted ?? []).map(({ name, ...definition }) => [name, definition] as const);
  const all = { ...released[space], ...Object.fromEntries(today), ...released[space] };
  return `  ${JSON.stringify(space)}: {\n${linesOf(all)}\n  }`;
});
writeFileSync(RELEASED_FILE, `{\n${spaces.join(',\n')}\n}\n`);

const steps = releasedMigrations();
const today = Object.entries(declaredMigrations()).map(([service, declaredSteps]) => [service, { ...declaredSteps, ...steps[service] }]);
writeFileSync(RELEASED_MIGRATIONS_FILE, `${JSON.stringify({ ...steps, ...Object.fromEntries(today) }, null, 2)}\n`);
