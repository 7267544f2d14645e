import { budgetHeaders, CREDENTIAL_REFUSALS, type CredentialRefusal, RATE_LIMIT, tooManyRequests } from '@bubbles/contracts/access.ts';
import type { Authenticator } from '@bubbles/http/routes/authenticator.ts';
import { bearerToken } from '@bubbles/http/routes/bearer.ts';
import { DomainError, refusal } from '@bubbles/kernel/errors.ts';
import type { App } from '../../app.ts';
import { callerOf, type RateDecision } from '../../domain/credential.ts';
import { hashToken } from '../../domain/token.ts';
import type { AdmittedAccounts } from './admitted-accounts.ts';

const JWT = /^eyJ[\w-]*\.[\w-]+\.[\w-]+$/;

/** Identity's own: reads the credential itself, by the rule and with the counters that serve the checks of other services. */
export const credentialAuthenticator = (app: Pick<App, 'checkCredentials'>, accounts: AdmittedAccounts): Authenticator => ({
  admit: async ({ authorization, accepts }) => {
    const token = bearerToken(authorization);
    if (token === null) return refused('unauthorized');
    const [result] = await app.checkCredentials([
      { hash: hashToken(token), jwt: JWT.test(token) ? token : null, accepts, counted: true, countedElsewhere: null },
    ]);
    if (!result || result.outcome === 'refused') return refused(result?.refusal ?? 'unauthorized');
    const headers = budgetHeaders({ ...result.budget, limit: RATE_LIMIT });
    if (result.outcome === 'limited') return { refusal: tooMany(result.budget), headers };
    const caller = callerOf(result.credential);
    accounts.remember(caller, result.credential.account);
    return { caller, headers };
  },
});

const refused = (type: CredentialRefusal) => ({ refusal: refusal(CREDENTIAL_REFUSALS[type]), headers: {} });

const tooMany = ({ resetSeconds }: RateDecision) =>
  new DomainError('rate_limited', tooManyRequests(RATE_LIMIT), { retryAfterSeconds: resetSeconds });
