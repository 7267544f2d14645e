import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { ISSUE_WORDING } from './errors.ts';

const reasonOf = (schema: z.ZodType, value: unknown): readonly string[] =>
  (schema.safeParse(value, ISSUE_WORDING).error?.issues ?? []).map(({ message }) => message);

describe('what is wrong with a value', () => {
  it.each([
    [z.string(), undefined, 'is required'],
    [z.string(), null, 'must be a string, not null'],
    [z.int(), '1', 'must be a number, not a string'],
    [z.int(), 1.5, 'must be a whole number'],
    [z.number(), Number.NaN, 'must be a number'],
    [z.boolean(), [], 'must be true or false, not a list'],
    [z.array(z.string()), {}, 'must be a list, not an object'],
    [z.object({}), 'x', 'must be an object, not a string'],
    [z.string().min(2), 'x', 'must have at least 2 characters'],
    [z.array(z.string()).max(1), ['a', 'b'], 'must have at most 1 item'],
    [z.number().max(3), 4, 'must be at most 3'],
    [z.number().positive(), 0, 'must be more than 0'],
    [z.number().lt(3), 3, 'must be less than 3'],
    [z.enum(['a', 'b']), 'c', 'must be one of "a", "b"'],
    [z.literal('a'), 'c', 'must be "a"'],
    [z.iso.datetime(), 'monday', 'must be a time with its zone such as 2026-01-31T09:30:00Z'],
    [z.uuid(), 'x', 'must be a UUID'],
    [z.string().min(1, 'must not be empty'), '', 'must not be empty'],
  ])('is said in the words of the other refusals: %#', (schema, value, reason) => {
    expect(reasonOf(schema, value)).toEqual([reason]);
  });
});
