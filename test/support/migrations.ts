import { readFileSync } from 'node:fs';
import { checksumOf, type Migration } from '@bubbles/store/migration-step.ts';
import { PRODUCT } from '../../deploy/services/src/product.ts';

/** The steps that were released, by service and number: `<phase> <name> <checksum>`. */
export type ReleasedMigrations = Readonly<Record<string, Readonly<Record<string, string>>>>;

export const RELEASED_MIGRATIONS_FILE = new URL('../architecture/released-migrations.json', import.meta.url);
export const releasedMigrations = (): ReleasedMigrations =>
  // Written by test/scripts/indexes.ts alone.
  JSON.parse(readFileSync(RELEASED_MIGRATIONS_FILE, 'utf8')) as ReleasedMigrations;

export const migrationsOf = (steps: readonly Migration[]): Readonly<Record<string, string>> =>
  Object.fromEntries(steps.map((step) => [String(step.number), `${step.phase} ${step.name} ${checksumOf(step)}`]));

export const declaredMigrations = (): ReleasedMigrations =>
  Object.fromEntries(
    PRODUCT.definitions.flatMap(({ name, migrations = [] }) => (migrations.length === 0 ? [] : [[name, migrationsOf(migrations)]])),
  );

/** One line for each fault, with what to do. */
export const migrationFaults = (declared: ReleasedMigrations, released: ReleasedMigrations): readonly string[] => [
  ...Object.entries(released).flatMap(([service, steps]) =>
    Object.entries(steps).flatMap(([number, step]) => {
      const today = declared[service]?.[number];
      if (today === step) return [];
      return [`${service} ${number}: was released as "${step}" and is ${today ?? 'gone'}: put it back as it was, and add a new step.`];
    }),
  ),
  ...Object.entries(declared).flatMap(([service, steps]) =>
    Object.keys(steps)
      .filter((number) => released[service]?.[number] === undefined)
      .map((number) => `${service} ${number}: is new: write it down with \`npm run indexes\`.`),
  ),
];
