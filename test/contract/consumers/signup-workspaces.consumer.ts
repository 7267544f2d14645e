import type { ErrorEnvelope } from '@bubbles/contracts/access.ts';
import { createInternalClient } from '@bubbles/http/client/internal-client.ts';
import { createIdentity } from '@bubbles/signup/adapters/services/identity.ts';
import type { Identity } from '@bubbles/signup/ports.ts';
import { describe, expect, it } from '@jest/globals';
import { Matchers } from '@pact-foundation/pact';
import type { z } from 'zod';
import { AT, TEAM_ID, USER_ID } from '../examples.ts';
import { calledBy, pactBetween, readBy, tokensOf } from '../pacts.ts';

const [CONSUMER, PROVIDER] = ['signup', 'identity-and-oauth'];
const DOMAIN = 'acme.test';
const EMAIL = 'ada@acme.test';
const FLOW_ID = '1d2c3b4a-5f6e-4789-8abc-def012345678';
const PATH = '/internal/v1/signup';

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
  readonly answer: object;
  /** What signup makes of it. */
  readonly asked: (identity: Identity) => Promise<unknown>;
  readonly understood: unknown;
}

const refusing = (type: z.infer<typeof ErrorEnvelope>['error']['type']) => ({
  status: 403,
  answer: { error: { type, message: 'Why.' } },
});
const answering = (answer: object) => ({ status: 200, answer });
const MESSAGE_RULES = [{ path: '$.error.message', rules: [{ 'pact:matcher:type': 'type' }] }];

const INTERACTIONS: readonly Interaction[] = [
  {
    state: WELCOME,
    question: 'a question about a proven address',
    path: `${PATH}/account`,
    body: { email, domain: DOMAIN },
    ...answering({ account: { state: 'active' }, workspaces: [{ id: TEAM_ID, name: 'Acme' }] }),
    asked: (identity) => identity.lookUp(proven),
    understood: { isClosed: false, workspaces: [{ id: TEAM_ID, name: 'Acme' }] },
  },
  {
    state: WELCOME,
    question: 'the wish to join a workspace of the domain',
    path: `${PATH}/join`,
    body: { email, domain: DOMAIN, team_id },
    ...answering({ user_id: USER_ID }),
    asked: (identity) => identity.join({ ...proven, teamId: TEAM_ID }),
    understood: { userId: USER_ID },
  },
  {
    state: WELCOME,
    question: 'the wish to join a workspace without a company domain',
    path: `${PATH}/join`,
    body: { email, domain: null, team_id },
    ...refusing('forbidden'),
    asked: (identity) => identity.join({ ...proven, domain: null, teamId: TEAM_ID }),
    understood: 'forbidden',
  },
  {
    state: UNKNOWN,
    question: 'the wish for a workspace',
    path: `${PATH}/create`,
    body: { flow_id: FLOW_ID, email, name: 'Acme' },
    ...answering({ user_id: USER_ID, team_id: TEAM_ID, trial_ends_at: AT }),
    asked: (identity) => identity.create({ ...proven, name: 'Acme' }),
    understood: { userId: USER_ID, teamId: TEAM_ID, trialEndsAt: new Date(AT) },
  },
  {
    state: CLOSED,
    question: 'the wish for a workspace of a closed account',
    path: `${PATH}/create`,
    body: { flow_id: FLOW_ID, email, name: 'Acme' },
    ...refusing('account_deleted'),
    asked: (identity) => identity.create({ ...proven, name: 'Acme' }),
    understood: 'closed',
  },
  {
    state: MADE,
    question: 'the wish to open a workspace to its domain',
    path: `${PATH}/domain-join`,
    body: { flow_id, email, domain: DOMAIN },
    ...answering({}),
    asked: (identity) => identity.openForDomain(proven),
    understood: 'opened',
  },
  {
    state: WELCOME,
    question: 'the wish to open a workspace that no signup made',
    path: `${PATH}/domain-join`,
    body: { flow_id: FLOW_ID, email, domain: DOMAIN },
    ...refusing('forbidden'),
    asked: (identity) => identity.openForDomain(proven),
    understood: 'forbidden',
  },
];

describe('signup asks identity', () => {
  it.each(INTERACTIONS)(
    '[SIGN-04] [SIGN-05] [SIGN-06] [SIGN-07] $question',
    async ({ state, question, path, body, status, answer, asked, understood }) => {
      const read =
        status === 200 ? await readBy((client) => asked(createIdentity(client)), answer) : { body: answer, rules: MESSAGE_RULES };
      await pactBetween(CONSUMER, PROVIDER)
        .addInteraction()
        .given(state)
        .uponReceiving(question)
        .withRequest('POST', path, (request) => {
          request.headers(calledBy(CONSUMER)).jsonBody(body);
        })
        .willRespondWith(status, (response) => {
          response.jsonBody(read.body).matchingRules({ body: [...read.rules] });
        })
        .executeTest(async ({ url }) => {
          const client = createInternalClient({ callee: PROVIDER, baseUrls: [url], tokens: tokensOf(CONSUMER) });
          expect(await asked(createIdentity(client))).toEqual(understood);
        });
    },
  );
});
