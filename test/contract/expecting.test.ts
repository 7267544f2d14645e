import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { expecting } from './expecting.ts';
import { normalised } from './pact-files.ts';

const Thing = z.object({
  id: z.uuid(),
  state: z.enum(['on', 'off']),
  count: z.int(),
  note: z.string().nullable(),
  made_at: z.iso.datetime(),
  parts: z.array(z.object({ name: z.string() })),
  owner: z.object({ id: z.string() }).nullable(),
});
const thing: z.infer<typeof Thing> = {
  id: '8b0f3b1c-6c56-4c4e-9a41-0d3a5c7f2f10',
  state: 'on',
  count: 3,
  note: 'a note',
  made_at: '2026-01-31T09:30:00.000Z',
  parts: [{ name: 'a part' }],
  owner: { id: 'user-1' },
};

describe('what a consumer expects', () => {
  it('has a rule for every value', () => {
    const { body, rules } = expecting(Thing, thing);
    expect(body).toEqual(thing);
    expect(
      Object.fromEntries(rules.map(({ path, rules: matchers }) => [path, matchers.map((matcher) => matcher['pact:matcher:type'])])),
    ).toEqual({
      $: ['type'],
      '$.id': ['regex'],
      '$.state': ['regex'],
      '$.count': ['integer'],
      '$.note': ['type', 'null'],
      '$.made_at': ['regex'],
      '$.parts': ['type'],
      '$.parts[*]': ['type'],
      '$.parts[*].name': ['type'],
      '$.owner': ['type'],
      '$.owner.id': ['type'],
    });
  });

  it('takes the alternative that the example is', () => {
    const Answer = z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('yes'), score: z.int() }),
      z.object({ kind: z.literal('no') }),
    ]);
    expect(expecting(Answer, { kind: 'yes', score: 1 }).rules.map(({ path }) => path)).toEqual(['$', '$.kind', '$.score']);
  });

  it('needs an example of everything', () => {
    expect(() => expecting(Thing, { ...thing, parts: [] })).toThrow('$.parts needs an example');
    expect(() => expecting(Thing, { ...thing, note: null })).toThrow('$.note needs an example');
  });
});

describe('a pact as it is kept', () => {
  it('lets a nullable field be null, and says nothing of the version that wrote it', () => {
    const nullable = { matchers: [{ match: 'type' }, { match: 'null' }], combine: 'AND' };
    const plain = { matchers: [{ match: 'type' }], combine: 'AND' };
    const kept = normalised({
      interactions: [{ matchingRules: { body: { '$.a': nullable, '$.b': plain } } }],
      metadata: { 'pact-js': { version: '17' }, pactRust: { ffi: '0.5' }, pactSpecification: { version: '4.0' } },
    });
    expect(kept).toEqual({
      interactions: [{ matchingRules: { body: { '$.a': { ...nullable, combine: 'OR' }, '$.b': plain } } }],
      metadata: { pactSpecification: { version: '4.0' } },
    });
  });
});
