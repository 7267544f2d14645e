import { DomainError } from '@bubbles/kernel/errors.ts';
import { ISSUE_WORDING } from '@bubbles/kernel/issue-wording.ts';
import type { ZodType } from 'zod';

const MAX_REPORTED = 5;
const MAX_MESSAGE_LENGTH = 400;

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
  /** Of an object that takes no others: the fields that it does not have. */
  readonly keys?: readonly string[];
}

/** `path: reason`, without the values. */
const describe = (issues: readonly Issue[], root: string): string =>
  issues
    .flatMap(
      ({ path, message, keys }) => keys?.map((key) => ({ path: [...path, key], message: 'there is no such field' })) ?? { path, message },
    )
    .slice(0, MAX_REPORTED)
    .map(({ path, message }) => `${path.length === 0 ? root : path.map(String).join('.')}: ${message}`)
    .join('; ')
    .slice(0, MAX_MESSAGE_LENGTH)
    .toWellFormed();

/** What the caller sent, or `DomainError('invalid')` naming each faulty field. */
export const parseInput = (schema: ZodType, value: unknown, root: 'query' | 'body'): unknown => {
  const parsed = schema.safeParse(value, ISSUE_WORDING);
  if (parsed.success) return parsed.data;
  throw new DomainError('invalid', describe(parsed.error.issues, root));
};

/** What a handler returns, stripped to its schema; a mismatch is our fault and is reported without the values. */
export const parseOutput = (schema: ZodType, value: unknown): unknown => {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new DomainError('internal', 'Unexpected response.', {
    cause: new Error(`response does not match its schema: ${describe(parsed.error.issues, 'response')}`),
  });
};
