import { budgetHeaders, CREDENTIAL_REFUSALS, type CredentialRefusal, RATE_LIMIT, tooManyRequests } from '@bubbles/contracts/access.ts';
import type { Authenticator } from '@bubbles/http/routes/authenticator.ts';
import { bearerToken } from '@bubbles/http/routes/bearer.ts';
import { DomainError, refusal } from '@bubbles/kernel/errors.ts';
import type { App } from '../../app.ts';
import { callerOf } from '../../domain/credential.ts';
import type { Budget } from '../../domain/rate-window.ts';
import { hashToken } from '../../domain/token.ts';
import type { AdmittedAccounts } from './admitted-accounts.ts';

const JWT = /^eyJ[\w-]*\.[\w-]+\.[\w-]+$/;

/** Identity's own: reads the credential itself, by the rule and with the counters that serve the checks of other services. */
export const credentialAuthenticator = (app: Pick<App, 'admitCredentials'>, accounts: AdmittedAccounts): Authenticator => ({
  admit: async ({ authorization, accepts }) => {
    const token = bearerToken(authorization);
    if (token === null) return refused('unauthorized');
    const [admission] = await app.admitCredentials([
      { hash: hashToken(token), jwt: JWT.test(token) ? token : null, accepts, elsewhere: null, counted: true },
    ]);
    if (!admission || admission.outcome === 'refused') return refused(admission?.refusal ?? 'unauthorized');
    const headers = budgetHeaders({ ...admission.budget, limit: RATE_LIMIT });
    if (admission.outcome === 'limited') return { refusal: tooMany(admission.budget), headers };
    const caller = callerOf(admission.credential);
    accounts.remember(caller, admission.credential.account);
    return { caller, headers };
  },
});

const refused = (type: CredentialRefusal) => ({ refusal: refusal(CREDENTIAL_REFUSALS[type]), headers: {} });

const tooMany = ({ resetSeconds }: Budget) =>
  new DomainError('rate_limited', tooManyRequests(RATE_LIMIT), { retryAfterSeconds: resetSeconds });
