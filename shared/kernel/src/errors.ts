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

interface RawIssue {
  readonly code?: string | undefined;
  readonly input?: unknown;
}

const ABSENCE_CODES: ReadonlySet<string | undefined> = new Set(['invalid_type', 'invalid_value', 'invalid_union']);

/** For zod: an absent value "is required", where zod would say that undefined has the wrong type. */
export const ISSUE_WORDING = {
  error: ({ code, input }: RawIssue): string | undefined => (input === undefined && ABSENCE_CODES.has(code) ? 'is required' : undefined),
};
