import { describe, expect, it } from '@jest/globals';
import { type Declarations, declaredIndexes, indexFaults, releasedIndexes } from '../support/indexes.ts';

const RELEASED = { 's/c': { due: { keys: { status: 1, at: 1 } }, owner_v2: { keys: { ownerId: 1 }, unique: true } } } as const;
const DUE = { name: 'due', keys: { status: 1, at: 1 } } as const;
const OWNER = { name: 'owner_v2', keys: { ownerId: 1 }, unique: true } as const;
const declaring = (...wanted: NonNullable<ReturnType<Declarations['get']>>['wanted']): Declarations =>
  new Map([['s/c', { wanted, dropped: [] }]]);

describe('the indexes of every service', () => {
  it('are as they were released, each under its name', async () => {
    expect(indexFaults(await declaredIndexes(), releasedIndexes())).toEqual([]);
  });
});

describe('what was released', () => {
  it('is what is asked for', () => {
    expect(indexFaults(declaring(DUE, OWNER), RELEASED)).toEqual([]);
  });

  it.each([
    { keys: { status: 1 } },
    { keys: { at: 1, status: 1 } },
    { keys: { status: 1, at: -1 } },
    { keys: DUE.keys, unique: true },
    { keys: DUE.keys, sparse: true },
  ] as const)('has no other definition under its name: %j', (definition) => {
    expect(indexFaults(declaring({ name: 'due', ...definition }, OWNER), RELEASED)).toEqual([
      's/c.due: was released with another definition: give this one the next version (due_v2) and drop due.',
    ]);
  });

  it('has its next version after the one in its name', () => {
    expect(indexFaults(declaring(DUE, { ...OWNER, unique: false }), RELEASED)).toEqual([
      's/c.owner_v2: was released with another definition: give this one the next version (owner_v3) and drop owner_v2.',
    ]);
  });

  it('does not go without a word, nor stay when it was dropped', () => {
    expect(indexFaults(declaring(OWNER), RELEASED)).toEqual([
      's/c.due: was released and is asked for no more: list it among the dropped ones.',
    ]);
    expect(indexFaults(new Map([['s/c', { wanted: [OWNER], dropped: ['due'] }]]), RELEASED)).toEqual([]);
    expect(indexFaults(new Map([['s/c', { wanted: [DUE, OWNER], dropped: ['due'] }]]), RELEASED)).toEqual([
      's/c.due: is asked for and dropped: a name that was dropped is used never again.',
    ]);
    expect(indexFaults(new Map(), RELEASED)).toEqual(['s/c: was released with indexes and none is asked for: drop them there by name.']);
  });

  it('grows by each new one', () => {
    expect(indexFaults(declaring(DUE, OWNER, { name: 'Made v1', keys: { made: 1 } }), RELEASED)).toEqual([
      's/c.Made v1: is new: write it down with `npm run indexes`.',
      's/c.Made v1: a version is written _v2.',
    ]);
  });
});
