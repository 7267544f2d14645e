import type { CheckAnswer } from '@bubbles/contracts/internal/checks.ts';
import { DomainError } from '@bubbles/shared/errors.ts';
import type { CredentialKind } from '@bubbles/shared/http/route.ts';
import type { AuthClass } from '../domain/fragment.ts';
import { fail, refuse } from '../edge/answer.ts';
import type { Exchange } from '../edge/exchange.ts';
import type { Upstreams } from '../upstream/upstreams.ts';
import { affinityOf, credentialOf } from './credential.ts';
import { IDENTITY, type IdentityChecks } from './identity-checks.ts';

/** What goes with an admitted request: lines for the service and lines for the client. */
export interface Admitted {
  readonly requestHeaders: readonly string[];
  readonly answerHeaders: readonly string[];
}

const ACCEPTS: Readonly<Record<Exclude<AuthClass, 'none'>, CredentialKind[]>> = {
  pat: ['pat', 'oauth'],
  session: ['session'],
  'pat+session': ['pat', 'oauth', 'session'],
};

const UNCOUNTED = { uncounted: true } as const;
const RATE_WINDOW_SECONDS = 60;
/** In the words of identity, so that an endpoint's owner cannot be told from its refusals. */
const REFUSALS = {
  unauthorized: 'A valid credential of a kind that this endpoint accepts is needed.',
  account_deleted: 'The account of this credential is closed.',
  token_revoked: 'This API key has been revoked.',
} as const;

interface AdmissionOptions {
  readonly checks: IdentityChecks;
  readonly upstreams: Upstreams;
}

export interface AdmissionQuestion {
  readonly service: string;
  readonly auth: Exclude<AuthClass, 'none'>;
  /** The request was admitted and counted when its head came. */
  readonly again: boolean;
}

export type Admit = (exchange: Exchange, question: AdmissionQuestion) => Promise<Admitted | null>;

/** Lets identity decide about the credential of a request; answers refusals itself and gives null then. Without identity nobody gets in. */
export const admission =
  ({ checks, upstreams }: AdmissionOptions): Admit =>
  async (exchange, { service, auth, again }) => {
    const credential = credentialOf(exchange.head.authorization);
    if (credential === null) return refuseWithout(exchange);
    const check = { h: credential.hash, jwt: credential.jwt, aud: service, accepts: ACCEPTS[auth], ...(again && UNCOUNTED) };
    const answer = await checks.check(check, upstreams.candidates(IDENTITY, affinityOf(credential)));
    switch (answer.outcome) {
      case 'allowed':
        return { requestHeaders: ['X-Internal-Assertion', answer.assertion], answerHeaders: budgetHeaders(answer) };
      case 'limited':
        return refused(exchange, tooMany(answer), budgetHeaders(answer));
      case 'refused':
        return refused(exchange, new DomainError(answer.type, REFUSALS[answer.type]));
      case 'unanswered':
        fail(exchange, answer.reason, answer.error);
        return null;
    }
  };

/** Refuses a request without anything that could be a credential, before its body is read. */
export const refuseWithout = (exchange: Exchange): null => refused(exchange, new DomainError('unauthorized', REFUSALS.unauthorized));

const refused = (exchange: Exchange, error: DomainError, headers: readonly string[] = []): null => {
  refuse(exchange, { error, headers });
  return null;
};

const tooMany = ({ limit, retry_after_seconds }: Extract<CheckAnswer, { outcome: 'limited' }>): DomainError =>
  new DomainError('rate_limited', `More than ${limit} requests in ${RATE_WINDOW_SECONDS} seconds.`, {
    retryAfterSeconds: retry_after_seconds,
  });

type Budget = Pick<Extract<CheckAnswer, { outcome: 'allowed' }>, 'limit' | 'remaining' | 'reset_seconds'>;

/** IETF draft "RateLimit header fields for HTTP", in the form that identity writes on its own answers. */
const budgetHeaders = ({ limit, remaining, reset_seconds }: Budget): readonly string[] => [
  'RateLimit-Policy',
  `"default";q=${limit};w=${RATE_WINDOW_SECONDS}`,
  'RateLimit',
  `"default";r=${remaining};t=${reset_seconds}`,
];
