import { DomainError, type ErrorKind, errorCode, isDomainError, type Refusal } from '@bubbles/kernel/errors.ts';
import { z } from 'zod';

/** The form of an error's body; the product's contract lists the types that there are. */
export const ErrorBody = z.object({ error: z.object({ type: z.string(), message: z.string() }) });

/** The errors of a product, for its document: the schema of their body, and its refusals beyond the kinds. */
export interface ErrorCatalog {
  readonly envelope: z.ZodType;
  readonly refusals: readonly Refusal[];
}

/** The one table that turns refusals into HTTP. `type` is what the body says of a refusal that has none of its own. */
export const HTTP_ERRORS = {
  invalid: { status: 400, type: 'invalid_request' },
  limit_reached: { status: 409, type: 'invalid_request' },
  out_of_order: { status: 409, type: 'invalid_request' },
  unauthorized: { status: 401, type: 'unauthorized' },
  forbidden: { status: 403, type: 'forbidden' },
  not_found: { status: 404, type: 'not_found' },
  rate_limited: { status: 429, type: 'rate_limited' },
  unavailable: { status: 500, type: 'internal_error' },
  internal: { status: 500, type: 'internal_error' },
} as const satisfies Record<ErrorKind, { status: number; type: string }>;

/** Every 404 says this and nothing else, so that what is hidden cannot be told from what does not exist. */
export const NOT_FOUND_MESSAGE = 'Not found.';
export const INTERNAL_ERROR_MESSAGE = 'Something went wrong on our side. Please try again.';

const FIXED_MESSAGES: Partial<Record<ErrorKind, string>> = {
  not_found: NOT_FOUND_MESSAGE,
  unavailable: INTERNAL_ERROR_MESSAGE,
  internal: INTERNAL_ERROR_MESSAGE,
};

export interface ErrorAnswer {
  readonly status: number;
  readonly type: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export const envelope = (type: string, message: string): string => JSON.stringify({ error: { type, message } });

/** Where a client that was refused learns how to get a token (RFC 9728). */
export const resourceMetadataUrl = (publicBaseUrl: string): string => `${publicBaseUrl}/.well-known/oauth-protected-resource`;

/** RFC 6750, section 3. */
export const insufficientScope = (scope: string, publicBaseUrl: string): string =>
  `Bearer error="insufficient_scope", scope="${scope}", resource_metadata="${resourceMetadataUrl(publicBaseUrl)}"`;

const CALLER_IS_GONE: readonly (string | number | null)[] = ['ECONNRESET', 'EPIPE', 'ECONNABORTED'];

/** An answer could not be written because nobody is there any more: no fault of anybody's. */
export const isCallerGone = (error: unknown): boolean => CALLER_IS_GONE.includes(errorCode(error));

/** What is thrown that is not a `DomainError` is a fault of ours. */
export const asDomainError = (error: unknown): DomainError =>
  isDomainError(error) ? error : new DomainError('internal', INTERNAL_ERROR_MESSAGE, { cause: error });

export const answerOf = (error: DomainError, publicBaseUrl: string, tellsFaults = false): ErrorAnswer => {
  const { status, type: typeOfKind } = HTTP_ERRORS[error.kind];
  const type = error.type ?? typeOfKind;
  const message = tellsFaults ? error.message : (FIXED_MESSAGES[error.kind] ?? error.message);
  return { status, type, headers: headersOf(error, status, publicBaseUrl), body: envelope(type, message) };
};

const headersOf = (error: DomainError, status: number, publicBaseUrl: string): Record<string, string> => {
  if (status === 401) return { 'WWW-Authenticate': `Bearer resource_metadata="${resourceMetadataUrl(publicBaseUrl)}"` };
  const waits = error.kind === 'rate_limited' || error.kind === 'unavailable';
  if (waits || error.retryAfterSeconds !== null) return { 'Retry-After': String(Math.max(1, Math.ceil(error.retryAfterSeconds ?? 1))) };
  return {};
};
