import { ACCEPTED_KINDS, budgetHeaders, CREDENTIAL_REFUSALS, tooManyRequests } from '@bubbles/contracts/access.ts';
import type { CheckAnswer } from '@bubbles/contracts/internal/checks.ts';
import { DomainError, refusal } from '@bubbles/kernel/errors.ts';
import type { AuthClass } from '../documents/fragment.ts';
import { fail, refuse } from '../exchange/answer.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { affinityOf } from '../messages/credential.ts';
import type { Address } from '../upstream/address.ts';
import type { Upstreams } from '../upstream/upstreams.ts';
import { IDENTITY, type IdentityChecks } from './identity-checks.ts';

/** What goes with an admitted request: lines for the service and lines for the client. */
export interface Admitted {
  readonly requestHeaders: readonly string[];
  readonly answerHeaders: readonly string[];
}

export const NOTHING: Admitted = { requestHeaders: [], answerHeaders: [] };

const UNCOUNTED = { uncounted: true } as const;

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
    if (credential === null) return refused(exchange, refusal(CREDENTIAL_REFUSALS.unauthorized));
    const candidates = upstreams.candidates(IDENTITY, affinityOf(credential));
    const isOwnRoute = service === IDENTITY;
    if (isOwnRoute && checks.mayRelay(credential.hash, candidates)) return NOTHING;
    const check = {
      h: credential.hash,
      jwt: credential.jwt,
      aud: service,
      accepts: [...ACCEPTED_KINDS[auth]],
      ...((again || isOwnRoute) && UNCOUNTED),
    };
    const answer = await checks.check(check, exchange.caller, candidates);
    if (answer.outcome !== 'unanswered' && answer.outcome !== 'refused') exchange.caller = credential.hash;
    switch (answer.outcome) {
      case 'allowed':
        if (isOwnRoute) return NOTHING;
        return { requestHeaders: ['X-Internal-Assertion', answer.assertion], answerHeaders: budgetLines(answer) };
      case 'limited':
        return refused(exchange, tooMany(answer), budgetLines(answer));
      case 'refused':
        return refused(exchange, refusal(CREDENTIAL_REFUSALS[answer.type]));
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
    const check = { h: credential.hash, jwt: credential.jwt, aud: IDENTITY, accepts: [...ACCEPTED_KINDS[auth]], ...UNCOUNTED };
    // Whatever it answers: the replica decides about the request itself.
    await checks.check(check, caller, [address]);
  };

const refused = (exchange: Exchange, error: DomainError, headers: readonly string[] = []): null => {
  refuse(exchange, { error, headers });
  return null;
};

const tooMany = ({ limit, retry_after_seconds }: Extract<CheckAnswer, { outcome: 'limited' }>): DomainError =>
  new DomainError('rate_limited', tooManyRequests(limit), { retryAfterSeconds: retry_after_seconds });

const budgetLines = ({ limit, remaining, reset_seconds }: Exclude<CheckAnswer, { outcome: 'refused' }>): readonly string[] =>
  Object.entries(budgetHeaders({ limit, remaining, resetSeconds: reset_seconds })).flat();
