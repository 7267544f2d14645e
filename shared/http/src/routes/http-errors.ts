import type { DomainError, ErrorKind, Refusal } from '@bubbles/kernel/errors.ts';
import { z } from 'zod';
import { BodyTooLarge } from '../wire/read-body.ts';
import { markup, pageOf } from './markup.ts';
import type { ErrorFormat } from './route.ts';

/** The form of an error's body; the product's contract lists the types that there are. */
export const ErrorBody = z.object({ error: z.object({ type: z.string(), message: z.string() }) });

/** The errors of a product, for its document: the schema of their body, and its refusals beyond the kinds. */
export interface ErrorCatalog {
  readonly envelope: z.ZodType;
  readonly refusals: readonly Refusal[];
  /** What such a refusal says, for example. */
  readonly examples: Readonly<Record<'invalid' | 'limit_reached' | 'rate_limited', string>>;
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

interface ErrorAnswer {
  readonly status: number;
  readonly type: string;
  readonly contentType: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export const envelope = (type: string, message: string): string => JSON.stringify({ error: { type, message } });

/** Where a client that was refused learns how to get a token (RFC 9728). */
export const resourceMetadataUrl = (publicBaseUrl: string): string => `${publicBaseUrl}/.well-known/oauth-protected-resource`;

interface ErrorWriting {
  readonly format?: ErrorFormat;
  /** For an operator: what failed on our side, and what there is not. */
  readonly tellsFaults?: boolean | undefined;
}

export const answerOf = (
  error: DomainError,
  publicBaseUrl: string,
  { format = 'envelope', tellsFaults = false }: ErrorWriting = {},
): ErrorAnswer => {
  const { status: statusOfKind, type: typeOfKind } = HTTP_ERRORS[error.kind];
  // The interface knows no 413.
  const status = error instanceof BodyTooLarge && format !== 'envelope' ? 413 : statusOfKind;
  const type = error.type ?? typeOfKind;
  const message = tellsFaults ? error.message : (FIXED_MESSAGES[error.kind] ?? error.message);
  const { contentType, write } = FORMATS[format];
  return { status, type, contentType, headers: headersOf(error, format, publicBaseUrl), body: write({ status, type, message }) };
};

interface WrittenFormat {
  readonly contentType: string;
  readonly write: (error: { readonly status: number; readonly type: string; readonly message: string }) => string;
}

const JSON_TYPE = 'application/json; charset=utf-8';

/** RFC 6749, 5.2: a description has no quotes, no backslash and nothing but ASCII. */
const describable = (message: string): string => message.replaceAll('"', "'").replaceAll(/[^\x20-\x5b\x5d-\x7e]/g, '?');

/** A list of its own: an import of `node:http` would load all of Node's fetch. */
const TITLES: Readonly<Record<number, string>> = {
  400: 'Bad request',
  401: 'Not signed in',
  403: 'Not allowed',
  404: 'Not found',
  409: 'Conflict',
  413: 'Too large',
  429: 'Too many requests',
  500: 'Something went wrong',
};

/** What a person reads in place of the words for programs. */
const PAGE_TEXTS: Readonly<Record<number, string>> = {
  404: 'There is no page at this address.',
  413: 'What you sent is too large. Nothing was changed.',
};

const errorPage: WrittenFormat['write'] = ({ status, message }) => {
  const title = TITLES[status] ?? 'Error';
  return pageOf({ title, main: markup`<h1>${title}</h1><p>${PAGE_TEXTS[status] ?? message}</p>` }).text;
};

const FORMATS: Readonly<Record<ErrorFormat, WrittenFormat>> = {
  envelope: { contentType: JSON_TYPE, write: ({ type, message }) => envelope(type, message) },
  rfc6749: {
    contentType: JSON_TYPE,
    write: ({ status, type, message }) =>
      JSON.stringify({ error: status >= 500 ? 'server_error' : type, error_description: describable(message) }),
  },
  page: { contentType: 'text/html; charset=utf-8', write: errorPage },
};

/** The challenge is for clients of the API; one at an OAuth endpoint is its guard's to write. */
const headersOf = (error: DomainError, format: ErrorFormat, publicBaseUrl: string): Record<string, string> => {
  if (error.kind === 'unauthorized' && format === 'envelope')
    return { 'WWW-Authenticate': `Bearer resource_metadata="${resourceMetadataUrl(publicBaseUrl)}"` };
  const waits = error.kind === 'rate_limited' || error.kind === 'unavailable';
  if (waits || error.retryAfterSeconds !== null) return { 'Retry-After': String(Math.max(1, Math.ceil(error.retryAfterSeconds ?? 1))) };
  return {};
};
