import type { DomainError, ErrorKind, Refusal } from '@bubbles/kernel/errors.ts';
import { z } from 'zod';
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

export interface ErrorAnswer {
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
  const { status, type: typeOfKind } = HTTP_ERRORS[error.kind];
  const type = error.type ?? typeOfKind;
  const message = tellsFaults ? error.message : (FIXED_MESSAGES[error.kind] ?? error.message);
  const { contentType, write } = FORMATS[format];
  return { status, type, contentType, headers: headersOf(error, status, publicBaseUrl), body: write({ status, type, message }) };
};

interface WrittenFormat {
  readonly contentType: string;
  readonly write: (error: { readonly status: number; readonly type: string; readonly message: string }) => string;
}

const JSON_TYPE = 'application/json; charset=utf-8';

const FORMATS: Readonly<Record<ErrorFormat, WrittenFormat>> = {
  envelope: { contentType: JSON_TYPE, write: ({ type, message }) => envelope(type, message) },
  rfc6749: {
    contentType: JSON_TYPE,
    write: ({ status, type, message }) => JSON.stringify({ error: status >= 500 ? 'server_error' : type, error_description: message }),
  },
  page: { contentType: 'text/html; charset=utf-8', write: ({ status, message }) => errorPage(TITLES[status] ?? 'Error', message) },
};

/** A list of its own: an import of `node:http` would load all of Node's fetch. */
const TITLES: Readonly<Record<number, string>> = {
  400: 'Bad request',
  401: 'Not signed in',
  403: 'Not allowed',
  404: 'Not found',
  409: 'Conflict',
  429: 'Too many requests',
  500: 'Something went wrong',
};

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? '');

const errorPage = (title: string, message: string): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escaped(title)}</title></head><body><h1>${escaped(title)}</h1><p>${escaped(message)}</p></body></html>`;

const headersOf = (error: DomainError, status: number, publicBaseUrl: string): Record<string, string> => {
  if (status === 401) return { 'WWW-Authenticate': `Bearer resource_metadata="${resourceMetadataUrl(publicBaseUrl)}"` };
  const waits = error.kind === 'rate_limited' || error.kind === 'unavailable';
  if (waits || error.retryAfterSeconds !== null) return { 'Retry-After': String(Math.max(1, Math.ceil(error.retryAfterSeconds ?? 1))) };
  return {};
};
