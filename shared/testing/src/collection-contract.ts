import type { Database } from '@bubbles/store/collection.ts';
import { describe } from '@jest/globals';
import { describeErrors } from './collection-contract/errors.ts';
import { describeIndexes } from './collection-contract/indexes.ts';
import { describeQueries } from './collection-contract/queries.ts';
import { describeRaces } from './collection-contract/races.ts';
import { describeUpdates } from './collection-contract/updates.ts';
import { describeWrites } from './collection-contract/writes.ts';

/** What every engine's collections must do. `make` gives a database that is open; each test uses a collection of its own. */
export const describeCollection = (engine: string, make: () => Database): void =>
  describe(`Collection on ${engine}`, () => {
    for (const part of [describeWrites, describeQueries, describeUpdates, describeErrors, describeRaces, describeIndexes]) part(make);
  });
