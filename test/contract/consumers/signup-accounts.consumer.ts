import { AccountChangedV1 } from '@bubbles/contracts/events/service-events.ts';
import { createInternalClient } from '@bubbles/http/client/internal-client.ts';
import { eventHandlers } from '@bubbles/signup/adapters/bus/event-handlers.ts';
import { createAccountStateOf } from '@bubbles/signup/adapters/services/identity.ts';
import type { App } from '@bubbles/signup/app.ts';
import { describe, expect, it } from '@jest/globals';
import { Matchers } from '@pact-foundation/pact';
import { USER_ID } from '../examples.ts';
import { expectMessage } from '../messages.ts';
import { calledBy, pactBetween, readBy, tokensOf } from '../pacts.ts';

const CONSUMER = 'signup';
const PROVIDER = 'identity-and-oauth';

describe('signup asks identity', () => {
  it('[SIGN-08] whether the account of a connected calendar is open', async () => {
    const answer = { users: [{ id: USER_ID, state: 'active', life: 1 }] };
    const { body, rules } = await readBy((client) => createAccountStateOf(client)(USER_ID), answer);
    await pactBetween(CONSUMER, PROVIDER)
      .addInteraction()
      .given('an account')
      .uponReceiving('a question about the state of an account')
      .withRequest('POST', '/internal/v1/access', (request) => {
        request.headers(calledBy(CONSUMER)).jsonBody({ user_ids: [Matchers.fromProviderState('user_id', USER_ID)], team_ids: [] });
      })
      .willRespondWith(200, (response) => {
        response.jsonBody(body).matchingRules({ body: [...rules] });
      })
      .executeTest(async ({ url }) => {
        const identity = createInternalClient({ callee: PROVIDER, baseUrls: [url], tokens: tokensOf(CONSUMER) });
        expect(await createAccountStateOf(identity)(USER_ID)).toEqual({ isActive: true, life: 1 });
      });
  });
});

describe('signup hears', () => {
  it('[SIGN-08] identity.account.changed.v1 and checks the connected calendars of the account', async () => {
    const checked: string[] = [];
    // The consumer calls nothing else of the app.
    const app = { checkGrantsOf: (userId: string) => Promise.resolve(void checked.push(userId)) } as App;
    const account = { user_id: USER_ID };
    await expectMessage(pactBetween(CONSUMER, PROVIDER), {
      definition: AccountChangedV1,
      data: account,
      eventHandlers: eventHandlers(app),
    });
    expect(checked).toEqual([USER_ID]);
  });
});
