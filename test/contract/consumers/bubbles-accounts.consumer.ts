import { createIdentity } from '@bubbles/bubbles-query/adapters/services/identity.ts';
import { createInternalClient } from '@bubbles/http/client/internal-client.ts';
import { describe, expect, it } from '@jest/globals';
import { Matchers } from '@pact-foundation/pact';
import { TEAM_ID, USER_ID } from '../examples.ts';
import { calledBy, pactBetween, readBy, tokensOf } from '../pacts.ts';

const AFTER = '00000000-0000-4000-8000-000000000000';
const ada = { user_id: USER_ID, name: 'Ada', email: 'ada@acme.test', revision: 1 };

describe('bubbles-query fills its people again', () => {
  it('[LIST-10] from a page of the snapshot of accounts', async () => {
    const snapshot = { version: 1, accounts: [ada], next_after: USER_ID };
    const { body, rules } = await readBy((client) => createIdentity(client).accounts(AFTER), snapshot);
    await pactBetween('bubbles-query', 'identity-and-oauth')
      .addInteraction()
      .given('an account')
      .uponReceiving('a request for a page of accounts')
      .withRequest('GET', '/internal/v1/accounts', (request) => {
        request.headers(calledBy('bubbles-query')).query({ limit: Matchers.regex('[1-9][0-9]{0,2}', '500'), after: AFTER });
      })
      .willRespondWith(200, (response) => {
        response.jsonBody(body).matchingRules({ body: [...rules] });
      })
      .executeTest(async ({ url }) => {
        const identity = createInternalClient({ callee: 'identity-and-oauth', baseUrls: [url], tokens: tokensOf('bubbles-query') });
        const page = await createIdentity(identity).accounts(AFTER);
        expect(page).toEqual({ people: [{ id: USER_ID, name: 'Ada', email: 'ada@acme.test', revision: 1 }], nextAfter: USER_ID });
      });
  });
});

describe('bubbles-query asks who belongs where', () => {
  it('[BUB-05] for a reader who does not take part', async () => {
    const answer = { users: [{ id: USER_ID, memberships: [{ team_id: TEAM_ID, hidden: false }] }] };
    const { body, rules } = await readBy((client) => createIdentity(client).belongs(USER_ID, TEAM_ID), answer);
    await pactBetween('bubbles-query', 'identity-and-oauth')
      .addInteraction()
      .given('a member of a team with a channel')
      .uponReceiving('a question about the memberships of a user')
      .withRequest('POST', '/internal/v1/access', (request) => {
        request.headers(calledBy('bubbles-query')).jsonBody({ user_ids: [Matchers.fromProviderState('user_id', USER_ID)], team_ids: [] });
      })
      .willRespondWith(200, (response) => {
        response.jsonBody(body).matchingRules({ body: [...rules] });
      })
      .executeTest(async ({ url }) => {
        const identity = createInternalClient({ callee: 'identity-and-oauth', baseUrls: [url], tokens: tokensOf('bubbles-query') });
        expect(await createIdentity(identity).belongs(USER_ID, TEAM_ID)).toBe(true);
      });
  });
});
