import type { Authenticator } from '@bubbles/http/routes/authenticator.ts';
import { bearerToken } from '@bubbles/http/routes/bearer.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import type { App } from '../../app.ts';
import { callerOf, type Refusal } from '../../domain/credential.ts';
import { type Budget, RATE_LIMIT, RATE_WINDOW_SECONDS } from '../../domain/rate-window.ts';
import { hashToken } from '../../domain/token.ts';
import type { AdmittedAccounts } from './admitted-accounts.ts';

const JWT = /^eyJ[\w-]*\.[\w-]+\.[\w-]+$/;

const MESSAGES: Readonly<Record<Refusal, string>> = {
  unauthorized: 'Missing or invalid credentials for this endpoint.',
  account_deleted: 'The account of this credential is closed.',
  token_revoked: 'This API key has been revoked.',
};

/** Identity's own: reads the credential itself, by the rule and with the counters that serve the checks of other services. */
export const credentialAuthenticator = (app: Pick<App, 'admitCredentials'>, accounts: AdmittedAccounts): Authenticator => ({
  admit: async ({ authorization, accepts }) => {
    const token = bearerToken(authorization);
    if (token === null) return refused('unauthorized');
    const [admission] = await app.admitCredentials([
      { hash: hashToken(token), jwt: JWT.test(token) ? token : null, accepts, elsewhere: null, counted: true },
    ]);
    if (!admission || admission.outcome === 'refused') return refused(admission?.refusal ?? 'unauthorized');
    const headers = rateHeaders(admission.budget);
    if (admission.outcome === 'limited') return { refusal: tooMany(admission.budget), headers };
    const caller = callerOf(admission.credential);
    accounts.remember(caller, admission.credential.account);
    return { caller, headers };
  },
});

const refused = (refusal: Refusal) => ({ refusal: new DomainError(refusal, MESSAGES[refusal]), headers: {} });

const tooMany = ({ resetSeconds }: Budget) =>
  new DomainError('rate_limited', `More than ${RATE_LIMIT} requests in ${RATE_WINDOW_SECONDS} seconds.`, {
    retryAfterSeconds: resetSeconds,
  });

/** IETF draft "RateLimit header fields for HTTP". */
const rateHeaders = ({ remaining, resetSeconds }: Budget) => ({
  'RateLimit-Policy': `"default";q=${RATE_LIMIT};w=${RATE_WINDOW_SECONDS}`,
  RateLimit: `"default";r=${remaining};t=${resetSeconds}`,
});
