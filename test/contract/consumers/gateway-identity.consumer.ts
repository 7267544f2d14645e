import type { CredentialCheck } from '@bubbles/contracts/internal/identity.ts';
import { CheckAnswers, type CheckResult } from '@bubbles/gateway/admission/check-answers.ts';
import { createIdentityChecks, type IdentityChecks } from '@bubbles/gateway/admission/identity-checks.ts';
import { Address, POOL_LIMITS } from '@bubbles/gateway/upstream/address.ts';
import { systemClock } from '@bubbles/kernel/clock.ts';
import { startSpan } from '@bubbles/kernel/trace.ts';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Matchers } from '@pact-foundation/pact';
import { expecting } from '../expecting.ts';
import { calledBy, pactBetween, tokensOf } from '../pacts.ts';

const HASH = 'b5bb9d8014a0f9b1d61e21e796d78dccdf1352f23cd32812f4850b878ae4944c';
const JWT = 'eyJhbGciOiJFUzI1NiJ9.eyJnaWQiOiJncmFudC0xIn0.c2lnbmF0dXJl';
const budget = { limit: 120, remaining: 119, reset_seconds: 60 };

interface Interaction {
  readonly state: string;
  readonly question: string;
  readonly accepts: CredentialCheck['accepts'];
  /** An access token; null for an opaque one. */
  readonly jwt?: string;
  readonly counting?: Pick<CredentialCheck, 'uncounted' | 'counted_elsewhere'>;
  readonly answer: CheckResult;
}

const INTERACTIONS: readonly Interaction[] = [
  {
    state: 'an API key is active',
    question: 'a check of an active API key',
    accepts: ['pat', 'oauth'],
    answer: { h: HASH, outcome: 'allowed', assertion: 'header.claims.signature', ...budget },
  },
  {
    state: 'an API key is active',
    question: 'a check of an active API key that does not count',
    accepts: ['pat', 'oauth'],
    counting: { uncounted: true },
    answer: { h: HASH, outcome: 'allowed', assertion: 'header.claims.signature', ...budget, remaining: 120 },
  },
  {
    state: 'an API key is active',
    question: 'a check of an API key that another replica has counted',
    accepts: ['pat', 'oauth'],
    counting: { counted_elsewhere: { requests: 120, first_ms_ago: 2000, last_ms_ago: 1000 } },
    answer: { h: HASH, outcome: 'limited', retry_after_seconds: 58, ...budget, remaining: 0 },
  },
  {
    state: 'an API key has spent its budget',
    question: 'a check of an API key without budget',
    accepts: ['pat', 'oauth'],
    answer: { h: HASH, outcome: 'limited', retry_after_seconds: 30, ...budget, remaining: 0 },
  },
  {
    state: 'a token is unknown',
    question: 'a check of an unknown token',
    accepts: ['pat', 'oauth'],
    answer: { h: HASH, outcome: 'refused', type: 'unauthorized' },
  },
  {
    state: 'an API key is active',
    question: 'a check of an API key where only a session is taken',
    accepts: ['session'],
    answer: { h: HASH, outcome: 'refused', type: 'unauthorized' },
  },
  {
    state: 'an API key has been revoked',
    question: 'a check of a revoked API key',
    accepts: ['pat', 'oauth'],
    answer: { h: HASH, outcome: 'refused', type: 'token_revoked' },
  },
  {
    state: 'the account of an API key is closed',
    question: 'a check of an API key of a closed account',
    accepts: ['pat', 'oauth'],
    answer: { h: HASH, outcome: 'refused', type: 'account_deleted' },
  },
  {
    state: 'an access token is live',
    question: 'a check of a live access token',
    accepts: ['pat', 'oauth'],
    jwt: JWT,
    answer: { h: HASH, outcome: 'allowed', assertion: 'header.claims.signature', ...budget },
  },
  {
    state: 'the grant of an access token has ended',
    question: 'a check of an access token whose grant has ended',
    accepts: ['pat', 'oauth'],
    jwt: JWT,
    answer: { h: HASH, outcome: 'refused', type: 'unauthorized' },
  },
  {
    state: 'the account of an access token is closed',
    question: 'a check of an access token of a closed account',
    accepts: ['pat', 'oauth'],
    jwt: JWT,
    answer: { h: HASH, outcome: 'refused', type: 'account_deleted' },
  },
];

/** A refusal is one of the words exactly: another one would be another answer to the client. */
const exactRefusal = (answer: CheckResult) =>
  answer.outcome === 'refused' ? [{ path: '$.answers[*].type', rules: [{ 'pact:matcher:type': 'equality' }] }] : [];

describe('the gateway asks identity about credentials', () => {
  const pact = pactBetween('gateway', 'identity-and-oauth');
  const open: (IdentityChecks | Address)[] = [];
  afterEach(() => Promise.all(open.splice(0).map((one) => one.close())));

  it.each(INTERACTIONS)('[AUTH-05] $question, when $state', async ({ state, question, accepts, jwt = null, counting = {}, answer }) => {
    const { body, rules } = expecting<unknown>(CheckAnswers, { answers: [answer] });
    const answered = rules.filter(({ path }) => answer.outcome !== 'refused' || path !== '$.answers[*].type');
    await pact
      .addInteraction()
      .given(state)
      .uponReceiving(question)
      .withRequest('POST', '/internal/v1/checks', (request) => {
        request.headers(calledBy('gateway'));
        request.jsonBody({
          checks: [
            {
              h: Matchers.fromProviderState('hash', HASH),
              jwt: jwt && Matchers.fromProviderState('jwt', jwt),
              aud: 'bubbles-query',
              accepts,
              ...counting,
            },
          ],
        });
      })
      .willRespondWith(200, (response) => {
        response.jsonBody(body).matchingRules({ body: [...answered, ...exactRefusal(answer)] });
      })
      .executeTest(async ({ url }) => {
        const checks = createIdentityChecks({
          tokens: tokensOf('gateway'),
          clock: systemClock(),
          deadlineMs: 5000,
          perCall: { observe: () => undefined },
        });
        const address = new Address(url, systemClock(), POOL_LIMITS);
        open.push(checks, address);
        const request = { caller: 'somebody', requestId: 'req-12345678', span: startSpan(), checkedInTrace: null };
        expect(await checks.check({ h: HASH, jwt, aud: 'bubbles-query', accepts, ...counting }, request, [address])).toEqual(answer);
      });
  });
});
