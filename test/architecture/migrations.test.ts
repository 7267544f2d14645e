import type { Migration } from '@bubbles/store/migration-step.ts';
import { describe, expect, it } from '@jest/globals';
import { declaredMigrations, migrationFaults, migrationsOf, releasedMigrations } from '../support/migrations.ts';

const FIRST: Migration = { number: 1, name: 'first', phase: 'expand', collection: 'c', indexes: [], dropped: [] };
const SECOND: Migration = { number: 2, name: 'second', phase: 'contract', batch: () => Promise.resolve(null) };
const RELEASED = { s: migrationsOf([FIRST, SECOND]) };

describe('the steps of every service', () => {
  it('are as they were released, each under its number', () => {
    expect(migrationFaults(declaredMigrations(), releasedMigrations())).toEqual([]);
  });
});

describe('a step that was released', () => {
  it.each<[string, Migration]>([
    ['another name', { ...SECOND, name: 'other' }],
    ['another phase', { ...SECOND, phase: 'expand' }],
    ['another text', { ...SECOND, batch: () => Promise.resolve('more') }],
    ['another kind', { ...FIRST, number: 2, name: 'second', phase: 'contract' }],
  ])('with %s is refused', (_, step) => {
    expect(migrationFaults({ s: migrationsOf([FIRST, step]) }, RELEASED)).toEqual([
      expect.stringMatching(
        /^s 2: was released as "contract second \w{16}" and is \w+ \w+ \w{16}: put it back as it was, and add a new step[.]$/,
      ),
    ]);
  });

  it('with other indexes is refused, and one that is gone', () => {
    const changed = { ...FIRST, indexes: [{ name: 'n', keys: { n: 1 } }] } as const;
    expect(migrationFaults({ s: migrationsOf([changed, SECOND]) }, RELEASED)).toHaveLength(1);
    expect(migrationFaults({ s: migrationsOf([FIRST]) }, RELEASED)).toEqual([expect.stringContaining('and is gone')]);
    expect(migrationFaults({}, RELEASED)).toHaveLength(2);
  });

  it('is written down when it is new', () => {
    expect(migrationFaults(RELEASED, {})).toEqual(['1', '2'].map((n) => `s ${n}: is new: write it down with \`npm run indexes\`.`));
  });
});
