import type { ErrorEnvelope } from '@bubbles/contracts/access.ts';
import { SIGNUP_CALLS } from '@bubbles/contracts/internal/identity-signup.ts';
import { createInternalClient } from '@bubbles/http/client/internal-client.ts';
import { createIdentity } from '@bubbles/signup/adapters/services/identity.ts';
import type { Identity } from '@bubbles/signup/ports.ts';
import { describe, expect, it } from '@jest/globals';
import { Matchers } from '@pact-foundation/pact';
import type { z } from 'zod';
import { AT, TEAM_ID, USER_ID } from '../examples.ts';
import { expecting } from '../expecting.ts';
import { calledBy, pactBetween, tokensOf } from '../pacts.ts';

const [CONSUMER, PROVIDER] = ['signup', 'identity-and-oauth'];
const DOMAIN = 'acme.test';
const EMAIL = 'ada@acme.test';
const FLOW_ID = '1d2c3b4a-5f6e-4789-8abc-def012345678';
const { account, join, create, domainJoin } = SIGNUP_CALLS;

const WELCOME = 'an address that may join a workspace';
const UNKNOWN = 'an address without an account';
const CLOSED = 'an address whose account is disabled';
const MADE = 'a workspace that a signup made';

const email = Matchers.fromProviderState('email', EMAIL);
const flow_id = Matchers.fromProviderState('flow_id', FLOW_ID);
const team_id = Matchers.fromProviderState('team_id', TEAM_ID);
const proven = { address: EMAIL, domain: DOMAIN, flowId: FLOW_ID };

interface Interaction {
  readonly state: string;
  readonly question: string;
  readonly path: string;
  readonly body: object;
  readonly status: number;
  readonly answer: ReturnType<typeof expecting>;
  /** What signup makes of it. */
  readonly asked: (identity: Identity) => Promise<unknown>;
  readonly understood: unknown;
}

const refusing = (type: z.infer<typeof ErrorEnvelope>['error']['type']) => ({
  status: 403,
  answer: { body: { error: { type, message: 'Why.' } }, rules: [{ path: '$.error.message', rules: [{ 'pact:matcher:type': 'type' }] }] },
});
const answering = (answer: ReturnType<typeof expecting>) => ({ status: 200, answer });

const INTERACTIONS: readonly Interaction[] = [
  {
    state: WELCOME,
    question: 'a question about a proven address',
    path: account.path,
    body: { email, domain: DOMAIN },
    ...answering(expecting(account.response, { account: { id: USER_ID, state: 'active' }, workspaces: [{ id: TEAM_ID, name: 'Acme' }] })),
    asked: (identity) => identity.lookUp(proven),
    understood: { isClosed: false, workspaces: [{ id: TEAM_ID, name: 'Acme' }] },
  },
  {
    state: WELCOME,
    question: 'the wish to join a workspace of the domain',
    path: join.path,
    body: { email, domain: DOMAIN, team_id },
    ...answering(expecting(join.response, { user_id: USER_ID, team_id: TEAM_ID })),
    asked: (identity) => identity.join({ ...proven, teamId: TEAM_ID }),
    understood: { userId: USER_ID },
  },
  {
    state: WELCOME,
    question: 'the wish to join a workspace without a company domain',
    path: join.path,
    body: { email, domain: null, team_id },
    ...refusing('forbidden'),
    asked: (identity) => identity.join({ ...proven, domain: null, teamId: TEAM_ID }),
    understood: 'forbidden',
  },
  {
    state: UNKNOWN,
    question: 'the wish for a workspace',
    path: create.path,
    body: { flow_id: FLOW_ID, email, name: 'Acme' },
    ...answering(expecting(create.response, { user_id: USER_ID, team_id: TEAM_ID, trial_ends_at: AT })),
    asked: (identity) => identity.create({ ...proven, name: 'Acme' }),
    understood: { userId: USER_ID, teamId: TEAM_ID, trialEndsAt: new Date(AT) },
  },
  {
    state: CLOSED,
    question: 'the wish for a workspace of a closed account',
    path: create.path,
    body: { flow_id: FLOW_ID, email, name: 'Acme' },
    ...refusing('account_deleted'),
    asked: (identity) => identity.create({ ...proven, name: 'Acme' }),
    understood: 'closed',
  },
  {
    state: MADE,
    question: 'the wish to open a workspace to its domain',
    path: domainJoin.path,
    body: { flow_id, email, domain: DOMAIN },
    ...answering(expecting(domainJoin.response, { team_id: TEAM_ID, domain: DOMAIN })),
    asked: (identity) => identity.openForDomain(proven),
    understood: 'opened',
  },
  {
    state: WELCOME,
    question: 'the wish to open a workspace that no signup made',
    path: domainJoin.path,
    body: { flow_id: FLOW_ID, email, domain: DOMAIN },
    ...refusing('forbidden'),
    asked: (identity) => identity.openForDomain(proven),
    understood: 'forbidden',
  },
];

describe('signup asks identity', () => {
  it.each(INTERACTIONS)(
    '[SIGN-04] [SIGN-05] [SIGN-06] [SIGN-07] $question',
    async ({ state, question, path, body, status, ...expected }) => {
      await pactBetween(CONSUMER, PROVIDER)
        .addInteraction()
        .given(state)
        .uponReceiving(question)
        .withRequest('POST', path, (request) => {
          request.headers(calledBy(CONSUMER)).jsonBody(body);
        })
        .willRespondWith(status, (response) => {
          response.jsonBody(expected.answer.body).matchingRules({ body: [...expected.answer.rules] });
        })
        .executeTest(async ({ url }) => {
          const client = createInternalClient({ callee: PROVIDER, baseUrls: [url], tokens: tokensOf(CONSUMER) });
          expect(await expected.asked(createIdentity(client))).toEqual(expected.understood);
        });
    },
  );
});
