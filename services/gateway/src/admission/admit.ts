import type { CheckAnswer } from '@bubbles/contracts/internal/checks.ts';
import type { CredentialKind } from '@bubbles/http/routes/route.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import type { AuthClass } from '../documents/fragment.ts';
import { fail, refuse } from '../exchange/answer.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { affinityOf } from '../messages/credential.ts';
import type { Address } from '../upstream/address.ts';
import type { Upstreams } from '../upstream/upstreams.ts';
import { IDENTITY, type IdentityChecks } from './identity-checks.ts';
import { COUNTED_SECONDS } from './known-credentials.ts';

/** What goes with an admitted request: lines for the service and lines for the client. */
export interface Admitted {
  readonly requestHeaders: readonly string[];
  readonly answerHeaders: readonly string[];
}

export const NOTHING: Admitted = { requestHeaders: [], answerHeaders: [] };

const ACCEPTS: Readonly<Record<Exclude<AuthClass, 'none'>, CredentialKind[]>> = {
  pat: ['pat', 'oauth'],
  session: ['session'],
  'pat+session': ['pat', 'oauth', 'session'],
};

const UNCOUNTED = { uncounted: true } as const;
/** In the words of identity, so that an endpoint's owner cannot be told from its refusals. */
const REFUSALS = {
  unauthorized: 'Missing or invalid credentials for this endpoint.',
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

/**
 * Lets identity decide about the credential of a request; answers refusals itself and gives null then. Without identity nobody gets in. Its own routes
 * it guards itself: there it is asked first only about a credential of which it is not known that it was good, so that garbage takes none of their places.
 */
export const admission =
  ({ checks, upstreams }: AdmissionOptions): Admit =>
  async (exchange, { service, auth, again }) => {
    const { credential } = exchange;
    if (credential === null) return refused(exchange, new DomainError('unauthorized', REFUSALS.unauthorized));
    const candidates = upstreams.candidates(IDENTITY, affinityOf(credential));
    const isOwnRoute = service === IDENTITY;
    if (isOwnRoute && checks.mayRelay(credential.hash, candidates)) return NOTHING;
    const check = {
      h: credential.hash,
      jwt: credential.jwt,
      aud: service,
      accepts: ACCEPTS[auth],
      ...((again || isOwnRoute) && UNCOUNTED),
    };
    const answer = await checks.check(check, exchange.caller, candidates);
    if (answer.outcome !== 'unanswered' && answer.outcome !== 'refused') exchange.caller = credential.hash;
    switch (answer.outcome) {
      case 'allowed':
        if (isOwnRoute) return NOTHING;
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

/** Before a request of identity's own routes goes to another replica than the one that was asked: that one is told what was counted. */
export type HandOver = (exchange: Exchange, auth: AuthClass, address: Address) => Promise<void>;

export const handingOver =
  ({ checks }: Pick<AdmissionOptions, 'checks'>): HandOver =>
  async ({ credential, caller }, auth, address) => {
    if (credential === null || auth === 'none' || checks.mayRelay(credential.hash, [address])) return;
    const check = { h: credential.hash, jwt: credential.jwt, aud: IDENTITY, accepts: ACCEPTS[auth], ...UNCOUNTED };
    // Whatever it answers: the replica decides about the request itself.
    await checks.check(check, caller, [address]);
  };

const refused = (exchange: Exchange, error: DomainError, headers: readonly string[] = []): null => {
  refuse(exchange, { error, headers });
  return null;
};

const tooMany = ({ limit, retry_after_seconds }: Extract<CheckAnswer, { outcome: 'limited' }>): DomainError =>
  new DomainError('rate_limited', `More than ${limit} requests in ${COUNTED_SECONDS} seconds.`, {
    retryAfterSeconds: retry_after_seconds,
  });

type Budget = Pick<Extract<CheckAnswer, { outcome: 'allowed' }>, 'limit' | 'remaining' | 'reset_seconds'>;

/** IETF draft "RateLimit header fields for HTTP", in the form that identity writes on its own answers. */
const budgetHeaders = ({ limit, remaining, reset_seconds }: Budget): readonly string[] => [
  'RateLimit-Policy',
  `"default";q=${limit};w=${COUNTED_SECONDS}`,
  'RateLimit',
  `"default";r=${remaining};t=${reset_seconds}`,
];
