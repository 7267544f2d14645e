import { userGuards } from '@bubbles/auth/guards.ts';
import { budgetHeaders, CREDENTIAL_REFUSALS, JWT_FORM, RATE_LIMIT, tooManyRequests } from '@bubbles/contracts/access.ts';
import { bearerToken } from '@bubbles/http/wire/framing.ts';
import { DomainError, refusal } from '@bubbles/kernel/errors.ts';
import type { App } from '../../app.ts';
import { callerOf } from '../../domain/credential.ts';
import { hashToken } from '../../domain/token.ts';

/** Identity reads credentials itself, by the rule and with the counters that serve other services; handlers get the account that was read for it. */
export const ownGuards = (app: Pick<App, 'checkCredentials'>) =>
  userGuards(async (request, accepts) => {
    const token = bearerToken(request.header('authorization'));
    if (token === null) throw refusal(CREDENTIAL_REFUSALS.unauthorized);
    const jwt = JWT_FORM.test(token) ? token : null;
    const [result] = await app.checkCredentials([{ hash: hashToken(token), jwt, accepts, counted: true, countedElsewhere: null }]);
    if (!result || result.outcome === 'refused') throw refusal(CREDENTIAL_REFUSALS[result?.refusal ?? 'unauthorized']);
    const { budget } = result;
    for (const [name, value] of Object.entries(budgetHeaders({ ...budget, limit: RATE_LIMIT }))) request.answerWith(name, value);
    if (result.outcome === 'limited')
      throw new DomainError('rate_limited', tooManyRequests(RATE_LIMIT), { retryAfterSeconds: budget.resetSeconds });
    return { caller: callerOf(result.credential), account: result.credential.account };
  });
export type OwnGuards = ReturnType<typeof ownGuards>;
