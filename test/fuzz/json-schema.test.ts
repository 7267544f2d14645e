import { describe, expect, it } from '@jest/globals';
import { type Json, schemaFaultsIn } from './json-schema.ts';

const DOCUMENT = {
  components: {
    schemas: {
      Person: { type: 'object', properties: { id: { type: 'string' }, name: { type: ['string', 'null'] } }, required: ['id', 'name'] },
    },
  },
};
const PERSON = { $ref: '#/components/schemas/Person' };
const faults = (schema: Json, value: unknown) => schemaFaultsIn(DOCUMENT)(schema, value).length;

describe('the check of answers against the document', () => {
  it.each<readonly [string, Json, unknown, boolean]>([
    ['a whole object', PERSON, { id: 'a', name: null }, true],
    ['a missing field', PERSON, { id: 'a' }, false],
    ['a field too many', PERSON, { id: 'a', name: null, secret: 'x' }, false],
    ['a wrong type, deep', { type: 'array', items: PERSON }, [{ id: 1, name: null }], false],
    ['no list', { type: 'array', items: PERSON }, {}, false],
    ['one of two', { anyOf: [PERSON, { type: 'null' }] }, null, true],
    ['none of two', { anyOf: [PERSON, { type: 'null' }] }, 3, false],
    ['both of two', { oneOf: [{ type: 'number' }, { type: 'integer' }] }, 3, false],
    ['an option', { enum: ['a', 'b'] }, 'b', true],
    ['no option', { enum: ['a', 'b'] }, 'c', false],
    ['a half', { type: 'integer' }, 0.5, false],
    ['below', { type: 'integer', minimum: 0 }, -1, false],
    ['an instant', { type: 'string', format: 'date-time' }, '2026-01-01T00:00:00.000Z', true],
    ['an instant with an offset', { type: 'string', format: 'date-time' }, '2026-01-01T00:00:00.000+01:00', false],
    ['a pattern', { type: 'string', pattern: '^a+$' }, 'aa', true],
    ['another pattern', { type: 'string', pattern: '^a+$' }, 'b', false],
    ['long in code points', { type: 'string', maxLength: 2 }, '🎈🎈', true],
    ['too long', { type: 'string', maxLength: 2 }, 'abc', false],
  ])('%s', (_name, schema, value, isAllowed) => {
    expect(faults(schema, value) === 0).toBe(isAllowed);
  });

  it('does not pass over what it does not know', () => {
    expect(() => faults({ type: 'string', colour: 'x' }, 'x')).toThrow('colour');
    expect(() => faults({ type: 'string', format: 'telephone' }, 'x')).toThrow('telephone');
    expect(() => faults({ $ref: '#/components/schemas/Nobody' }, 'x')).toThrow('Nobody');
  });
});
