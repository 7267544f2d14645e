import { ACCEPTED_KINDS, budgetHeaders, CREDENTIAL_REFUSALS, tooManyRequests } from '@bubbles/contracts/access.ts';
import type { CredentialCheck } from '@bubbles/contracts/internal/identity.ts';
import { DomainError, refusal } from '@bubbles/kernel/errors.ts';
import type { Operation } from '../documents/fragment.ts';
import { type Exchange, fail, refuse } from '../exchange/exchange.ts';
import { affinityOf, type BearerToken } from '../messages/request.ts';
import type { Address } from '../upstream/address.ts';
import type { Upstreams } from '../upstream/upstreams.ts';
import type { CheckResult } from './check-answers.ts';
import { IDENTITY, type IdentityChecks, type Unanswered } from './identity-checks.ts';

/** Header lines that go with an admitted request. */
interface Admitted {
  readonly forService: readonly string[];
  readonly forClient: readonly string[];
}

const NOTHING: Admitted = { forService: [], forClient: [] };

interface AdmissionOptions {
  readonly checks: IdentityChecks;
  readonly upstreams: Upstreams;
}

/** Lets identity decide about the credential of a request. Without identity nobody gets in. */
export interface Admission {
  /**
   * Answers refusals itself and gives null then. `again`: the request was admitted and counted when its head came. Identity guards its own routes: there only
   * a credential that was not good a short time ago is checked first, so that garbage takes none of their places.
   */
  admit(exchange: Exchange, operation: Operation, again: boolean): Promise<Admitted | null>;
  /** Before a request of identity's own routes goes to another replica than the one that was asked: tells that one what was counted. */
  handOver(exchange: Exchange, operation: Operation, address: Address): Promise<void>;
}

export const createAdmission = ({ checks, upstreams }: AdmissionOptions): Admission => ({
  admit: async (exchange, operation, again) => {
    if (operation.auth === 'none') return NOTHING;
    const { credential } = exchange;
    if (credential === null) {
      refuse(exchange, { error: refusal(CREDENTIAL_REFUSALS.unauthorized) });
      return null;
    }
    const candidates = upstreams.candidates(IDENTITY, affinityOf(credential));
    const isOwnRoute = operation.service === IDENTITY;
    if (isOwnRoute && checks.mayRelay(credential.hash, candidates)) return NOTHING;
    const check = checkOf(credential, operation, again || isOwnRoute);
    const answer = await checks.check(check, exchange, candidates);
    if (answer.outcome === 'allowed' || answer.outcome === 'limited') exchange.caller = credential.hash;
    if (answer.outcome !== 'allowed') return refused(exchange, answer);
    return isOwnRoute ? NOTHING : { forService: ['X-Internal-Assertion', answer.assertion], forClient: budgetLines(answer) };
  },
  handOver: async (exchange, operation, address) => {
    const { credential } = exchange;
    if (credential === null || operation.auth === 'none' || checks.mayRelay(credential.hash, [address])) return;
    // Whatever it answers: the replica decides about the request itself.
    await checks.check(checkOf(credential, operation, true), exchange, [address]);
  },
});

/** `uncounted`: the request is counted elsewhere, or was when its head came. */
const checkOf = ({ hash, jwt }: BearerToken, { service, auth }: Operation, uncounted: boolean): CredentialCheck => {
  const accepts = auth === 'none' ? [] : [...ACCEPTED_KINDS[auth]];
  return { h: hash, jwt, aud: service, accepts, ...(uncounted && { uncounted }) };
};

const refused = (exchange: Exchange, answer: Exclude<CheckResult, { outcome: 'allowed' }> | Unanswered): null => {
  if (answer.outcome === 'unanswered') fail(exchange, answer.reason, { cause: answer.error, upstream: IDENTITY });
  else if (answer.outcome === 'refused') refuse(exchange, { error: refusal(CREDENTIAL_REFUSALS[answer.type]) });
  else {
    const { limit, retry_after_seconds: retryAfterSeconds } = answer;
    refuse(exchange, {
      error: new DomainError('rate_limited', tooManyRequests(limit), { retryAfterSeconds }),
      headers: budgetLines(answer),
    });
  }
  return null;
};

const budgetLines = ({ limit, remaining, reset_seconds }: Exclude<CheckResult, { outcome: 'refused' }>): readonly string[] =>
  Object.entries(budgetHeaders({ limit, remaining, resetSeconds: reset_seconds })).flat();
