import { z } from 'zod';

/** The words of "who may call": services, gateway and clients share them, and nothing else says them again. */
export const ROLES = ['admin', 'member', 'guest'] as const;
export type Role = (typeof ROLES)[number];

export const PLANS = ['free', 'pro'] as const;
export type Plan = (typeof PLANS)[number];

export const ACCOUNT_STATES = ['active', 'disabled', 'deleted'] as const;
export type AccountState = (typeof ACCOUNT_STATES)[number];

/** What an app may be granted, with the text that the API's document shows. */
export const SCOPES = {
  'bubbles:read': 'Read bubbles, transcripts, comments and summaries.',
  'webhooks:manage': 'Create and manage webhook subscriptions.',
  'meetings:join': 'Send the notetaker to join and record a meeting.',
} as const;

/** Personal access token, OAuth access token, signed-in session of the app. */
export const CREDENTIAL_KINDS = ['pat', 'oauth', 'session'] as const;
export type CredentialKind = (typeof CREDENTIAL_KINDS)[number];

/**
 * Who calls with what: a credential, or `app`, which is a page of the product that calls for the person who is signed in there. No token is of that kind, so the
 * gateway never asks for it; identity says it of its own pages alone.
 */
type CallerKind = CredentialKind | 'app';

/** The kinds of credential that a route takes, by its mark `x-gw-auth`. */
export const ACCEPTED_KINDS = {
  pat: ['pat', 'oauth'],
  session: ['session'],
  'pat+session': ['pat', 'oauth', 'session'],
} as const satisfies Record<string, readonly CredentialKind[]>;

/** A page may what a personal access token with its scopes may. */
export const isAccepted = (kind: CallerKind, accepts: readonly CredentialKind[]): boolean =>
  accepts.includes(kind === 'app' ? 'pat' : kind);

/** The form of a JWT, with its payload as the group. Such a token proves itself by its signature; any other is looked up, and crosses the wire as its hash. */
export const JWT_FORM = /^eyJ[\w-]*\.([\w-]+)\.[\w-]+$/;

/** Names of the security schemes, which the API's document defines; `internal` is the token of a service. */
export const SECURITY_SCHEMES = { pat: 'personalAccessToken', oauth: 'oauth2', session: 'appSession', internal: 'serviceToken' } as const;

/** The authenticated caller. It has no list of teams, because their number has no bound: a service asks identity for them. */
export interface Caller {
  readonly userId: string;
  /** Life of the account: incremented when a deleted account is reopened; everything of an earlier life has ended. */
  readonly life: number;
  /** The key, the session or the OAuth grant; of a page the session. */
  readonly credentialId: string;
  readonly kind: CallerKind;
  readonly scopes: readonly string[];
}

/** Scopes limit what an app was granted, and what a page does; a session is the user in person. */
export const hasScope = ({ kind, scopes }: Pick<Caller, 'kind' | 'scopes'>, scope: string): boolean =>
  kind === 'session' || scopes.includes(scope);

/** The claims of an assertion: what identity says of a caller to one service. */
export interface AssertionClaims {
  readonly sub: string;
  readonly cid: string;
  readonly kind: CallerKind;
  readonly scopes: readonly string[];
  readonly life: number;
  /** Version of the account document from which it was made. */
  readonly epoch: number;
  /** Seconds. */
  readonly iat: number;
  readonly exp: number;
}

export const ERROR_TYPES = [
  'invalid_request',
  'unauthorized',
  'token_revoked',
  'account_deleted',
  'forbidden',
  'pro_plan_required',
  'not_found',
  'rate_limited',
  'internal_error',
] as const;

/** The body of every refusal. */
export const ErrorEnvelope = z
  .object({ error: z.object({ type: z.enum(ERROR_TYPES).meta({ id: 'ErrorType' }), message: z.string() }) })
  .meta({ id: 'ErrorEnvelope' });

/** A refusal of the product: `kind` gives its status, `type` stands in the envelope. */
interface Refusal {
  readonly kind: 'unauthorized' | 'forbidden';
  readonly type: (typeof ERROR_TYPES)[number];
  readonly message: string;
}

/** Why a credential is not accepted. */
export const CredentialRefusal = z.enum(['unauthorized', 'account_deleted', 'token_revoked']);
export type CredentialRefusal = z.infer<typeof CredentialRefusal>;

/** One text at every endpoint, so that a refusal does not tell which service serves it. */
export const CREDENTIAL_REFUSALS: Readonly<Record<CredentialRefusal, Refusal>> = {
  unauthorized: { kind: 'unauthorized', type: 'unauthorized', message: 'Missing or invalid credentials for this endpoint.' },
  token_revoked: { kind: 'unauthorized', type: 'token_revoked', message: 'This API key has been revoked.' },
  account_deleted: { kind: 'unauthorized', type: 'account_deleted', message: 'The account of this credential is closed.' },
};

/** Why the plan of the caller's teams does not include a feature. */
export const PLAN_REFUSALS = {
  webhooks: { kind: 'forbidden', type: 'pro_plan_required', message: 'Webhooks need a workspace with paid-feature access.' },
  apiKeys: {
    kind: 'forbidden',
    type: 'pro_plan_required',
    message: 'API keys need a workspace on the pro plan in which you are an admin or a member.',
  },
} as const satisfies Record<string, Refusal>;

/** Requests of one credential in one window. */
export const RATE_LIMIT = 120;
export const RATE_WINDOW_SECONDS = 60;

/** What is left of a credential's requests in the window. */
export interface Budget {
  readonly limit: number;
  readonly remaining: number;
  readonly resetSeconds: number;
}

export const RATE_LIMIT_HEADERS = ['RateLimit', 'RateLimit-Policy'] as const;

/** RateLimit header fields for HTTP, an IETF draft: beside every answer to a credential that is accepted. */
export const budgetHeaders = ({ limit, remaining, resetSeconds }: Budget): Record<(typeof RATE_LIMIT_HEADERS)[number], string> => ({
  'RateLimit-Policy': `"default";q=${limit};w=${RATE_WINDOW_SECONDS}`,
  RateLimit: `"default";r=${remaining};t=${resetSeconds}`,
});

const POLICY = /^"default";q=(\d+);/;
const REMAINING = /^"default";r=(\d+);t=(\d+)$/;

/** Reads what `budgetHeaders` wrote; null without it. */
export const budgetIn = (headers: Readonly<Record<string, unknown>>): Budget | null => {
  const [, limit] = POLICY.exec(String(headers['ratelimit-policy'])) ?? [];
  const [, remaining, reset] = REMAINING.exec(String(headers['ratelimit'])) ?? [];
  if (limit === undefined || remaining === undefined || reset === undefined) return null;
  return { limit: Number(limit), remaining: Number(remaining), resetSeconds: Number(reset) };
};

export const tooManyRequests = (limit: number): string => `More than ${limit} requests in ${RATE_WINDOW_SECONDS} seconds.`;

/** The errors of the API, for its document. */
export const API_ERRORS = {
  envelope: ErrorEnvelope,
  refusals: [...Object.values(CREDENTIAL_REFUSALS), ...Object.values(PLAN_REFUSALS)],
  examples: {
    invalid: 'limit: must be a whole number from 1 to 100',
    limit_reached: 'There are 10 active keys already. Revoke one first.',
    rate_limited: tooManyRequests(RATE_LIMIT),
  },
} as const;
