import { describe, expect, it } from '@jest/globals';
import { schemaFaults } from './json-schema.ts';

const DOCUMENT = {
  components: {
    schemas: {
      Person: { type: 'object', properties: { id: { type: 'string' }, name: { type: ['string', 'null'] } }, required: ['id', 'name'] },
    },
  },
};
const PERSON = { $ref: '#/components/schemas/Person' };
const faults = (schema: object, value: unknown) => schemaFaults(DOCUMENT, schema, value).length;

describe('the check of answers against the document', () => {
  it.each<readonly [string, object, unknown, number]>([
    ['a whole object', PERSON, { id: 'a', name: null }, 0],
    ['a missing field', PERSON, { id: 'a' }, 1],
    ['a field too many', PERSON, { id: 'a', name: null, secret: 'x' }, 1],
    ['a wrong type, deep', { type: 'array', items: PERSON }, [{ id: 1, name: null }], 1],
    ['no list', { type: 'array', items: PERSON }, {}, 1],
    ['one of two', { anyOf: [PERSON, { type: 'null' }] }, null, 0],
    ['none of two', { anyOf: [PERSON, { type: 'null' }] }, 3, 1],
    ['both of two', { oneOf: [{ type: 'number' }, { type: 'integer' }] }, 3, 1],
    ['an option', { enum: ['a', 'b'] }, 'b', 0],
    ['no option', { enum: ['a', 'b'] }, 'c', 1],
    ['a half', { type: 'integer' }, 0.5, 1],
    ['below', { type: 'integer', minimum: 0 }, -1, 1],
    ['an instant', { type: 'string', format: 'date-time' }, '2026-01-01T00:00:00.000Z', 0],
    ['an instant with an offset', { type: 'string', format: 'date-time' }, '2026-01-01T00:00:00.000+01:00', 1],
    ['long in code points', { type: 'string', maxLength: 2 }, '🎈🎈', 0],
    ['too long', { type: 'string', maxLength: 2 }, 'abc', 1],
  ])('%s', (_name, schema, value, count) => {
    expect(faults(schema, value)).toBe(count);
  });

  it('does not pass over what it does not know', () => {
    expect(() => faults({ type: 'string', pattern: 'x' }, 'x')).toThrow('pattern');
    expect(() => faults({ $ref: '#/components/schemas/Nobody' }, 'x')).toThrow('no schema');
  });
});
