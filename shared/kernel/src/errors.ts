import type { z } from 'zod';

/** The kinds of refusal. `http/routes/http-errors.ts` holds the one table that turns them into HTTP. */
export type ErrorKind =
  | 'invalid'
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'limit_reached'
  | 'out_of_order'
  | 'rate_limited'
  | 'unavailable'
  | 'internal';

interface DomainErrorOptions {
  readonly cause?: unknown;
  /** Whole seconds after which the same call may pass; sent as `Retry-After`. */
  readonly retryAfterSeconds?: number;
  /** What the error envelope calls it, where the product tells it from others of its kind. */
  readonly type?: string;
}

/** A refusal. The message is for the caller (no secret, no host, no driver text), the cause for the log. */
export class DomainError extends Error {
  readonly kind: ErrorKind;
  readonly retryAfterSeconds: number | null;
  readonly type: string | null;

  constructor(kind: ErrorKind, message: string, options: DomainErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'DomainError';
    this.kind = kind;
    this.retryAfterSeconds = options.retryAfterSeconds ?? null;
    this.type = options.type ?? null;
  }
}

/** A refusal as the product states it, in one place for all who refuse so. */
export interface Refusal {
  readonly kind: ErrorKind;
  readonly type: string;
  readonly message: string;
}

export const refusal = ({ kind, type, message }: Refusal, cause?: unknown): DomainError => new DomainError(kind, message, { type, cause });

/** True also for errors of another realm (jest runs tests in a vm context, where `instanceof` fails on node-core errors). */
export const isDomainError = (error: unknown): error is DomainError =>
  Error.isError(error) && error.name === 'DomainError' && 'kind' in error;

/** The caller's own trouble: the same may pass when it is tried again. */
export const isUnavailable = (error: unknown): boolean => isDomainError(error) && error.kind === 'unavailable';

/** The `code` of a node or driver error, or null. */
export const errorCode = (error: unknown): string | number | null => {
  if (!Error.isError(error) || !('code' in error)) return null;
  return typeof error.code === 'string' || typeof error.code === 'number' ? error.code : null;
};

const ABSENCE_CODES: ReadonlySet<string | undefined> = new Set(['invalid_type', 'invalid_value', 'invalid_union']);

const KINDS: Readonly<Record<string, string>> = {
  array: 'a list',
  boolean: 'true or false',
  int: 'a whole number',
  nan: 'a number',
  null: 'null',
  number: 'a number',
  object: 'an object',
  record: 'an object',
  string: 'a string',
};

const UNITS: Readonly<Record<string, string>> = { array: 'item', string: 'character' };

/** A length in its unit, or a number. */
const limit = (origin: string, bound: string, value: number | bigint): string => {
  const unit = UNITS[origin];
  if (unit === undefined) return `must be ${bound} ${value}`;
  return `must have ${bound} ${value} ${unit}${Number(value) === 1 ? '' : 's'}`;
};

const kindOf = (input: unknown): string | undefined => KINDS[input === null ? 'null' : Array.isArray(input) ? 'array' : typeof input];

const wrongKind = (expected: string, input: unknown): string | undefined => {
  const wanted = KINDS[expected];
  if (wanted === undefined) return undefined;
  const received = kindOf(input);
  // Of a fraction or NaN it would say that a number is not a number.
  const isOtherKind = received !== undefined && (received !== KINDS['number'] || !wanted.endsWith('number'));
  return isOtherKind ? `must be ${wanted}, not ${received}` : `must be ${wanted}`;
};

const FORMATS: Readonly<Record<string, string>> = {
  date: 'must be a date such as 2026-01-31',
  datetime: 'must be a time with its zone such as 2026-01-31T09:30:00Z',
  email: 'must be an e-mail address',
  url: 'must be an absolute URL',
  uuid: 'must be a UUID',
};

/** For zod: the reasons in the words of the other refusals. An absent value "is required". What is undefined here keeps zod's own words. */
export const ISSUE_WORDING = {
  error: (issue: z.core.$ZodRawIssue): string | undefined => {
    if (issue.input === undefined && ABSENCE_CODES.has(issue.code)) return 'is required';
    switch (issue.code) {
      case 'invalid_type':
        return wrongKind(issue.expected, issue.input);
      case 'invalid_value':
        return `must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.map((value) => JSON.stringify(value)).join(', ')}`;
      case 'too_big':
        return limit(issue.origin, issue.inclusive === false ? 'less than' : 'at most', issue.maximum);
      case 'too_small':
        return limit(issue.origin, issue.inclusive === false ? 'more than' : 'at least', issue.minimum);
      case 'invalid_format':
        return FORMATS[issue.format];
      default:
        return undefined;
    }
  },
};
